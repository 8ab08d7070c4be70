"""Fitted linear models whose answer for a row does not depend on other rows.

A matrix product may add in another order for another number of rows, which can move a probability across the confidence
threshold. Here a row's sum always runs over the columns in ascending order, by elementwise operations, so a row's
answer has the same bits in any batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClassModel", "ScoreModel", "linear_scores"]


def linear_scores(
    X: NDArray[np.float64],
    columns: NDArray[np.int64],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    names: tuple[str, ...],
) -> NDArray[np.float64]:
    """``intercept + coef · x`` of every row, summed in the columns' order.

    Args:
        X: float64 (rows, all columns).
        columns: int64 (c,): the columns to read.
        coef: float64 (outputs, c).
        intercept: float64 (outputs,).
        names: the feature of each of the columns, for the message.

    Returns:
        float64 (outputs, rows), C-contiguous.

    Raises:
        ValueError: a value that is read is missing; the message names the feature.
    """
    read = np.ascontiguousarray(X[:, columns].T)
    scores = np.repeat(intercept[:, None], len(X), axis=1)
    for j in range(len(columns)):
        scores += coef[:, j, None] * read[j]
    if np.isnan(scores).any():
        missing = np.flatnonzero(np.isnan(read).any(axis=1))
        if len(missing):
            raise ValueError(missing_message([names[j] for j in missing]))
    return scores


def missing_message(names: list[str]) -> str:
    """The error message for features with missing values."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(map(repr, unique[:5])) + (f" and {len(unique) - 5} more" if len(unique) > 5 else "")
    return (
        f"a linear model cannot read missing values: feature{'s' if len(unique) > 1 else ''} {shown} "
        "hold NaN; choose an encoding that imputes (encode = 'ordinal', 'onehot' or 'impute')"
    )


@dataclass(frozen=True, eq=False)
class ClassModel:
    """Class probabilities, linear in some columns.

    Attributes:
        columns: int64 (c,), ascending; none for a constant.
        coef: float64 (m, c): one row (the second class's logit) for two trained classes, one per class for more.
        intercept: float64 (m,).
        classes: int64 (trained,): the classes seen in training; every other class gets probability 0.
        n_classes: width of the answer.
        names: the feature of each of the columns.
        constant: float64 (n_classes,): the answer of a model that reads nothing, exactly; None otherwise.
        iterations: number of iterations of the solver; 0 for a constant.
        converged: whether the solver reached its tolerance.
    """

    columns: NDArray[np.int64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    classes: NDArray[np.int64]
    n_classes: int
    names: tuple[str, ...]
    constant: NDArray[np.float64] | None = None
    iterations: int = 0
    converged: bool = True

    def probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class probabilities, row by row.

        Args:
            X: float64 (rows, all columns of the problem); only `columns` are read.

        Returns:
            float64 (rows, n_classes), each row summing to 1.

        Raises:
            ValueError: a value that is read is missing.
        """
        if self.constant is not None:
            return np.repeat(self.constant[None, :], len(X), axis=0)
        scores = linear_scores(X, self.columns, self.coef, self.intercept, self.names)
        shares = _two_classes(scores[0]) if len(self.classes) == 2 else _softmax(scores)
        table = np.zeros((len(X), self.n_classes))
        table[:, self.classes] = shares.T
        return table

    def exported(self) -> dict[str, Any]:
        """The model as JSON values, in the form that ``bench fit --export`` writes."""
        if self.constant is not None:
            return {"kind": "constant", "probabilities": self.constant.tolist()}
        return {"kind": "linear", **_arrays(self), "classes": self.classes.tolist(), "n_classes": self.n_classes}


def _two_classes(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both probabilities of a logit, each computed without subtraction: float64 (2, rows)."""
    small = np.exp(-np.abs(score))
    likelier, other = 1.0 / (1.0 + small), small / (1.0 + small)
    second = score >= 0
    return np.stack([np.where(second, other, likelier), np.where(second, likelier, other)])


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(axis=0))
    total = np.zeros(scores.shape[1])
    for row in weights:
        total += row
    shares: NDArray[np.float64] = weights / total
    return shares


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """A real number, linear in some columns: for regression and ranking.

    Attributes:
        columns: int64 (c,), ascending.
        coef: float64 (c,).
        intercept: the answer where every column is 0.
        names: the feature of each of the columns.
    """

    columns: NDArray[np.int64]
    coef: NDArray[np.float64]
    intercept: float
    names: tuple[str, ...]

    def score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of every row; float64 (rows,). Raises like `ClassModel.probabilities`."""
        intercept = np.array([self.intercept])
        score: NDArray[np.float64] = linear_scores(X, self.columns, self.coef[None, :], intercept, self.names)[0]
        return score

    def exported(self) -> dict[str, Any]:
        """The model as JSON values, in the form that ``bench fit --export`` writes."""
        return {"kind": "linear", **_arrays(self), "classes": None}


def _arrays(model: ClassModel | ScoreModel) -> dict[str, Any]:
    """The columns, the coefficients of each output, and the intercepts, as JSON values."""
    return {
        "columns": model.columns.tolist(),
        "coef": np.atleast_2d(model.coef).tolist(),
        "intercept": np.atleast_1d(model.intercept).tolist(),
    }
