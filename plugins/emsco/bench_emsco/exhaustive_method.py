"""The method `exhaustive`: the exact Pareto front of all multi-stage classifiers with at most k stages (EMSCO §4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

import numpy as np
from annotated_types import Ge, Gt
from bench_models.linear import ConstantPolicy
from numpy.typing import NDArray

from bench_core import DataFacts, Family, Method, Problem, spread_by_cost
from bench_emsco.chromosome import Chromosomes, cumulative_masks, solution_count
from bench_emsco.parameters import SearchRows

if TYPE_CHECKING:
    from bench_emsco.exhaustive import GlobalFront
    from bench_emsco.prepare import Search

__all__ = ["Exhaustive", "fittest_first", "front_of", "representatives", "without_stages"]

MOST_FEATURES = 20
_LISTED_AT_ONCE = 50_000


@dataclass(frozen=True)
class Exhaustive(Method):
    """The exact global Pareto front over all multi-stage classifiers with at most k stages (EMSCO §4.2).

    The family has one policy per point of the front (coverage, accuracy, cost on validation): the classifier with the
    fewest stages among those listed for the point. The first policy has the greatest ‖(g1, g2, g3)‖, where g3 is
    relative to the cheapest point of the front. The diagnostics count points, chromosomes and solutions.

    If the protocol has no confidence threshold, the family unites the fronts at `bench_core.Problem.exit_thresholds`,
    thinned out by cost (`bench_core.spread_by_cost`); the best on validation comes first.

    Attributes:
        k: maximum number of stages; 0 means the number of features.
        C: inverse strength of the stage classifiers' l2 penalty.
        most_solutions: maximum number of solutions; a problem with more is refused.
        search: part whose rows every solution is evaluated on, see `bench_emsco.method.Emsco`.
        max_work: maximum work on classifiers (see `SubsetModels.work`); the default takes one to six minutes. If all
            2**n subsets take more, only the full set and the cheapest others are fitted, and the front is exact for the
            solutions that consist of these; the diagnostics count the subsets left out.

    Source: EMSCO §4.2.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    needs_threshold: ClassVar[bool] = True
    """The method stops at a threshold. If neither the protocol nor the parameters have one, it sweeps thresholds, see
    `inapplicable`."""
    features_limit: ClassVar[int | None] = MOST_FEATURES

    k: Annotated[int, Ge(0)] = 2
    C: Annotated[float, Gt(0)] = 1.0
    most_solutions: int = 10**11
    search: SearchRows = field(default="validation", metadata={"omit_default": True})
    max_work: Annotated[int, Ge(1)] = field(default=500_000_000_000, metadata={"omit_default": True})

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: too many solutions, or `Method`'s reasons but a missing threshold."""
        refused = super().inapplicable(replace(data, threshold=data.threshold or 1.0))
        if refused is not None:
            return refused
        n = data.n_features
        k = min(self.k or n, n)
        count = solution_count(n, k)
        if count > self.most_solutions:
            size = f"{n} features in at most {k} stages are {count:.1e} solutions"
            return f"{size}; most_solutions is {self.most_solutions:.1e}"
        return None

    def fit(self, problem: Problem) -> Family:
        """Evaluate every solution on the validation part, or on the training part, see ``search``.

        Raises:
            ValueError: there are too many features or solutions, or features have missing values.
        """
        from bench_emsco._compile import compile_after_others
        from bench_emsco.prepare import prepare, searchable

        if not searchable(problem, self.search):
            return Family([ConstantPolicy.learnt(problem)], diagnostics={"constant": True})
        n = problem.n_features
        k = min(self.k or n, n)
        _require_few(n)
        if solution_count(n, k) > self.most_solutions:
            raise ValueError(
                f"{n} features in at most {k} stages are {solution_count(n, k):.1e} solutions, more than "
                f"most_solutions = {self.most_solutions:.1e}; lower k"
            )
        compile_after_others()
        search = prepare(problem, self.C, "exhaustive", self.search)
        left_out = search.cache.fill_all(search.prices.subset_cost_table(), self.max_work)
        families = [_at(problem, search, number, k, left_out) for number in range(len(search.thresholds))]
        if len(families) == 1:
            return families[0]
        every = [policy for family in families for policy in family.policies]
        diagnostics = {key: [f.diagnostics[key] for f in families] for key in ("front_points", "front_chromosomes")}
        diagnostics |= {key: value for key, value in families[-1].diagnostics.items() if key not in diagnostics}
        return Family(
            spread_by_cost(problem, every), diagnostics={"thresholds": list(search.thresholds), **diagnostics}
        )


def _at(problem: Problem, search: Search, number: int, k: int, left_out: NDArray[np.int64]) -> Family:
    """The family at one threshold; the classifiers of the subsets that are left out are not fitted."""
    from bench_emsco.prepare import policies_of

    search.cache.use(number)
    n, rows = problem.n_features, search.cache.n_rows
    front = front_of(search, n, rows, k, problem.threads)
    order = fittest_first(front)
    cost = search.prices.in_price(front.cost) / rows
    about = [
        {
            "conclusive": int(front.conclusive[i]),
            "correct": int(front.correct[i]),
            "cost": float(cost[i]),
            "chromosomes": int(front.multiplicity[i]),
        }
        for i in order
    ]
    diagnostics = {
        "front_points": front.n_points,
        "front_chromosomes": front.n_optimal,
        "solutions": front.n_chromosomes,
        "k": k,
        "not_converged": len(search.cache.not_converged),
    }
    chosen = representatives(front, problem.threads)[order]
    if len(left_out):
        diagnostics["subsets_left_out"] = len(left_out)
        chosen = without_stages(chosen, k, left_out)
    return Family(policies_of(search, problem, number, chosen, about), diagnostics=diagnostics)


def front_of(search: Search, n_features: int, n_rows: int, k: int, threads: int) -> GlobalFront:
    """The exact front of a prepared search; fits the classifiers of all 2**n subsets.

    Raises:
        ValueError: there are more than 20 features.
    """
    from bench_emsco.exhaustive import exact_front

    _require_few(n_features)
    search.cache.fill_all()
    cache = search.cache
    return exact_front(cache.confident, cache.right, search.prices.subset_cost_table(), n_rows, k, threads=threads)


def _require_few(n_features: int) -> None:
    if n_features > MOST_FEATURES:
        raise ValueError(f"the exact front is for at most {MOST_FEATURES} features, not {n_features}")


def representatives(front: GlobalFront, threads: int) -> Chromosomes:
    """One chromosome per point of the front, int8 (points, n): one with the fewest stages among those listed.

    Millions of chromosomes may share a point, so listing is repeated for the points without a chromosome.
    """
    from bench_emsco.evaluation import evaluate
    from bench_emsco.table_cache import TableCache

    confident, correct, costs = front.tables
    cache = TableCache(confident, correct, front.n_rows)
    # On the front, a pair of counts has a single cost; `evaluate` may round that cost differently.
    where = {(decided, right): i for i, (decided, right, _) in enumerate(front.points)}
    chosen: dict[int, Chromosomes] = {}
    while len(chosen) < front.n_points:
        missing = np.array([i for i in range(front.n_points) if i not in chosen])
        listed = front.only(missing).chromosomes(_LISTED_AT_ONCE, threads=threads)
        listed = listed[np.argsort(listed.max(axis=1), kind="stable")]
        reached = evaluate(listed, front.max_stages, front.n_rows, cache, lambda masks: costs[masks])
        for chromosome, decided, hits in zip(listed, reached[0].tolist(), reached[1].tolist(), strict=True):
            chosen.setdefault(where[decided, hits], chromosome)
    return cast(Chromosomes, np.stack([chosen[i] for i in range(front.n_points)]))


def without_stages(chromosomes: Chromosomes, k: int, subsets: NDArray[np.int64]) -> Chromosomes:
    """The chromosomes (m, n), of at most `k` stages, without the stages whose cumulative sets are these subsets.

    The next stage acquires the features of a removed one.
    """
    masks = cumulative_masks(chromosomes, k).astype(np.int64)
    stays = ~np.isin(masks, subsets)
    number: NDArray[np.int64] = np.cumsum(stays, axis=1) - stays  # new number of a stage, or of the next one that stays
    return cast(Chromosomes, np.take_along_axis(number, chromosomes.astype(np.int64), axis=1).astype(chromosomes.dtype))


def fittest_first(front: GlobalFront) -> NDArray[np.int64]:
    """Indices of the points by descending ‖(g1, g2, g3)‖, g3 relative to the cheapest point (EMSCO §3.3, Fig. 6)."""
    from bench_emsco.fitness import norms, objectives
    from bench_emsco.pareto import conclusive_accuracy

    accuracy = conclusive_accuracy(front.conclusive, front.correct)
    goals = objectives(front.conclusive, accuracy, front.cost, front.n_rows)
    return np.argsort(-norms(goals), kind="stable")
