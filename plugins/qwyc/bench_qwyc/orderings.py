"""Pre-selected orders of base models (QWYC App. B): natural, random, individual MSE, greedy MSE.

The squared error compares the score with labels coded −1 and 1 (for K classes: 1 − 1/K and −1/K). For an averaged
ensemble, the score is the mean of the base models run. For a summed one, the labels are scaled by the factor with
which the full ensemble fits them best, because a score on the log-odds scale has no natural target. Both choices are
ours: the paper says only "MSE". All errors are computed from the Gram matrix of the scores, so that the greedy order
takes T² small steps instead of T² passes over the data.
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
    """A pre-selected order of the base models.

    Args:
        ordering: the kind of order.
        scores: (T, N) or (T, N, K): base scores.
        labels: int64 (N,): number of the output of each row's class (0 or 1 for one output).
        bias: (outputs,): start of the sums.
        rng: source of the random order.
        averaged: whether the ensemble is the mean of its base models.

    Returns:
        int64 (T,): base models in order; ties go to the earlier one.
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
        # Error of a mean: the sum is divided by the number of base models, and starts from zero.
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
    """Gram matrix of the scores, and their inner products with target and start, summed over blocks of rows."""
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
    """Greedy order: always add the base model with the least ‖S + f_t − y‖², or ‖(S + f_t) / r − y‖² if averaged."""
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
