"""The policy of a multi-stage classifier (EMSCO §2): stages of growing feature sets, early exit, terminal reject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_models.subsets.models import stage_probabilities
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages

__all__ = ["MultiStagePolicy", "Stage"]


@dataclass(frozen=True)
class Stage:
    """One stage of a multi-stage classifier.

    Attributes:
        acquired: bool (features,): features of this stage and all earlier ones.
        columns: int64 (d,): their columns of X, ascending.
        coefficients: float64 (1, 1 + d) for two classes or (K, 1 + d), intercept first.
    """

    acquired: NDArray[np.bool_]
    columns: NDArray[np.int64]
    coefficients: NDArray[np.float64]


class MultiStagePolicy(Policy):
    """A policy in which a row passes through stages until one is confident, at the latest the terminal stage.

    The core applies the same threshold to decide whether it accepts the answer of the terminal stage.

    Args:
        stages: at least one stage; each acquires more than the previous one.
        classes: class codes of the classifiers, ascending.
        n_classes: number of classes of the problem; classes that are not in ``classes`` have probability 0.
        threshold: confidence threshold p̂ at which a row leaves.
        label: the policy's label in the record.
        details: the policy's details in the record.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        classes: NDArray[np.int64],
        n_classes: int,
        threshold: float,
        label: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.stages = tuple(stages)
        self.classes = classes
        self.n_classes = n_classes
        self.threshold = threshold
        self.label = label
        self.details = details or {}

    def decide(self, rows: Rows) -> Decisions:
        """See `bench_core.Policy.decide`; a row that leaves at stage m pays for the features of stages 1..m."""
        count = len(rows)
        probabilities = np.zeros((count, self.n_classes))
        acquired = np.zeros((count, self.stages[-1].acquired.size), dtype=bool)
        left_at = np.zeros(count, dtype=np.int64)
        waiting = np.arange(count)
        last = len(self.stages)
        for number, stage in enumerate(self.stages, start=1):
            given = stage_probabilities(rows.X[waiting][:, stage.columns], stage.coefficients)
            leaving = given.max(axis=1) >= self.threshold if number < last else np.ones(len(waiting), dtype=bool)
            gone = waiting[leaving]
            probabilities[gone[:, None], self.classes] = given[leaving]
            acquired[gone] = stage.acquired
            left_at[gone] = number
            waiting = waiting[~leaving]
            if not len(waiting):
                break
        return Decisions(acquired, probabilities, stage=left_at)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features of each row's next stage."""
        left_at = np.zeros(len(rows), dtype=np.int64)
        waiting = np.arange(len(rows))
        for stage in self.stages[:-1]:
            given = stage_probabilities(rows.X[waiting][:, stage.columns], stage.coefficients)
            waiting = waiting[~(given.max(axis=1) >= self.threshold)]
            left_at[waiting] += 1
        return next_of_stages(np.stack([stage.acquired for stage in self.stages]), left_at, known)
