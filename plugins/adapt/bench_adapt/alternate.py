"""The alternating minimisation: first the shares of rows that go on, then the cheap model and gate for these.

Nan and Saligrama, Adaptive classification for prediction under a budget, NIPS 2017, §3. With q_i the probability that
row i goes on to the accurate model, the objective is the mean over rows of

    (1 − q_i) A_i + q_i B_i − H(q_i),
    A_i = ℓ(f1(x_i), y_i) + log(1 + e^{g(x_i)}),    B_i = ℓ0_i + log(1 + e^{−g(x_i)}),

plus γ times the price of the features that f1 or the gate g reads, subject to mean q ≤ P_full. The logarithms of the
gate and the entropy H are the Kullback-Leibler divergence of q from the gate's probability.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fit", "alternate", "log_loss", "objective", "shares", "softplus"]

_LEAST = 1e-12


class Fit(Protocol):
    """Fit both models for given shares, and return their outputs: float64 (rows, outputs + 1), the gate's last."""

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]: ...


def softplus(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 + e^v), element by element."""
    return np.asarray(np.maximum(values, 0.0) + np.log1p(np.exp(-np.abs(values))))


def log_loss(scores: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log loss of each row, float64 (rows,), of scores (rows, 1) of the second class, or one per class."""
    if scores.shape[1] == 1:
        return softplus(np.where(y == 1, -scores[:, 0], scores[:, 0]))
    most = scores.max(axis=1)
    own = scores[np.arange(len(y)), y]
    return np.asarray(most + np.log(np.exp(scores - most[:, None]).sum(axis=1)) - own)


def _sides(
    outputs: NDArray[np.float64], y: NDArray[np.int64], accurate: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    gate = outputs[:, -1]
    return log_loss(outputs[:, :-1], y) + softplus(gate), accurate + softplus(-gate)


def shares(A: NDArray[np.float64], B: NDArray[np.float64], p_full: float) -> NDArray[np.float64]:
    """Return the q of least objective for given losses: float64 (rows,).

    q_i = 1 / (1 + e^{B_i − A_i + β}), with the least β ≥ 0 at which the mean of q is at most ``p_full`` (§3.1).

    Args:
        A, B: float64 (rows,), see the module.
        p_full: largest mean of q, above 0.
    """

    def at(beta: float) -> NDArray[np.float64]:
        return np.exp(-softplus(B - A + beta))

    if at(0.0).mean() <= p_full:
        return at(0.0)
    low, high = 0.0, 1.0
    while at(high).mean() > p_full:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if at(middle).mean() > p_full else (low, middle)
    return at(high)


def objective(
    outputs: NDArray[np.float64], y: NDArray[np.int64], accurate: NDArray[np.float64], q: NDArray[np.float64]
) -> float:
    """Return the objective without the prices of features."""
    A, B = _sides(outputs, y, accurate)
    entropy = -q * np.log(np.maximum(q, _LEAST)) - (1 - q) * np.log(np.maximum(1 - q, _LEAST))
    return float(((1 - q) * A + q * B - entropy).mean())


def alternate(
    fit: Fit,
    y: NDArray[np.int64],
    accurate: NDArray[np.float64],
    start: NDArray[np.float64],
    p_full: float,
    rounds: int,
) -> NDArray[np.float64]:
    """Alternate between the shares and the two models; return the outputs of the last fit, float64 (rows, outputs + 1).

    Args:
        fit: fits the two models.
        y: int64 (rows,).
        accurate: float64 (rows,): log losses ℓ0 of the accurate model.
        start: float64 (rows,): log losses of a model that reads nothing, from which the first shares are computed.
        p_full: largest mean share of rows that go on.
        rounds: number of fits.
    """
    q = shares(start, accurate, p_full)
    outputs = fit(q)
    for _ in range(rounds - 1):
        q = shares(*_sides(outputs, y, accurate), p_full)
        outputs = fit(q)
    return outputs
