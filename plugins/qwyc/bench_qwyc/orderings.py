"""Orders of base models chosen beforehand (App. B): natural, random, individual MSE, greedy MSE.

The squared error is that of the score against the labels coded −1 and 1 (for K classes: 1 − 1/K and −1/K). Where
base models are averaged it is the error of the mean of those run. Where they are added the labels are scaled by one
factor, the one with which the full ensemble fits them best, since a score on a log-odds scale has no target of its
own. Both are ours: the paper says only "MSE". All errors come from the Gram matrix of the scores, so that the greedy
order takes T² small steps and not T² passes over the data.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ordering", "make_order"]

Ordering = Literal["natural", "random", "individual-mse", "greedy-mse"]


def make_order(
    ordering: Ordering,
    scores: NDArray[Any],
    labels: NDArray[np.int64],
    bias: NDArray[Any],
    rng: np.random.Generator,
    *,
    averaged: bool = False,
) -> NDArray[np.int64]:
    """The order of the base models.

    Args:
        ordering: which one.
        scores: (T, N) or (T, N, K).
        labels: int64 (N,): outputs' class numbers (0 or 1 for one output).
        bias: (outputs,).
        rng: draws the random order.
        averaged: whether the ensemble is the mean of its base models.

    Returns:
        int64 (T,); ties go to the earlier base model.
    """
    models = len(scores)
    if ordering == "natural":
        return np.arange(models)
    if ordering == "random":
        return rng.permutation(models)
    target = _target(scores, labels)
    start = np.broadcast_to(bias if scores.ndim == 3 else bias[0], scores.shape[1:]).reshape(-1)
    flat = scores.reshape(models, -1)
    gram, with_target, with_start = _products(flat, target.reshape(-1), start)
    offset = with_start
    if averaged:
        # The error of a mean: scores are divided by how many there are, and the start is zero.
        unit = 1.0
    else:
        full = np.asarray(flat.sum(axis=0, dtype=np.float64)) + start
        unit = float((full @ target.reshape(-1)) / max(float(target.reshape(-1) @ target.reshape(-1)), 1e-300))
    slope = with_target * unit - offset  # <f_t, m y − b>
    norms = np.diag(gram)
    if ordering == "individual-mse":
        return np.argsort(norms - 2 * slope, kind="stable")
    return _greedy(gram, slope, averaged)


def _target(scores: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    if scores.ndim == 2:
        return np.where(labels == 1, 1.0, -1.0)
    classes = scores.shape[2]
    return np.asarray((labels[:, None] == np.arange(classes)) - 1.0 / classes, dtype=np.float64)


def _products(flat: Any, target: Any, start: Any) -> tuple[Any, Any, Any]:
    """Gram matrix of the scores and their products with target and start, summed over blocks."""
    models = len(flat)
    gram = np.zeros((models, models))
    with_target, with_start = np.zeros(models), np.zeros(models)
    for begin in range(0, flat.shape[1], 8192):
        block = np.asarray(flat[:, begin : begin + 8192], dtype=np.float64)
        gram += block @ block.T
        with_target += block @ target[begin : begin + 8192]
        with_start += block @ start[begin : begin + 8192]
    return gram, with_target, with_start


def _greedy(gram: Any, slope: Any, averaged: bool) -> NDArray[np.int64]:
    """Add the base model that leaves the least error: ‖S + f_t − y‖², or ‖(S + f_t) / r − y‖²."""
    models = len(slope)
    left = np.ones(models, dtype=bool)
    with_sum = np.zeros(models)  # <f_t, S>
    order = np.empty(models, dtype=np.int64)
    norms = np.diag(gram)
    for r in range(models):
        if averaged:
            gain = (norms + 2 * with_sum) / (r + 1) ** 2 - 2 * slope / (r + 1)
        else:
            gain = norms + 2 * with_sum - 2 * slope
        order[r] = int(np.where(left, gain, np.inf).argmin())
        left[order[r]] = False
        with_sum += gram[order[r]]
    return order
