"""ICET: a genetic algorithm evolves EG2's pseudo-prices, ω and pruning (Turney 1995, §3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import Family, Method, Problem
from bench_cost_trees.bias_search import BiasSearch
from bench_cost_trees.family import grower_of, ordered, policy_of
from bench_cost_trees.genetic import Settings
from bench_cost_trees.induction import Limits
from bench_cost_trees.prices import mean_prices

__all__ = ["ICET"]


@dataclass(frozen=True)
class ICET(Method):
    """EG2 with pseudo-prices, ω and pruning evolved by a genetic algorithm (ICET, Turney 1995, §3.5).

    A bit string encodes a pseudo-price for every feature (1 to 10,000), ω (0 to 1) and the confidence factor of
    pruning (1 to 100 %), 12 bits each. To evaluate a string, EG2 grows a tree with these parameters on a random half of
    the rows; the string's cost is the mean cost of tests and errors on the other half, at the true prices with groups
    paid once. Every evaluation draws new halves. The best string of the run grows the final tree on all rows. The
    family has one policy per error cost.

    Attributes:
        error_costs: costs of a wrong label, above 0, with one search for each.
        unit: unit of ``error_costs``: ``relative`` is the price of all features together; ``price`` is the unit of the
            prices, such as Turney's dollars.
        search: what is evolved. ``costs`` evolves pseudo-prices from random ones. ``seeded`` also puts EG2 with the
            prices, ω = 1 and a confidence factor of 25 % into the first generation (§4.3.3); a pseudo-price has 12 bits
            from 1 to 10,000, so it is the nearest such value to the true price. ``subsets`` evolves one bit per
            feature, whether it may be tested at its true price (§4.3.2).
        population: number of strings in a generation.
        trials: total number of evaluations; the default is 20 generations of 50.
        crossover_rate: share of the pool that crosses over.
        mutation_rate: probability that a bit flips.
        max_depth: most tests on a path; no limit when None.
        min_samples_split: fewest training rows of a node that is split.
        min_samples_leaf: fewest training rows with a known value on either side of a split.
        fit_on: rows to learn from. ``training`` learns from the training part and orders the family by validation
            score; ``both`` learns from the training and validation parts and keeps the order of ``error_costs``.
    """

    tasks: ClassVar[frozenset[Any]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True

    error_costs: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1)] = (1.0, 0.1, 0.3, 3.0, 10.0, 30.0)
    unit: Literal["relative", "price"] = "relative"
    search: Literal["costs", "seeded", "subsets"] = "costs"
    population: Annotated[int, Ge(2)] = 50
    trials: Annotated[int, Ge(1)] = 1000
    crossover_rate: Annotated[float, Interval(ge=0, le=1)] = 0.6
    mutation_rate: Annotated[float, Interval(ge=0, le=1)] = 0.001
    max_depth: Annotated[int, Ge(1)] | None = None
    min_samples_split: Annotated[int, Ge(2)] = 2
    min_samples_leaf: Annotated[int, Ge(1)] = 2
    fit_on: Literal["training", "both"] = "training"

    def fit(self, problem: Problem) -> Family:
        """Evolve a tree for every error cost."""
        search = BiasSearch(
            grower_of(problem, self.fit_on),
            mean_prices(problem),
            Limits(self.max_depth, self.min_samples_split, self.min_samples_leaf),
            self.search,
        )
        settings = Settings(self.population, self.trials, self.crossover_rate, self.mutation_rate)
        scale = search.prices.total if self.unit == "relative" and search.prices.total > 0 else 1.0
        policies, history = [], {}
        for value in self.error_costs:
            rng = problem.rng("icet", f"{value:g}")
            evolution = search.run(value * scale, settings, rng)
            bias = search.bias(evolution.best)
            details = {"error_cost": value * scale, "omega": bias.omega, "confidence_factor": bias.confidence}
            policies.append(policy_of(problem, search.final_tree(bias), f"error cost={value:g}", details))
            history[f"lowest cost, error cost={value:g}"] = evolution.lowest
            history[f"mean cost, error cost={value:g}"] = evolution.mean
        return Family(ordered(problem, policies, self.fit_on), history=history)
