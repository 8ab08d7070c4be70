"""The method `emsco`: Algorithm 3; the family is the non-dominated set of the last generation (EMSCO §3.4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from zlib import crc32

import numpy as np
from annotated_types import Ge, Gt, Interval
from bench_models.linear import ConstantPolicy
from numpy.typing import NDArray

from bench_core import DataFacts, Family, Method, Problem, spread_by_cost
from bench_emsco.parameters import MAX_WORK, EvolutionParams, SearchRows

if TYPE_CHECKING:
    from bench_emsco.prepare import Search

__all__ = ["Emsco"]


@dataclass(frozen=True)
class Emsco(Method):
    """EMSCO: a genetic algorithm over ordered feature set partitions (Hamilton & Fulp, Algorithm 3).

    The family consists of the unique non-dominated chromosomes of the last generation, fittest first, so the suite's
    selection ``first`` is the paper's. Defaults are those of §4.3.1 and Table 2.

    If the protocol has no confidence threshold, every answer is accepted and p̂ is the trade-off: there is one run for
    each of `bench_core.Problem.exit_thresholds`, and the runs share the classifiers. Their united families are thinned
    out by cost (`bench_core.spread_by_cost`); the best on validation comes first.

    Attributes:
        k: maximum number of stages; 0 means max(⌈n/2⌉, 10), capped at n (§4.3.1).
        population: population size ‖G‖.
        mutation_rate: probability m̂ that a feature mutates.
        recombination_rate: probability r̂ that a child recombines two parents.
        elitism: share b of the unique chromosomes that survives.
        beta: stage count bias β of the mutation, at least 1; a greater value gives fewer stages.
        mutation: distribution of a mutated stage: ``beta-binomial`` (Eq. 7), or ``uniform``, as in the authors'
            released program.
        max_iter: maximum number of generations to breed.
        patience: number g of generations without a new fittest chromosome after which a run stops; 0 never stops
            early.
        max_per_point: maximum number of elites that share an objective point; 0 for no limit (see `evolution`).
        epsilon: ε of γ = u / l + ε (§3.3.2).
        C: inverse strength of the stage classifiers' l2 penalty.
        search: part whose rows the search decides and maximises quality on: ``validation``, as in the paper, or
            ``training``, each half decided by classifiers of the other half. With ``training``, nothing is fitted to
            the rows that select among the policies.
        max_work: count of work on classifiers after which the search stops with what it has (see `evolution`).
        runs: number of independent runs; the family is that of the first, the history is the mean over all (§4.2).
        exact_front: whether to compute the exact global front as well, and count how many of its members each
            generation contains (§4.2).

    Source: Hamilton & Fulp, EMSCO, Algorithm 3.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    needs_threshold: ClassVar[bool] = True
    """The method stops at a threshold. If neither the protocol nor the parameters have one, it sweeps thresholds, see
    `inapplicable`."""

    k: Annotated[int, Ge(0)] = 0
    population: Annotated[int, Ge(2)] = 300
    mutation_rate: Annotated[float, Interval(ge=0, le=1)] = 0.075
    recombination_rate: Annotated[float, Interval(ge=0, le=1)] = 0.75
    elitism: Annotated[float, Interval(gt=0, lt=1)] = 0.2
    beta: Annotated[float, Ge(1)] = 2.0
    mutation: Literal["beta-binomial", "uniform"] = "beta-binomial"
    max_iter: Annotated[int, Ge(0)] = 150
    patience: Annotated[int, Ge(0)] = 20
    max_per_point: Annotated[int, Ge(0)] = 4
    epsilon: Annotated[float, Gt(0)] = 0.01
    C: Annotated[float, Gt(0)] = 1.0
    runs: Annotated[int, Ge(1)] = 1
    exact_front: bool = False
    search: SearchRows = field(default="validation", metadata={"omit_default": True})
    max_work: Annotated[int, Ge(1)] = field(default=MAX_WORK, metadata={"omit_default": True})

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: the reasons of every method, except for a missing threshold."""
        return super().inapplicable(replace(data, threshold=data.threshold or 1.0))

    def evolution(self) -> EvolutionParams:
        """The parameters of the genetic algorithm."""
        return EvolutionParams(
            population=self.population,
            mutation_rate=self.mutation_rate,
            recombination_rate=self.recombination_rate,
            elitism=self.elitism,
            beta=self.beta,
            mutation=self.mutation,
            max_iter=self.max_iter,
            patience=self.patience or None,
            max_per_point=self.max_per_point or None,
            epsilon=self.epsilon,
            max_work=self.max_work,
        )

    def fit(self, problem: Problem) -> Family:
        """Evolve on the validation part, with classifiers learned from the training part; or see ``search``.

        Raises:
            ValueError: features have missing values, or ``exact_front`` is set for more than 20 features.
        """
        from bench_emsco._compile import compile_after_others
        from bench_emsco.prepare import prepare, searchable

        if not searchable(problem, self.search):
            return Family([ConstantPolicy.learnt(problem)], diagnostics={"constant": True})
        compile_after_others()
        search = prepare(problem, self.C, "emsco", self.search)
        families = [self._evolved(problem, search, number) for number in range(len(search.thresholds))]
        if len(families) == 1:
            return families[0]
        diagnostics = {
            "thresholds": list(search.thresholds),
            "generations": [sum(family.diagnostics["generations"]) for family in families],
            "subsets_fitted": search.cache.n_fitted,
            "not_converged": len(search.cache.not_converged),
        }
        every = [policy for family in families for policy in family.policies]
        return Family(spread_by_cost(problem, every), diagnostics=diagnostics)

    def _evolved(self, problem: Problem, search: Search, number: int) -> Family:
        """The family at one threshold."""
        from bench_emsco.evolution import evolve
        from bench_emsco.exhaustive_method import front_of
        from bench_emsco.prepare import policies_of

        search.cache.use(number)
        n, rows = problem.n_features, search.cache.n_rows
        front = front_of(search, n, rows, self.k or n, problem.threads) if self.exact_front else None
        # Thresholds share the cache and its count of work: each may spend an equal part plus the unused rest of earlier
        # ones.
        work = max(1, self.max_work * (number + 1) // len(search.thresholds))
        params = replace(self.evolution(), max_work=work)
        results = [
            evolve(
                n,
                self.k or None,
                rows,
                search.cache,
                search.prices.costs_of,
                params,
                np.random.SeedSequence([problem.seed, crc32(b"emsco"), run]),
                front=None if front is None else front.points,
            )
            for run in range(self.runs)
        ]
        best = results[0]
        cost = search.prices.in_price(best.cost) / rows
        about = [
            {"g1": g1, "g2": g2, "cost": c}
            for (g1, g2, _), c in zip(best.objectives.tolist(), cost.tolist(), strict=True)
        ]
        diagnostics: dict[str, Any] = {
            "generations": [result.generations for result in results],
            "stopped_by": best.stopped_by,
            "subsets_fitted": search.cache.n_fitted,
            "not_converged": len(search.cache.not_converged),
        }
        history = {name: _mean(results, name) for name in _SERIES}
        if front is not None:
            diagnostics["front_points"] = front.n_points
            diagnostics["front_chromosomes"] = front.n_optimal
            members, margin = _mean_and_margin(results, "front_chromosomes")
            history["front_members"], history["front_members_margin"] = members, margin
            history["front_share"] = members / front.n_optimal
            history["front_point_share"] = _mean(results, "front_points") / front.n_points
        policies = policies_of(search, problem, number, best.chromosomes, about)
        return Family(policies, history=history, diagnostics=diagnostics)


_SERIES = ("elite_size", "population_size", "unique", "non_dominated", "mean_stages", "best_norm", "best_log_fitness")


def _stacked(results: list[Any], name: str) -> NDArray[np.float64]:
    """A history series of all runs, float64 (runs, generations); a run that stopped early repeats its last value."""
    series = [np.asarray(getattr(result.history, name), dtype=np.float64) for result in results]
    longest = max(len(values) for values in series)
    return np.stack([np.pad(values, (0, longest - len(values)), mode="edge") for values in series])


def _mean(results: list[Any], name: str) -> NDArray[np.float64]:
    return _stacked(results, name).mean(axis=0)


def _mean_and_margin(results: list[Any], name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean over runs, and half the width of its 95 % t interval (0 for a single run)."""
    stacked = _stacked(results, name)
    runs = len(stacked)
    if runs == 1:
        return stacked[0], np.zeros_like(stacked[0])
    from scipy.stats import t

    margin = t.ppf(0.975, runs - 1) * stacked.std(axis=0, ddof=1) / np.sqrt(runs)
    return stacked.mean(axis=0), margin
