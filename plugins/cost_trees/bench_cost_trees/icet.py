"""ICET: EG2's prices, ω and pruning, evolved against what tests and errors cost (Turney 1995, §3.5)."""

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
    """EG2 whose prices, ω and pruning a genetic algorithm evolves against tests + errors (ICET, Turney 1995).

    A string of bits holds a pseudo-price for every feature (1 to 10,000), ω (0 to 1) and the confidence factor of
    pruning (1 to 100 %), 12 bits each. Its cost: a tree is grown with them on a random half of the rows, and the other
    half says what tests, at their real prices with groups paid once, and errors cost on average; every evaluation draws
    its own halves. The best string of the run grows a tree on all rows. One policy per cost of an error.

    Attributes:
        error_costs: what a wrong label costs, above 0: a search each.
        unit: ``relative``: in prices of all features together; ``price``: as prices are, Turney's dollars.
        search: ``costs`` evolves pseudo-prices, from random ones; ``seeded``: one string of the first generation is EG2
            with the first prices, ω = 1 and a confidence factor of 25 % (§4.3.3); ``subsets`` evolves which features
            may be tested, one bit each, at their first prices (§4.3.2).
        population: strings in a generation.
        trials: evaluations in all: 20 generations of 50.
        crossover_rate, mutation_rate: of the genetic algorithm.
        max_depth: most tests on a path; no bound when None.
        min_samples_split: fewest training rows of a node that is split.
        min_samples_leaf: fewest training rows, with a value, on either side of a split.
        fit_on: ``training``, with validation to order the family by; or ``both``: the rows of the two parts are
            learned from, and the first policy is that of the first cost of an error.
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
        """Evolve a tree for every cost of an error."""
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
