"""Losses of stage-wise regression: start scores, and the negative gradients that trees are fitted to.

A loss has one output per ensemble: a single one for regression, ranking grades and two classes, else one per class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Logistic", "Loss", "Softmax", "Squared", "expit", "loss_of", "softmax"]

Floats = NDArray[np.float64]


def expit(x: Floats) -> Floats:
    """1 / (1 + exp(−x)), without overflow."""
    small = np.exp(-np.abs(x))
    share: Floats = np.where(x >= 0, 1.0, small) / (1.0 + small)
    return share


def softmax(x: Floats) -> Floats:
    """Rows of exp(x) / Σ exp(x), without overflow."""
    exponential: Floats = np.exp(x - x.max(axis=1, keepdims=True))
    shares: Floats = exponential / exponential.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, eq=False)
class Loss(ABC):
    """A loss with its targets.

    Attributes:
        targets: float64 (rows, outputs): values, or 1 for the row's class and 0 for the other classes.
    """

    targets: Floats

    @property
    def outputs(self) -> int:
        """Number of ensembles."""
        return int(self.targets.shape[1])

    @abstractmethod
    def start(self) -> Floats:
        """Constant scores of least loss; float64 (outputs,)."""

    @abstractmethod
    def residual(self, scores: Floats) -> Floats:
        """Negative gradient at scores (rows, outputs); of the same shape."""

    def curvature(self, scores: Floats) -> Floats:
        """Second derivative at scores (rows, outputs), for Newton leaves; of the same shape."""
        return np.ones_like(scores)

    @property
    def step(self) -> float:
        """Factor of a Newton step: Friedman's (K − 1) / K for K class-specific ensembles."""
        return 1.0

    @abstractmethod
    def mean(self, scores: Floats) -> float:
        """Mean loss over rows."""


class Squared(Loss):
    """Half the squared error, summed over outputs."""

    def start(self) -> Floats:
        mean: Floats = self.targets.mean(axis=0)
        return mean

    def residual(self, scores: Floats) -> Floats:
        return self.targets - scores

    def mean(self, scores: Floats) -> float:
        return float(np.square(self.targets - scores).sum(axis=1).mean()) / 2


class Logistic(Loss):
    """Log loss of two classes; the score is the log-odds of the second."""

    def start(self) -> Floats:
        p = _shares(self.targets)
        return np.log(p / (1 - p))

    def residual(self, scores: Floats) -> Floats:
        return self.targets - expit(scores)

    def curvature(self, scores: Floats) -> Floats:
        p = expit(scores)
        return p * (1 - p)

    def mean(self, scores: Floats) -> float:
        return float((np.logaddexp(0.0, scores) - self.targets * scores).mean())


class Softmax(Loss):
    """Log loss of many classes, one ensemble per class."""

    def start(self) -> Floats:
        return np.log(_shares(self.targets))

    def residual(self, scores: Floats) -> Floats:
        return self.targets - softmax(scores)

    def curvature(self, scores: Floats) -> Floats:
        p = softmax(scores)
        return p * (1 - p)

    @property
    def step(self) -> float:
        return (self.outputs - 1) / self.outputs

    def mean(self, scores: Floats) -> float:
        return float(-np.log(np.maximum((softmax(scores) * self.targets).sum(axis=1), 1e-300)).mean())


def _shares(targets: Floats) -> Floats:
    """Frequency of each output's class; a count of 0 or of all rows is moved by half a row, so that logs are finite."""
    half = 0.5 / len(targets)
    shares: Floats = np.clip(targets.mean(axis=0), half, 1 - half)
    return shares


def loss_of(name: str, problem: Problem) -> Loss:
    """The loss of a problem.

    Args:
        name: ``auto``, ``squared`` or ``logistic`` (multi-class logistic for more than two classes).
        problem: the problem; its task and training targets are used.

    Raises:
        ValueError: logistic loss for a task without classes.
    """
    y = problem.train.y
    if not problem.n_classes:
        if name == "logistic":
            raise ValueError(
                f"loss = 'logistic' needs classes, and the task is {problem.task}; use 'squared' or 'auto'"
            )
        return Squared(np.asarray(y, dtype=np.float64)[:, None])
    if problem.n_classes == 2:
        targets = (y == 1).astype(np.float64)[:, None]
        return Squared(targets) if name == "squared" else Logistic(targets)
    targets = (y[:, None] == np.arange(problem.n_classes)).astype(np.float64)
    return Squared(targets) if name == "squared" else Softmax(targets)
