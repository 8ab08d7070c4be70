"""The methods: PolyDom, its comparison points, and the Greedy family, each with one policy per budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, MinLen

from bench_polydom.best_first import best_first_search
from bench_polydom.budgeted import Budgeted, counts
from bench_polydom.candidates import Candidates, prune
from bench_polydom.greedy import LAMBDAS, GreedyIndex, grow
from bench_polydom.index import FullIndex, Index, NaiveScan, PolyDomIndex
from bench_polydom.lattice import (
    MAX_FEATURES,
    PROGRESSIVE_ALPHAS,
    Covering,
    Expansion,
    expand_all,
    progressive_search,
    search,
)
from bench_polydom.learning import Trainer
from bench_polydom.monotonicity import violation_summary
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
"""Units that are searched without ``max_models``: every set of them is 32,768 models, minutes; each more doubles it."""


@dataclass(frozen=True)
class PolyDom(Budgeted):
    """The best model for every item size and budget, by lattice search and the poly-dominance index.

    Attributes:
        alpha: accuracy that may be given up to train fewer models.
        e: by how much a superset of features may be less accurate (anti-monotonicity).
        covering: ``below`` prunes more, and is sound where features have diminishing returns; ``both`` is the paper's
            algorithm, which prunes most and promises nothing.
        max_models: precomputation budget, 0 for none: α starts at 2 and is lowered to ``alpha`` as far as this
            many models allow (progressive mode).
        builder: ``sweep`` builds the index by the paper's Algorithm 3, ``envelope`` the same one sooner.

    Source: "Indexing Cost Sensitive Prediction".
    """

    alpha: Annotated[float, Ge(0)] = 0.0
    e: Annotated[float, Ge(0)] = 0.0
    covering: Covering = "none"
    max_models: Annotated[int, Ge(0)] = 0
    builder: Literal["envelope", "sweep"] = "envelope"

    def _most_units_in_time(self) -> int:
        return MAX_FEATURES if self.max_models else MOST_UNITS_UNBOUNDED

    def _remedy(self, units: int) -> str:
        return "; max_models bounds the search" if units <= MAX_FEATURES and not self.max_models else ""

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        if self.max_models:
            ladder = [*(step for step in PROGRESSIVE_ALPHAS if step > self.alpha), self.alpha]
            return progressive_search(
                trainer.accuracy, d, ladder, self.e, covering=self.covering, max_sets=self.max_models
            )
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
    """PolyDom with the widest gap in the lattice first, so that a smaller α expands a superset (Property 3.9).

    ``max_models`` stops the search where it is; the diagnostic ``alpha_completed`` says for which α it is complete.
    There is no covering in this order. Other attributes as PolyDom's.

    Source: ours; see `bench_polydom.best_first`.
    """

    covering: Literal["none"] = "none"

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        most = self.max_models or math.inf
        return best_first_search(trainer.accuracy, d, self.alpha, self.e, max_sets=most)


@dataclass(frozen=True)
class PolyDomIndexAll(PolyDom):
    """PolyDom with an index of every crossing of two candidates, interesting or not.

    Decides as PolyDom does; the index is larger. Attributes as PolyDom's.

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    def _build(self, candidates: Candidates) -> Index:
        return FullIndex(candidates, PolyDomIndex.build(candidates, self.builder))


@dataclass(frozen=True)
class NaiveLookup(PolyDom):
    """PolyDom's models without an index: every look-up prices every candidate.

    Decides as PolyDom does; look-ups take longer. Attributes as PolyDom's.

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    def _build(self, candidates: Candidates) -> Index:
        return NaiveScan(candidates)


@dataclass(frozen=True)
class NaiveExpandAll(PolyDom):
    """PolyDom without pruning of the lattice: a model for every set of features.

    ``alpha``, ``e``, ``covering`` and ``max_models`` have no effect. Other attributes as PolyDom's.

    Attributes:
        compare_alphas, compare_es: from the accuracies of all sets, keep in the history what PolyDom would train and
            index at every α and e; see `bench_polydom.tolerance.series_by_tolerance`.

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
            raise ValueError("compare_alphas and compare_es go together")

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
    """Sets grown feature by feature, by accuracy gained less λ times the cost, or by cost."""

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
    """Features one by one by Δaccuracy − λ·Δcost at the median size, for several λ; added while the budget lasts.

    Attributes:
        lambdas: prices of cost in accuracy; they depend on the unit of cost.

    Source: "Indexing Cost Sensitive Prediction", Greedy (after Xu, Weinberger and Chapelle's GreedyMiser).
    """

    lambdas: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)] = LAMBDAS

    def _trade_offs(self) -> tuple[float, ...]:
        return self.lambdas


@dataclass(frozen=True)
class GreedyAcc(_Grown):
    """Greedy by accuracy alone (λ = 0). Attributes: those all methods of this plugin have.

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """


@dataclass(frozen=True)
class GreedyCost(_Grown):
    """Greedy by cost alone: the cheapest feature first. Attributes: those all methods of this plugin have.

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """

    by: ClassVar[Literal["gain", "cost"]] = "cost"


def _forget(trainer: Trainer, n_units: int, survivors: set[int]) -> None:
    """Drop the models that no index can return."""
    for units in list(trainer.models):
        if sum(1 << unit for unit in units) not in survivors:
            del trainer.models[units]
