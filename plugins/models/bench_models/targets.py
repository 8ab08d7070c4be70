"""Targets of real-valued scores: values and grades unchanged, ±1 for classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Target", "targets_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Target:
    """One target vector.

    Attributes:
        y, weights: float64 (rows,) of the training part.
        y_validation, weights_validation: float64 (rows,) of the validation part.
        positive: the class code that is +1; -1 without classes.
        code: the class of a one-vs-rest target; otherwise None.
    """

    y: Floats
    weights: Floats
    y_validation: Floats
    weights_validation: Floats
    positive: int = -1
    code: int | None = None

    def taking(self, rows: NDArray[np.int64]) -> Target:
        """The target of these training rows, int64 positions; the validation part is the same."""
        return replace(self, y=self.y[rows], weights=self.weights[rows])


def targets_of(problem: Problem, positive_weight: float | Literal["balanced"]) -> list[Target]:
    """One target; for more than two classes one per class in the training part; none if there is nothing to learn.

    Raises:
        ValueError: targets are not finite numbers, or class weights are given for a regression.
    """
    train, validation = problem.train, problem.validation
    if not problem.n_classes:
        y, y_validation = (_numbers(part.y, problem.task) for part in (train, validation))
        if problem.task == "regression" and positive_weight != 1.0:
            raise ValueError("positive_weight is for classes and rankings; a regression has neither")
        if not len(y):
            return []
        above, validation_above = y > 0, y_validation > 0
        weights = _weights(above, above, positive_weight)
        return [Target(y, weights, y_validation, _weights(above, validation_above, positive_weight))]
    present = np.unique(train.y)
    if len(present) < 2:
        return []
    codes = [int(present[1])] if len(present) == 2 else [int(code) for code in present]
    targets = []
    for code in codes:
        mine, theirs = train.y == code, validation.y == code
        targets.append(
            Target(
                np.where(mine, 1.0, -1.0),
                _weights(mine, mine, positive_weight),
                np.where(theirs, 1.0, -1.0),
                _weights(mine, theirs, positive_weight),
                code,
                code if len(codes) > 1 else None,
            )
        )
    return targets


def _numbers(values: NDArray[np.generic], task: str) -> Floats:
    try:
        y = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the targets of a {task} must be numbers, not {values.dtype}") from None
    if not np.isfinite(y).all():
        raise ValueError(f"the targets of a {task} must be finite: {int((~np.isfinite(y)).sum())} are not")
    return y


def _weights(training: NDArray[np.bool_], rows: NDArray[np.bool_], positive: float | Literal["balanced"]) -> Floats:
    """Class weights, computed on the training rows: float64 (rows,)."""
    if positive != "balanced":
        return np.where(rows, float(positive), 1.0)
    up, down = max(int(training.sum()), 1), max(int((~training).sum()), 1)
    return np.where(rows, len(training) / (2.0 * up), len(training) / (2.0 * down))
