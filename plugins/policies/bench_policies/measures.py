"""Measures of quality: what is maximised, how it is computed, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEASURES", "MSE", "Measure", "measured_on", "rare", "row_qualities"]

_LEAST = 1e-15
"""The log loss replaces smaller probabilities by this one."""


@dataclass(frozen=True)
class Measure:
    """A measure of quality; greater is better.

    Attributes:
        heading: the heading of a column or axis.
        factor: multiplies the quality to give the number that is shown.
        unit: the shown number's unit.
        words: the end of a sentence, with ``{}`` for the shown number.
    """

    heading: str
    factor: float
    unit: str
    words: str

    def text(self, quality: float) -> str:
        """Return a quality as text."""
        shown = f"{self.factor * quality:.1f}" if self.factor == 100 else f"{self.factor * quality:.4g}"
        return self.words.format(shown + self.unit)


MEASURES = {
    "accuracy": Measure("Right answers %", 100.0, " %", "{} right answers"),
    "balanced-accuracy": Measure("Balanced accuracy %", 100.0, " %", "a balanced accuracy of {}"),
    "auc": Measure("AUC", 1.0, "", "an area under the ROC curve of {}"),
    "log-loss": Measure("Log loss", -1.0, "", "a log loss of {}"),
}
"""Measures for classes: the share of right answers (a refused row is not right), its mean over the classes, the area
under the ROC curve (the mean over classes, each against the others), and the mean log probability of the true class."""

MSE = Measure("Mean squared error", -1.0, "", "a mean squared error of {}")
"""The measure for values: the negative mean squared error."""


def measured_on(
    measure: str, right: NDArray[np.bool_], y: NDArray[np.int64], probabilities: NDArray[np.float64] | None
) -> float:
    """Return a measure of answers.

    Args:
        measure: a key of `MEASURES`.
        right: bool (rows,), whether each answer is given and right.
        y: int64 (rows,), true codes.
        probabilities: float64 (rows, classes); None suffices for the two accuracies.

    Returns:
        The quality; NaN without rows or needed probabilities. The area under the curve is 0.5 for rows of one class.
    """
    if measure == "accuracy" or not len(y):
        return float(right.mean()) if len(y) else float("nan")
    if measure == "balanced-accuracy":
        return float(np.mean([right[y == code].mean() for code in np.unique(y)]))
    if probabilities is None:
        return float("nan")
    if measure == "log-loss":
        return float(np.log(np.maximum(probabilities[np.arange(len(y)), y], _LEAST)).mean())
    return float(np.mean(_auc_rows(y, probabilities)))


def _auc_rows(y: NDArray[np.int64], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The area and each row's influence on it, float64 (rows,); the mean over classes if there are more than two."""
    from scipy.stats import rankdata

    values = []
    for code in [1] if probabilities.shape[1] == 2 else np.unique(y).tolist():
        positive = y == code
        if positive.any() and not positive.all():
            score, within = probabilities[:, code], np.empty(len(y))
            within[positive], within[~positive] = rankdata(score[positive]), rankdata(score[~positive])
            count = np.where(positive, positive.sum(), (~positive).sum())
            below = (rankdata(score) - within) / (len(y) - count)  # share of the other rows that score less
            ranked = np.where(positive, below, 1.0 - below)
            area = ranked[positive].mean()
            values.append(area + len(y) / count * (ranked - area))
    return np.mean(values, axis=0) if values else np.full(len(y), 0.5)


def row_qualities(
    measure: str, right: NDArray[np.bool_], y: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a value for each row, float64 (rows,), whose mean is the measure.

    Their standard deviation gives the measure's standard error, for the area under the curve by DeLong, DeLong and
    Clarke-Pearson (1988).
    """
    if measure == "accuracy":
        return right.astype(np.float64)
    if measure == "balanced-accuracy":
        counts = np.bincount(y, minlength=probabilities.shape[1])
        return np.asarray(right * (len(y) / ((counts > 0).sum() * counts[y])), dtype=np.float64)
    if measure == "auc":
        return _auc_rows(y, probabilities)
    return np.asarray(np.log(np.maximum(probabilities[np.arange(len(y)), y], _LEAST)))


def rare(y: NDArray[Any], classes: Sequence[str], share: float = 0.05) -> list[tuple[str, float]]:
    """Return the classes with less than a share of the rows, and their shares."""
    shares = np.bincount(np.asarray(y, dtype=np.int64), minlength=len(classes)) / max(len(y), 1)
    return [(name, float(have)) for name, have in zip(classes, shares, strict=True) if have < share]
