"""The base class of this plugin's methods: a learner, units, one policy per budget, and the series of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from bench_models.folds import folds

from bench_core import DataError, DataFacts, Family, Method, Problem
from bench_polydom.estimates import ActualCosts, by_budget
from bench_polydom.index import Index, lookup_microseconds
from bench_polydom.lattice import MAX_FEATURES, Expansion
from bench_polydom.learners import LearnerName, make_learner
from bench_polydom.learning import Majority, Trainer, shared_accuracies
from bench_polydom.policy import BudgetPolicy
from bench_polydom.pricing import load_measurements
from bench_polydom.units import Units, units_of

__all__ = ["Budgeted", "counts"]

BUDGET_SHARES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
_FOLDS = 3


@dataclass(frozen=True)
class Budgeted(Method):
    """A method with a black-box learner and one policy per budget; no row costs more than the budget.

    Attributes:
        budgets: budgets of a row, in the unit of the prices; one policy each. When empty: shares 0.01 … 1 of the mean
            price of all features on the training rows, and the price of all features of the most expensive row.
        learner: the black-box learner, see `bench_polydom.learners.make_learner`; ``linear-sgd`` is the paper's.
        strength: inverse strength of the learner's penalty, or the depth of ``tree``; see `make_learner`.
        units: the elements of a set: ``groups`` acquires all features of an acquisition group together, ``features``
            acquires them one by one.
        share_accuracies: whether methods that are fitted on the same rows in one process share trained accuracies, as
            in the paper's experiments. This changes no result, but fitting times become meaningless.
        measured: measured times of the features: a path, or the name of a file that comes with the plugin (see
            `bench_polydom.pricing`). The history then includes the actual cost of every budget's models
            (`bench_polydom.estimates.by_budget`). Decisions do not depend on it.
        time_lookups: whether to measure look-up times for the diagnostics; the record then depends on the machine.
    """

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    budgets: tuple[Annotated[float, Ge(0)], ...] = ()
    learner: LearnerName = "logistic"
    strength: Annotated[float, Gt(0)] = 1.0
    units: Literal["groups", "features"] = "groups"
    share_accuracies: bool = False
    measured: str = ""
    time_lookups: bool = False

    def fit(self, problem: Problem) -> Family:
        """Train on the training part and estimate accuracy there, out of fold; build the index and the policies.

        Accuracies rank the sets of features. The validation part selects among policies; if accuracies were estimated
        on it as well, the best of thousands of sets would look better than it is.

        Raises:
            ValueError: features have missing values, or there are too many units.
            DataError: prices depend on item size but the rows have no sizes, or ``measured`` lacks a feature or a
                size.
        """
        _refuse_missing(problem)
        if problem.costs.depends_on_size and problem.train.sizes is None:
            raise DataError("these prices depend on item size, and the rows have none")
        units = units_of(problem, self.units, self._most_units())
        seed = int(problem.rng("polydom", "learner").integers(2**31 - 1))
        parts = folds(problem, _FOLDS) if len(problem.train) > 1 else []
        measured = problem.validation if len(problem.validation) else problem.train
        trainer = Trainer(
            make_learner(self.learner, self.strength, seed),
            problem.train.X, problem.train.y, units.columns, folds=parts,
            strength=self.strength if self.learner == "logistic" else None,
        )  # fmt: skip
        if self.share_accuracies:
            rows = (problem.train.X, problem.train.y, measured.X, measured.y)
            columns = tuple(tuple(one.tolist()) for one in units.columns)
            trainer.known = shared_accuracies(rows, seed, self.learner, self.strength, columns)
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
        sizes = measured.sizes if measured.sizes is not None and problem.costs.depends_on_size else np.zeros(1)
        actual = None
        if self.measured:
            actual = ActualCosts.of(load_measurements(self.measured), problem, units, sizes)
        if self.time_lookups:
            diagnostics["lookup_microseconds"] = lookup_microseconds(index, np.unique(sizes)[:200].tolist(), budgets)
        history = {**series, "budgets": list(budgets), **by_budget(index, sizes, budgets, actual)}
        return Family(policies, history=history, diagnostics=diagnostics)

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot be used on a data set, such as too many units; None if it can."""
        units, most = data.n_units if self.units == "groups" else data.n_features, self._most_units_in_time()
        if units > most:
            return f"it searches the sets of at most {most} units; there are {units}{self._remedy(units)}"
        return super().inapplicable(data)

    def _most_units(self) -> int:
        return MAX_FEATURES

    def _most_units_in_time(self) -> int:
        """Most units that a fit handles in reasonable time."""
        return self._most_units()

    def _remedy(self, units: int) -> str:
        """Advice for a message about too many units; empty if there is none."""
        return ""

    def _index(self, trainer: Trainer, units: Units, size: float) -> tuple[Index, dict[str, Any], dict[str, Any]]:
        raise NotImplementedError


def counts(expansion: Expansion, index: Index) -> dict[str, Any]:
    """Diagnostics common to all methods."""
    return {
        "sets_expanded": expansion.n_expanded,
        "sets_failed": len(expansion.failures),
        "candidates": len(index.candidates),
        "index_entries": index.entries,
        "index_points": getattr(index, "points", 1),
    }


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
