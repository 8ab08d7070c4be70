"""Binary l2 logistic regression on many feature subsets at once (EMSCO, section 2: the classifier of every stage)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .subset_models import SubsetFits, SubsetModels

__all__ = ["fit_logistic_subsets", "logistic_reference"]


def fit_logistic_subsets(
    X: ArrayLike,
    y: ArrayLike,
    masks: ArrayLike,
    *,
    C: float = 1.0,
    column_of_feature: Sequence[ArrayLike] | ArrayLike | None = None,
    threads: int | None = None,
) -> SubsetFits:
    """Fit a binary logistic regression on every subset of features in `masks`.

    Args:
        X: float64 (rows, columns).
        y: (rows,): labels 0 and 1, both present.
        masks: uint64 (m,): subsets, bit f is feature f; 0 is the intercept alone.
        C: inverse strength of the l2 penalty, as in scikit-learn.
        column_of_feature: see `subset_models.feature_index`.
        threads: number of threads; by default at most two. The result is bit-identical for any number.

    Raises:
        ValueError: an argument is malformed or out of range; the message names it.

    Source: EMSCO section 2, footnote 3; definition of the fit as in scikit-learn's LogisticRegression.
    """
    return SubsetModels(X, y, 2, C=C, column_of_feature=column_of_feature).fit(masks, threads=threads)


def logistic_reference(X: ArrayLike, y: ArrayLike, *, C: float = 1.0) -> NDArray[np.float64]:
    """NumPy reference implementation: coefficients float64 (1, 1 + d) of the fit on all d columns of X.

    The solver takes damped Newton steps from zero.
    """
    data = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.float64)
    design = np.column_stack([np.ones(data.shape[0]), data])
    penalty = np.full(design.shape[1], 1.0 / C)
    penalty[0] = 0.0
    theta = np.zeros(design.shape[1])

    def loss(point: NDArray[np.float64]) -> float:
        scores = design @ point
        return float(np.logaddexp(0.0, scores).sum() - labels @ scores + 0.5 * (penalty * point * point).sum())

    for _ in range(200):
        p = 1.0 / (1.0 + np.exp(-(design @ theta)))
        gradient = design.T @ (p - labels) + penalty * theta
        hessian = (design.T * (p * (1.0 - p))) @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        decrement = float(gradient @ step)
        t = 1.0
        while decrement > 1e-8 and loss(theta - t * step) > loss(theta) - 1e-4 * t * decrement and t > 1e-12:
            t *= 0.5
        theta = theta - t * step
        if decrement < 1e-24:
            break
    return theta[None, :]
