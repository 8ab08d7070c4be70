"""The methods: PolyDom, its comparison points, and the Greedy family, each with one policy per budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, MinLen

from bench_polydom.best_first import best_first_search
from bench_polydom.budgeted import Budgeted, counts
from bench_polydom.candidates import Candidates, prune
from bench_polydom.greedy import LAMBDAS, GreedyIndex, grow
from bench_polydom.index import FullIndex, Index, NaiveScan, PolyDomIndex
from bench_polydom.lattice import MAX_FEATURES, Covering, Expansion, expand_all, search
from bench_polydom.learning import Trainer
from bench_polydom.monotonicity import violation_summary
from bench_polydom.progressive import PROGRESSIVE_ALPHAS, progressive_search
from bench_polydom.tolerance import series_by_tolerance
from bench_polydom.units import Units

__all__ = [
    "Greedy",
    "GreedyAcc",
    "GreedyCost",
    "NaiveExpandAll",
    "NaiveLookup",
    "PolyDom",
    "PolyDomBestFirst",
    "PolyDomIndexAll",
]


MOST_UNITS_UNBOUNDED = 15
"""Most units without ``max_models``: 2^15 = 32,768 models take minutes, and each further unit doubles the number."""


@dataclass(frozen=True)
class PolyDom(Budgeted):
    """The best model for every item size and budget, by lattice search and the poly-dominance index.

    Attributes:
        alpha: accuracy α that may be given up to train fewer models.
        e: the largest amount by which a superset of features may be less accurate than a subset (anti-monotonicity).
        covering: further pruning by Property 3.4. ``below`` is sound where features have diminishing returns;
            ``both`` is the paper's algorithm, which prunes most and has no guarantee.
        max_models: precomputation budget in models; 0 for no limit. α starts at 2 and is lowered to ``alpha`` as far
            as this many models allow (progressive mode).
        greedy_first: whether to train the sets of `GreedyAcc` first. The search proceeds from both ends of the lattice,
            so one that ``max_models`` stops has no sets of middle size; with this option it has sets of every size.
            Only with ``max_models``.
        builder: the algorithm that builds the index: ``sweep`` is the paper's Algorithm 3; ``envelope`` builds the
            same index faster.

    Source: "Indexing Cost Sensitive Prediction".
    """

    alpha: Annotated[float, Ge(0)] = 0.0
    e: Annotated[float, Ge(0)] = 0.0
    covering: Covering = "none"
    max_models: Annotated[int, Ge(0)] = 0
    greedy_first: bool = field(default=False, metadata={"omit_default": True})
    builder: Literal["envelope", "sweep"] = "envelope"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.greedy_first and not self.max_models:
            raise ValueError("greedy_first needs max_models: without it, the search is not stopped")

    def _most_units_in_time(self) -> int:
        return MAX_FEATURES if self.max_models else MOST_UNITS_UNBOUNDED

    def _remedy(self, units: int) -> str:
        return "; max_models bounds the search" if units <= MAX_FEATURES and not self.max_models else ""

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        if self.max_models:
            ladder = [*(step for step in PROGRESSIVE_ALPHAS if step > self.alpha), self.alpha]
            return progressive_search(
                trainer.accuracy, d, ladder, self.e,
                covering=self.covering, greedy_first=self.greedy_first, max_sets=self.max_models,
            )  # fmt: skip
        return search(trainer.accuracy, d, self.alpha, self.e, covering=self.covering)

    def _index(self, trainer: Trainer, units: Units, size: float) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        expansion = self._expand(trainer, len(units))
        candidates = prune(expansion.candidates_by(units.curves))
        survivors = set(candidates.masks.tolist())
        _forget(trainer, len(units), survivors)
        index = self._build(candidates)
        diagnostics = counts(expansion, index)
        diagnostics["alpha_completed"] = expansion.alpha if math.isfinite(expansion.alpha) else None
        summary, by_distance = violation_summary(expansion)
        return index, diagnostics | summary, by_distance

    def _build(self, candidates: Candidates) -> Index:
        return PolyDomIndex.build(candidates, self.builder)


@dataclass(frozen=True)
class PolyDomBestFirst(PolyDom):
    """PolyDom with best-first search of the lattice, for which a smaller α expands a superset (Property 3.9).

    The set with the widest accuracy gap is expanded first. ``max_models`` stops the search; the diagnostic
    ``alpha_completed`` is the α that it is complete for. This order has no covering. The other parameters are those of
    PolyDom.

    Source: ours; see `bench_polydom.best_first`.
    """

    covering: Literal["none"] = "none"
    greedy_first: Literal[False] = field(default=False, metadata={"omit_default": True})

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        most = self.max_models or math.inf
        return best_first_search(trainer.accuracy, d, self.alpha, self.e, max_sets=most)


@dataclass(frozen=True)
class PolyDomIndexAll(PolyDom):
    """PolyDom with an index that stores a skyline at every crossing of two candidates.

    Its decisions are those of PolyDom; only the index is larger. The parameters are those of PolyDom.

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    def _build(self, candidates: Candidates) -> Index:
        return FullIndex(candidates, PolyDomIndex.build(candidates, self.builder))


@dataclass(frozen=True)
class NaiveLookup(PolyDom):
    """PolyDom's models without an index: every look-up prices every candidate.

    Its decisions are those of PolyDom; only look-ups take longer. The parameters are those of PolyDom.

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    def _build(self, candidates: Candidates) -> Index:
        return NaiveScan(candidates)


@dataclass(frozen=True)
class NaiveExpandAll(PolyDom):
    """PolyDom without pruning of the lattice: a model for every set of features.

    ``alpha``, ``e``, ``covering``, ``max_models`` and ``greedy_first`` have no effect. The other parameters are those
    of PolyDom.

    Attributes:
        compare_alphas: values of α for the history series of `bench_polydom.tolerance.series_by_tolerance`: the sets
            that PolyDom would train and index, computed from the accuracies of all sets.
        compare_es: values of e for these series, in ascending order; required with ``compare_alphas``.

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    compare_alphas: tuple[Annotated[float, Ge(0)], ...] = ()
    compare_es: tuple[Annotated[float, Ge(0)], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("compare_alphas", "compare_es"):
            values = getattr(self, name)
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name} must ascend, not {list(values)}")
        if bool(self.compare_alphas) != bool(self.compare_es):
            raise ValueError("compare_alphas and compare_es must be given together")

    def _most_units_in_time(self) -> int:
        return MOST_UNITS_UNBOUNDED

    def _remedy(self, units: int) -> str:
        return ""

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        return expand_all(trainer.accuracy, d)

    def _index(self, trainer: Trainer, units: Units, size: float) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        index, diagnostics, series = super()._index(trainer, units, size)
        if self.compare_es:
            series |= series_by_tolerance(
                trainer.accuracy, len(units), units.curves, self.compare_alphas, self.compare_es, size
            )
        return index, diagnostics, series


@dataclass(frozen=True)
class _Grown(Budgeted):
    """A method that grows sets feature by feature, by the gain in accuracy minus λ times the cost, or by cost."""

    by: ClassVar[Literal["gain", "cost"]] = "gain"

    def _most_units(self) -> int:
        return 60

    def _trade_offs(self) -> tuple[float, ...]:
        return (0.0,)

    def _index(self, trainer: Trainer, units: Units, size: float) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        growth = grow(trainer.accuracy, len(units), units.curves, size, self._trade_offs(), self.by)
        index = GreedyIndex(growth, units.curves)
        diagnostics = counts(growth.expansion, index)
        diagnostics["sequences"] = len(set(growth.sequences))
        return index, diagnostics, {}


@dataclass(frozen=True)
class Greedy(_Grown):
    """Greedy acquisition by Δaccuracy − λ·Δcost at the median item size, for several λ, while the budget lasts.

    Attributes:
        lambdas: values of λ, in accuracy per unit of cost.

    Source: "Indexing Cost Sensitive Prediction", Greedy (after Xu, Weinberger and Chapelle's GreedyMiser).
    """

    lambdas: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)] = LAMBDAS

    def _trade_offs(self) -> tuple[float, ...]:
        return self.lambdas


@dataclass(frozen=True)
class GreedyAcc(_Grown):
    """Greedy acquisition by accuracy alone (λ = 0).

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """


@dataclass(frozen=True)
class GreedyCost(_Grown):
    """Greedy acquisition by cost alone: the cheapest feature first.

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """

    by: ClassVar[Literal["gain", "cost"]] = "cost"


def _forget(trainer: Trainer, n_units: int, survivors: set[int]) -> None:
    """Drop the models that no index can return, to free their memory."""
    for units in list(trainer.models):
        if sum(1 << unit for unit in units) not in survivors:
            del trainer.models[units]
