"""The policy of one budget: every row uses the model that an index returns for its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_polydom.candidates import features_of
from bench_polydom.index import NOTHING, Index
from bench_polydom.learners import class_probabilities
from bench_polydom.learning import Majority, Trainer
from bench_polydom.units import Units

__all__ = ["BudgetPolicy"]


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetPolicy(Policy):
    """A policy that stays within the budget on every row; where no model fits, it predicts the majority class for free.

    Attributes:
        budget: the maximum cost of a row, in the unit of the prices.
        index: the index of models.
        units: the units of the candidates.
        trainer: the fitted models of the candidates.
        majority: the model without features.
        n_features: number of features of the problem.
        n_classes: number of classes of the problem.
    """

    budget: float
    index: Index
    units: Units
    trainer: Trainer
    majority: Majority
    n_features: int
    n_classes: int
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def choose(self, rows: Rows) -> NDArray[np.int64]:
        """Index of the candidate for every row; −1 if none fits; int64 (rows,)."""
        if rows.sizes is None or not self.units.costs.depends_on_size:
            return np.full(len(rows), self.index.lookup(0.0, self.budget), dtype=np.int64)
        sizes, place = np.unique(rows.sizes, return_inverse=True)
        chosen = [self.index.lookup(size, self.budget) for size in sizes.tolist()]
        return np.array(chosen, dtype=np.int64)[place.ravel()]

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features of the model for each row's size."""
        wanted = np.zeros_like(known)
        chosen = self.choose(rows)
        for candidate in np.unique(chosen[chosen != NOTHING]).tolist():
            units = features_of(int(self.index.candidates.masks[candidate]))
            wanted[np.ix_(np.flatnonzero(chosen == candidate), self.units.features_of(units))] = True
        return wanted & ~known

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        probabilities = np.zeros((len(rows), self.n_classes))
        chosen = self.choose(rows)
        for candidate in np.unique(chosen).tolist():
            mine = np.flatnonzero(chosen == candidate)
            units = () if candidate == NOTHING else features_of(int(self.index.candidates.masks[candidate]))
            acquired[np.ix_(mine, self.units.features_of(units))] = True
            model = self.trainer.model(units) if units else self.majority
            X = rows.X[np.ix_(mine, self.trainer.columns_of(units))]
            if np.isnan(X).any():
                holes = self.trainer.columns_of(units)[np.isnan(X).any(axis=0)]
                raise ValueError(f"column {int(holes[0])} holds missing values; choose an encoding that imputes")
            probabilities[mine] = class_probabilities(model, X, self.n_classes)
        return Decisions(acquired, probabilities=probabilities)

    def saved_fields(self) -> dict[str, Any]:
        """Fields of a saved policy, with the fitted models of all candidates, because none can be trained later."""
        for mask in self.index.candidates.masks.tolist():
            units = features_of(int(mask))
            if units:
                self.trainer.model(units)
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
