"""Multinomial l2 logistic regression on many feature subsets at once (EMSCO, section 2; for Synthetic30)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .subset_models import SubsetFits, SubsetModels

__all__ = ["fit_multinomial_subsets", "multinomial_reference"]


def fit_multinomial_subsets(
    X: ArrayLike,
    y: ArrayLike,
    masks: ArrayLike,
    n_classes: int,
    *,
    C: float = 1.0,
    column_of_feature: Sequence[ArrayLike] | ArrayLike | None = None,
    threads: int | None = None,
) -> SubsetFits:
    """Fit a softmax regression with K >= 3 classes on every subset of features in `masks`.

    The penalty is 0.5 * ||W||^2 over all K class vectors, the K intercepts are free (scikit-learn >= 1.8). The
    class vectors and the intercepts sum to zero over the classes; scikit-learn's intercepts may differ from these
    by a constant, which changes no probability.

    Args and errors as in `logistic.fit_logistic_subsets`; n_classes: K, at least 3; every class occurs in y.
    """
    if n_classes < 3:
        raise ValueError(f"n_classes must be at least 3, got {n_classes}; two classes have their own fit")
    return SubsetModels(X, y, n_classes, C=C, column_of_feature=column_of_feature).fit(masks, threads=threads)


def multinomial_reference(X: ArrayLike, y: ArrayLike, n_classes: int, *, C: float = 1.0) -> NDArray[np.float64]:
    """The NumPy reference implementation: coefficients (K, 1 + d) on all d columns of X.

    The solver takes damped Newton steps in all K class vectors. Their Hessian is singular in one direction (a constant
    added to all intercepts); the least-norm step is taken, so intercepts sum to zero.
    """
    data = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.int64)
    design = np.column_stack([np.ones(data.shape[0]), data])
    width = design.shape[1]
    onehot = np.eye(n_classes)[labels]
    penalty = np.full((n_classes, width), 1.0 / C)
    penalty[:, 0] = 0.0
    theta = np.zeros((n_classes, width))

    def loss(point: NDArray[np.float64]) -> float:
        scores = design @ point.T
        top = scores.max(axis=1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        return float((log_total - scores[np.arange(labels.size), labels]).sum() + 0.5 * (penalty * point**2).sum())

    for _ in range(200):
        scores = design @ theta.T
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gradient = (p - onehot).T @ design + penalty * theta
        hessian = np.zeros((n_classes, width, n_classes, width))
        for k in range(n_classes):
            for other in range(n_classes):
                weight = p[:, k] * ((k == other) - p[:, other])
                hessian[k, :, other, :] = (design.T * weight) @ design
        flat = hessian.reshape(n_classes * width, -1) + np.diag(penalty.ravel())
        step = np.linalg.lstsq(flat, gradient.ravel(), rcond=1e-13)[0].reshape(theta.shape)
        decrement = float((gradient * step).sum())
        t = 1.0
        while decrement > 1e-8 and loss(theta - t * step) > loss(theta) - 1e-4 * t * decrement and t > 1e-12:
            t *= 0.5
        theta = theta - t * step
        if decrement < 1e-24:
            break
    return theta
