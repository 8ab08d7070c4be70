"""Links from scores to class probabilities: Platt's sigmoid, fitted out of fold, or the loss's own link.

The reject option of GM* needs class probabilities: Platt's sigmoid, one-vs-rest and normalised for several classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from bench_models.linear import Platt, combine, fit_platt
from numpy.typing import NDArray

from bench_greedymiser.losses import expit, softmax

__all__ = ["Clipped", "Link", "Odds", "Sigmoids", "Soft", "fit_sigmoids"]

Floats = NDArray[np.float64]


class Link(ABC):
    """A function from scores (rows, outputs) to class probabilities (rows, classes), row by row."""

    @abstractmethod
    def probabilities(self, scores: Floats) -> Floats:
        """Class probabilities of scores (rows, outputs): float64 (rows, classes); each row sums to 1."""


def _normalised(table: Floats) -> Floats:
    """Rows divided by their sum; a row that sums to 0 becomes uniform."""
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / table.shape[1])


class Odds(Link):
    """Link for two classes: the score is the log-odds of the second class."""

    def probabilities(self, scores: Floats) -> Floats:
        second = expit(scores[:, 0])
        return np.column_stack([1 - second, second])


class Soft(Link):
    """Softmax link: the scores are the classes' log weights."""

    def probabilities(self, scores: Floats) -> Floats:
        return softmax(scores)


class Clipped(Link):
    """Link for least-squares scores of 0/1 targets: clipped to [0, 1], and normalised for more than two classes."""

    def probabilities(self, scores: Floats) -> Floats:
        clipped = np.clip(scores, 0.0, 1.0)
        if clipped.shape[1] == 1:
            return np.column_stack([1 - clipped[:, 0], clipped[:, 0]])
        return _normalised(clipped)


@dataclass(frozen=True, eq=False)
class Sigmoids(Link):
    """Platt's sigmoid of each output; one-vs-rest and normalised for several outputs.

    Attributes:
        sigmoids: one sigmoid per output.
    """

    sigmoids: tuple[Platt, ...]

    def probabilities(self, scores: Floats) -> Floats:
        n_classes = max(2, len(self.sigmoids))
        columns = [sigmoid(score) for sigmoid, score in zip(self.sigmoids, scores.T, strict=True)]
        return combine(columns, list(range(n_classes)), n_classes)


def fit_sigmoids(scores: Floats, y: NDArray[np.int64]) -> Sigmoids:
    """Fit a sigmoid per output.

    Args:
        scores: float64 (rows, outputs), of rows that the trees were not grown on.
        y: int64 (rows,): class codes.
    """
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    return Sigmoids(tuple(fit_platt(score, y == code) for score, code in zip(scores.T, positive, strict=True)))
