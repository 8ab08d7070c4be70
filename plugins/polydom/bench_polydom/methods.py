"""The methods: PolyDom, its comparison points, and the Greedy family, each with one policy per budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Family, Method, Problem
from bench_core.errors import DataError
from bench_polydom.candidates import Candidates, prune
from bench_polydom.greedy import LAMBDAS, GreedyIndex, grow
from bench_polydom.index import NOTHING, FullIndex, Index, NaiveScan, PolyDomIndex, lookup_microseconds
from bench_polydom.lattice import (
    MAX_FEATURES,
    PROGRESSIVE_ALPHAS,
    Expansion,
    expand_all,
    progressive_search,
    search,
)
from bench_polydom.learners import LearnerName, make_learner
from bench_polydom.learning import Majority, Trainer, shared_accuracies
from bench_polydom.monotonicity import violation_summary
from bench_polydom.policy import BudgetPolicy
from bench_polydom.units import Units, units_of

__all__ = ["Greedy", "GreedyAcc", "GreedyCost", "NaiveExpandAll", "NaiveLookup", "PolyDom", "PolyDomIndexAll"]

BUDGET_SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class _Budgeted(Method):
    """What all methods here share: a learner, budgets, units.

    Attributes:
        budgets: what a row may cost; one policy each. When empty: shares 0.05 … 1 of what all features cost on
            average on the training rows, and what they cost for the dearest.
        learner: the black box, see `bench_polydom.learners.make_learner`; ``linear-sgd`` is the paper's.
        strength: see there.
        units: ``groups`` acquires an acquisition group as a whole, ``features`` its features one by one.
        share_accuracies: remember accuracies between methods that are fitted on the same rows in one process, as in
            the paper's experiments. Changes no result; the times of fits then say nothing.
        time_lookups: measure look-ups and keep the time in the diagnostics; the record then depends on the machine.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    budgets: tuple[float, ...] = ()
    learner: LearnerName = "logistic"
    strength: float = 1.0
    units: Literal["groups", "features"] = "groups"
    share_accuracies: bool = False
    time_lookups: bool = False

    def __post_init__(self) -> None:
        for budget in self.budgets:
            if not 0 <= budget < math.inf:
                raise ValueError(f"budgets must be finite and not negative, not {budget}")
        if not 0 < self.strength < math.inf:
            raise ValueError(f"strength must be above 0 and finite, not {self.strength}")

    def fit(self, problem: Problem) -> Family:
        """Train on the training part, estimate accuracy on the validation part, index, one policy per budget.

        Raises:
            ValueError: missing values, or too many units.
            DataError: prices depend on item size, and the rows have none.
        """
        _refuse_missing(problem)
        if problem.costs.depends_on_size and problem.train.sizes is None:
            raise DataError("these prices depend on item size, and the rows have none")
        units = units_of(problem, self.units, self._most_units())
        seed = int(problem.rng("polydom", "learner").integers(2**31 - 1))
        measured = problem.validation if len(problem.validation) else problem.train
        trainer = Trainer(
            make_learner(self.learner, self.strength, seed),
            problem.train.X, problem.train.y, units.columns, measured.X, measured.y,
        )  # fmt: skip
        if self.share_accuracies:
            trainer.known = shared_accuracies(
                problem.train.X, (id(measured.X), seed, self.learner, self.strength, self.units)
            )
        index, diagnostics, series = self._index(trainer, units, _median_size(problem))
        budgets = self.budgets or _default_budgets(problem)
        policies = [
            BudgetPolicy(
                budget=budget,
                index=index,
                units=units,
                trainer=trainer,
                majority=Majority.of(problem.train.y),
                n_features=problem.n_features,
                n_classes=problem.n_classes,
                label=f"budget={budget:g}",
            )
            for budget in budgets
        ]
        sizes = (
            measured.sizes if measured.sizes is not None and problem.costs.depends_on_size else np.zeros(1)
        )
        if self.time_lookups:
            diagnostics["lookup_microseconds"] = lookup_microseconds(
                index, np.unique(sizes)[:200].tolist(), budgets
            )
        history = {
            **series,
            "budgets": list(budgets),
            "estimated_accuracy": [_mean_accuracy(index, sizes, budget) for budget in budgets],
        }
        return Family(policies, history=history, diagnostics=diagnostics)

    def _most_units(self) -> int:
        return MAX_FEATURES

    def _index(
        self, trainer: Trainer, units: Units, size: float
    ) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        raise NotImplementedError


@dataclass(frozen=True)
class PolyDom(_Budgeted):
    """The best model for every item size and budget, by lattice search and the poly-dominance index.

    Attributes:
        alpha: accuracy that may be given up to train fewer models.
        e: by how much a superset of features may be less accurate (anti-monotonicity).
        covering: prune by covering too; trains fewer models and gives the guarantee up.
        max_models: precomputation budget, 0 for none: α starts at 2 and is lowered to ``alpha`` as far as this
            many models allow (progressive mode).
        builder: ``sweep`` builds the index by the paper's Algorithm 3, ``envelope`` the same one sooner.

    Source: "Indexing Cost Sensitive Prediction".
    """

    alpha: float = 0.0
    e: float = 0.0
    covering: bool = False
    max_models: int = 0
    builder: Literal["envelope", "sweep"] = "envelope"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "e"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be finite and not negative, not {getattr(self, name)}")
        if self.max_models < 0:
            raise ValueError("max_models must be 0 (no bound) or positive")

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        if self.max_models:
            ladder = [*(step for step in PROGRESSIVE_ALPHAS if step > self.alpha), self.alpha]
            return progressive_search(
                trainer.accuracy, d, ladder, self.e, covering=self.covering, max_sets=self.max_models
            )
        return search(trainer.accuracy, d, self.alpha, self.e, covering=self.covering)

    def _index(
        self, trainer: Trainer, units: Units, size: float
    ) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        expansion = self._expand(trainer, len(units))
        masks = np.fromiter(expansion.accuracy, dtype=np.int64)
        accuracy = np.fromiter(expansion.accuracy.values(), dtype=np.float64)
        candidates = prune(Candidates(masks, accuracy, units.curves(masks)))
        kept = set(candidates.masks.tolist())
        _forget(trainer, len(units), kept)
        index = self._build(candidates)
        diagnostics = _counts(expansion, index)
        diagnostics["alpha_completed"] = expansion.alpha if math.isfinite(expansion.alpha) else None
        summary, by_distance = violation_summary(expansion)
        return index, diagnostics | summary, by_distance

    def _build(self, candidates: Candidates) -> Index:
        return PolyDomIndex.build(candidates, self.builder)


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

    Source: "Indexing Cost Sensitive Prediction", comparison points.
    """

    def _expand(self, trainer: Trainer, d: int) -> Expansion:
        return expand_all(trainer.accuracy, d)


@dataclass(frozen=True)
class Greedy(_Budgeted):
    """Features one by one by Δaccuracy − λ·Δcost at the median size, for several λ; added while the budget lasts.

    Attributes:
        lambdas: prices of cost in accuracy; they depend on the unit of cost.

    Source: "Indexing Cost Sensitive Prediction", Greedy (after Xu, Weinberger and Chapelle's GreedyMiser).
    """

    lambdas: tuple[float, ...] = LAMBDAS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lambdas or not all(0 <= one < math.inf for one in self.lambdas):
            raise ValueError(f"lambdas must be a list of finite numbers from 0, not {list(self.lambdas)}")

    def _most_units(self) -> int:
        return 60

    def _index(
        self, trainer: Trainer, units: Units, size: float
    ) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        return _greedy(trainer, units, size, self.lambdas, "gain")


@dataclass(frozen=True)
class GreedyAcc(_Budgeted):
    """Greedy by accuracy alone (λ = 0). Attributes: those all methods of this plugin have.

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """

    def _most_units(self) -> int:
        return 60

    def _index(
        self, trainer: Trainer, units: Units, size: float
    ) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        return _greedy(trainer, units, size, (0.0,), "gain")


@dataclass(frozen=True)
class GreedyCost(_Budgeted):
    """Greedy by cost alone: the cheapest feature first. Attributes: those all methods of this plugin have.

    Source: "Indexing Cost Sensitive Prediction", special cases of Greedy.
    """

    def _most_units(self) -> int:
        return 60

    def _index(
        self, trainer: Trainer, units: Units, size: float
    ) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        return _greedy(trainer, units, size, (0.0,), "cost")


def _greedy(
    trainer: Trainer, units: Units, size: float, lambdas: tuple[float, ...], by: Literal["gain", "cost"]
) -> tuple[Index, dict[str, Any], dict[str, Any]]:
    found = grow(trainer.accuracy, len(units), units.curves, size, lambdas, by)
    index = GreedyIndex(found, units.curves)
    diagnostics = _counts(found.expansion, index)
    diagnostics["sequences"] = len(set(found.sequences))
    return index, diagnostics, {}


def _counts(expansion: Expansion, index: Index) -> dict[str, Any]:
    return {
        "sets_expanded": expansion.n_expanded,
        "sets_failed": len(expansion.failures),
        "candidates": len(index.candidates),
        "index_entries": index.entries,
        "index_points": getattr(index, "points", 1),
    }


def _forget(trainer: Trainer, n_units: int, kept: set[int]) -> None:
    """Drop the models that no index can return."""
    for units in list(trainer.models):
        if sum(1 << unit for unit in units) not in kept:
            del trainer.models[units]


def _refuse_missing(problem: Problem) -> None:
    for part in (problem.train, problem.validation):
        holes = np.flatnonzero(np.isnan(part.X).any(axis=0))
        if len(holes):
            names = dict.fromkeys(problem.feature_names[f] for f in problem.feature_of_column[holes])
            raise ValueError(
                f"missing values in {', '.join(map(repr, names))}; choose an encoding that imputes "
                "(encode = 'ordinal', 'onehot' or 'impute')"
            )


def _median_size(problem: Problem) -> float:
    sizes = problem.train.sizes
    return float(np.median(sizes)) if sizes is not None and problem.costs.depends_on_size else 0.0


def _default_budgets(problem: Problem) -> tuple[float, ...]:
    full = problem.costs.total(len(problem.train), problem.train.sizes)
    shares = [share * float(full.mean()) for share in BUDGET_SHARES]
    return tuple(sorted({*shares, float(full.max())}))


def _mean_accuracy(index: Index, sizes: NDArray[np.float64], budget: float) -> float:
    """Mean over items of the estimated accuracy of the model they get; 0 where nothing fits."""
    different, counts = np.unique(sizes, return_counts=True)
    found = [index.lookup(size, budget) for size in different.tolist()]
    values = [0.0 if one == NOTHING else float(index.candidates.accuracy[one]) for one in found]
    return float(np.average(values, weights=counts))
