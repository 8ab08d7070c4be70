"""l2 logistic regressions on feature subsets, for two and for more classes: inputs, fits, probabilities.

A *subset* is a set of features as in `sets`: one uint64 in which bit f is feature f, or several words for 64 features
and more. A feature may own several columns of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench_models.subsets.sets import Sets, all_features, check_sets, members
from bench_models.threads import resolve_threads, run_ranges

__all__ = [
    "SubsetFits",
    "SubsetModels",
    "check_labels",
    "check_matrix",
    "design_lines",
    "feature_index",
    "stage_probabilities",
    "subset_columns",
]

# Expand the loss at this fraction of the full fit: 0.6 to 0.7 need a fifth fewer steps than 0 or 1.
_EXPANSION = 0.65
_MAX_STEPS = 200
_BLOCK = 64


@dataclass(frozen=True)
class SubsetFits:
    """Models fitted on a batch of subsets.

    Attributes:
        masks: the m subsets.
        coefficients: float64 (m, 1, 1 + columns) for two classes, (m, K, 1 + columns) for K >= 3; intercept first,
            zeros for columns outside the subset.
        steps: int64 (m,): number of Newton steps.
        converged: bool (m,): whether the solver converged.
        chosen: bool (m, columns): the columns of each subset.
    """

    masks: Sets
    coefficients: NDArray[np.float64]
    steps: NDArray[np.int64]
    converged: NDArray[np.bool_]
    chosen: NDArray[np.bool_]


def feature_index(columns: int, column_of_feature: Sequence[ArrayLike] | ArrayLike | None) -> NDArray[np.int64]:
    """Feature that owns each column, int64 (columns,).

    Args:
        columns: number of columns of X.
        column_of_feature: None (one column per feature), one list of columns per feature, or the feature of each column
            as a flat integer array.

    Raises:
        ValueError: a column belongs to no feature or to two, or does not exist; or the array has a wrong length.
    """
    if column_of_feature is None:
        owner = np.arange(columns, dtype=np.int64)
    else:
        entries = list(column_of_feature)  # type: ignore[arg-type]
        if entries and all(np.ndim(entry) == 0 for entry in entries):
            owner = np.asarray(entries, dtype=np.int64)
            if owner.shape != (columns,):
                raise ValueError(f"column_of_feature names the feature of {owner.size} columns, X has {columns}")
        else:
            owner = np.full(columns, -1, dtype=np.int64)
            for feature, members in enumerate(entries):
                for column in np.asarray(members, dtype=np.int64):
                    if not 0 <= column < columns:
                        raise ValueError(f"column_of_feature: feature {feature} owns column {column} of {columns}")
                    if owner[column] >= 0:
                        raise ValueError(
                            f"column_of_feature: features {owner[column]} and {feature} own column {column}"
                        )
                    owner[column] = feature
    if owner.size and owner.min() < 0:
        raise ValueError(f"column_of_feature: every column needs a feature, got {owner}")
    return owner


def subset_columns(mask: int | Sets, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns of X that a subset (an integer, or its words) uses, ascending."""
    return np.flatnonzero(members(np.asarray(mask, dtype=np.uint64)[None], owner)[0])


def stage_probabilities(X: ArrayLike, coefficients: ArrayLike) -> NDArray[np.float64]:
    """Class probabilities of one model, (rows, classes).

    Args:
        X: (rows, d): exactly the columns of the coefficients.
        coefficients: (1, 1 + d) for two classes or (K, 1 + d) for K >= 3, intercept first.

    A row's result does not depend on the other rows, because columns are added one after the other, in order.

    Raises:
        ValueError: the shapes do not match.
    """
    data = np.asarray(X, dtype=np.float64)
    weights = np.asarray(coefficients, dtype=np.float64)
    if data.ndim != 2 or weights.ndim != 2 or weights.shape[1] != data.shape[1] + 1:
        raise ValueError(f"X of shape {data.shape} does not fit coefficients of shape {weights.shape}")
    scores = np.repeat(weights[:, :1], data.shape[0], axis=1)
    for column in range(data.shape[1]):
        scores += weights[:, column + 1, None] * np.ascontiguousarray(data[:, column])
    if weights.shape[0] == 1:
        positive = 1.0 / (1.0 + np.exp(np.clip(-scores[0], -708.0, 708.0)))
        return np.column_stack([1.0 - positive, positive])
    scores = np.exp(scores - scores.max(axis=0))
    return np.ascontiguousarray((scores / scores.sum(axis=0)).T)


def design_lines(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Design of the kernels: ones, then the columns of X as contiguous lines, padded with zeros to a multiple of 8."""
    rows, columns = X.shape
    design = np.zeros((columns + 1, -(-max(rows, 1) // 8) * 8))
    design[0, :rows] = 1.0
    design[1:, :rows] = X.T
    return design


def check_matrix(name: str, X: ArrayLike) -> NDArray[np.float64]:
    """X as float64 (rows, columns).

    Raises:
        ValueError: it is not a finite matrix with at least one row; the message contains `name`.
    """
    data = np.asarray(X, dtype=np.float64)
    if data.ndim != 2 or data.shape[0] == 0:
        raise ValueError(f"{name} must be a matrix with at least one row, got shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError(f"{name} has values that are not finite")
    return data


def check_labels(name: str, y: ArrayLike, rows: int, n_classes: int, lowest: int = 0) -> NDArray[np.int64]:
    """Labels as int64 (rows,).

    Raises:
        ValueError: the shape is wrong, or a code is not in lowest..n_classes-1; the message contains `name`.
    """
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise ValueError(f"{name} must have shape ({rows},), got {labels.shape}")
    codes = labels.astype(np.int64)
    if (codes != labels).any() or codes.min() < lowest or codes.max() >= n_classes:
        raise ValueError(f"{name} must hold integer codes in {lowest}..{n_classes - 1}")
    return codes


class SubsetModels:
    """l2 logistic regressions on feature subsets of one training matrix.

    Minimises 0.5 * ||w||^2 + C * (sum of log losses), intercepts unpenalised: scikit-learn's LogisticRegression(C).
    Binary for two classes, multinomial for more. The fit of a subset is a pure function of that subset.

    Args:
        X: (rows, columns), encoded and standardised.
        y: (rows,): codes 0..n_classes-1, each present.
        n_classes: number of classes, at least 2.
        C: inverse strength of the penalty.
        column_of_feature: see `feature_index`.

    Raises:
        ValueError: an argument is malformed or out of range, or a class has no training row.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        n_classes: int = 2,
        *,
        C: float = 1.0,
        column_of_feature: Sequence[ArrayLike] | ArrayLike | None = None,
    ) -> None:
        from bench_models.subsets.kernels_regression import quadratic_model

        if n_classes < 2:
            raise ValueError(f"n_classes must be at least 2, got {n_classes}")
        if not (np.isfinite(C) and C > 0.0):
            raise ValueError(f"C must be positive and finite, got {C}")
        data = check_matrix("X", X)
        labels = check_labels("y", y, data.shape[0], n_classes)
        missing = np.flatnonzero(np.bincount(labels, minlength=n_classes) == 0)
        if missing.size:
            raise ValueError(f"y has no training row of class {missing.tolist()}: its intercept would be unbounded")
        self.n_classes = int(n_classes)
        self.owner = feature_index(data.shape[1], column_of_feature)
        self.n_features = int(self.owner.max()) + 1 if self.owner.size else 0
        self._rows = data.shape[0]
        self._ridge = 1.0 / float(C)
        self._design = design_lines(data)
        outputs = 1 if n_classes == 2 else n_classes
        self._target = np.zeros((outputs, self._design.shape[1]))
        if outputs == 1:
            self._basis = np.ones((1, 1))
            self._target[0, : self._rows] = labels
        else:
            self._basis = _zero_sum_basis(n_classes)
            self._target[labels, np.arange(self._rows)] = 1.0
        self._pull, self._hessian = np.zeros(0), np.zeros((0, 0))
        coefficients = self.fit(all_features(self.n_features), threads=1).coefficients[0]
        self._pull, self._hessian = quadratic_model(
            self._design, self._target, self._basis, _EXPANSION * (self._basis.T @ coefficients).ravel(), self._ridge
        )

    def work(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """A count of the work to fit each of m subsets, int64 (m,), by their columns, bool (m, columns).

        It is about the number of multiplications for one Hessian, its Cholesky factor and five gradients. It depends
        only on sizes, so it is the same on every machine, unlike seconds or the steps taken.
        """
        size = chosen.sum(axis=1, dtype=np.int64) + 1
        axes = self._basis.shape[1]
        products = self._rows * axes * size * ((axes + 1) * size + 20) // 2
        return np.asarray(products + (axes * size) ** 3 // 3)

    @property
    def most_work(self) -> int:
        """The work to fit the set of all features."""
        return int(self.work(np.ones((1, len(self.owner)), dtype=np.bool_))[0])

    def fit(self, masks: ArrayLike, *, threads: int | None = None) -> SubsetFits:
        """Fit the m subsets `masks`; the result reports convergence per subset.

        Raises:
            ValueError: a subset has a feature that X does not have.
        """
        from bench_models.subsets.kernels_regression import fit_range

        subsets = check_sets(masks, self.n_features)
        chosen = members(subsets, self.owner)
        outputs, lines = self._basis.shape[0], self._design.shape[0]
        coefficients = np.empty((len(subsets), outputs, lines))
        steps = np.zeros(len(subsets), dtype=np.int64)

        def work(start: int, stop: int) -> Any:
            return fit_range(
                self._design, self._rows, self._target, self._basis, chosen, self._ridge,
                self._pull, self._hessian, _MAX_STEPS, start, stop, coefficients, steps,
            )  # fmt: skip

        run_ranges(work, len(subsets), resolve_threads(threads), _BLOCK)
        return SubsetFits(subsets, coefficients, np.abs(steps), steps > 0, chosen)


def _zero_sum_basis(classes: int) -> NDArray[np.float64]:
    """Helmert's orthonormal basis (classes, classes - 1) of the vectors that sum to zero."""
    basis = np.zeros((classes, classes - 1))
    for a in range(classes - 1):
        basis[: a + 1, a] = 1.0
        basis[a + 1, a] = -(a + 1.0)
        basis[:, a] /= np.sqrt((a + 1.0) * (a + 2.0))
    return basis
