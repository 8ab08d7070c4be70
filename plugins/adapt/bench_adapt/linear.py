"""ADAPT-LIN: a linear cheap model and a linear gate that share a group-sparse choice of features (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench_models.columns import divisors
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["LinearFitter", "LinearPair"]

_STEPS, _TOLERANCE = 300, 1e-6


@dataclass(frozen=True, eq=False)
class LinearPair:
    """A fitted pair.

    Attributes:
        mean, spread: float64 (columns,): for standardising.
        weights: float64 (columns, outputs + 1): those of the cheap model, then of the gate.
        intercept: float64 (outputs + 1,).
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @property
    def columns(self) -> NDArray[np.bool_]:
        """Columns that are read: bool (columns,)."""
        return np.asarray(self.weights.any(axis=1))

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the cheap model and of the gate: float64 (rows, outputs + 1)."""
        read = self.columns
        Z = (X[:, read] - self.mean[read]) / self.spread[read]
        # einsum, not BLAS: a row's sum must not depend on its batch.
        return np.asarray(np.einsum("ij,jk->ik", Z, self.weights[read]) + self.intercept)


class LinearFitter:
    """Fits pairs by accelerated proximal gradient steps; each fit starts where the last one ended.

    Minimises the mean of (1 − q) (ℓ(f1) + log(1 + e^g)) + q log(1 + e^{−g}) plus γ Σ_f c_f ‖w_f‖, where w_f are the
    weights of a feature's columns in both models and c_f its price as a share of all.

    Args:
        problem: its training part.
        price: float64 (features,): c.
        gamma: γ.
    """

    def __init__(self, problem: Problem, price: NDArray[np.float64], gamma: float) -> None:
        X = problem.train.X
        self.mean, spread = X.mean(axis=0), X.std(axis=0)
        self.spread = divisors(self.mean, spread)
        self.Z, self.y = (X - self.mean) / self.spread, problem.train.y
        self.classes = problem.n_classes
        width = 1 if self.classes == 2 else self.classes
        self.penalty, self.feature = gamma * price, problem.feature_of_column
        self.weights = np.zeros((X.shape[1], width + 1))
        self.intercept = np.zeros(width + 1)
        # The Hessian of each output is at most 1/2 (softmax) times the Gram matrix of the rows with an intercept.
        gram = float(np.linalg.norm(np.column_stack([self.Z, np.ones(len(X))]), 2)) ** 2 / max(len(X), 1)
        self.step = 1.0 / max(0.5 * gram, 1e-9)

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        weights, intercept = self.weights, self.intercept
        ahead, ahead_intercept, speed = weights, intercept, 1.0
        for _ in range(_STEPS):
            slope = gradients(self.Z @ ahead + ahead_intercept, self.y, q) / len(q)
            new = self._shrunk(ahead - self.step * (self.Z.T @ slope))
            new_intercept = ahead_intercept - self.step * slope.sum(axis=0)
            faster = (1.0 + np.sqrt(1.0 + 4.0 * speed * speed)) / 2.0
            push = (speed - 1.0) / faster
            change = max(np.abs(new - weights).max(initial=0.0), np.abs(new_intercept - intercept).max())
            ahead, ahead_intercept = new + push * (new - weights), new_intercept + push * (new_intercept - intercept)
            weights, intercept, speed = new, new_intercept, faster
            if change < _TOLERANCE:
                break
        self.weights, self.intercept = weights, intercept
        return np.asarray(self.Z @ weights + intercept)

    def _shrunk(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The proximal operator of the group norm."""
        size = np.sqrt(np.bincount(self.feature, (weights**2).sum(axis=1), minlength=len(self.penalty)))
        kept = np.maximum(1.0 - self.step * self.penalty / np.maximum(size, 1e-300), 0.0)
        return weights * kept[self.feature][:, None]

    def pair(self) -> LinearPair:
        """The pair that was fitted last."""
        return LinearPair(self.mean, self.spread, self.weights, self.intercept)


def gradients(outputs: NDArray[np.float64], y: NDArray[np.int64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of each row's loss by the outputs: float64 (rows, outputs + 1)."""
    scores, gate = outputs[:, :-1], outputs[:, -1]
    slope = np.empty_like(outputs)
    if scores.shape[1] == 1:
        slope[:, 0] = (1 - q) * (1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -500, 500))) - y)
    else:
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope[:, :-1] = shifted / shifted.sum(axis=1, keepdims=True)
        slope[np.arange(len(y)), y] -= 1.0
        slope[:, :-1] *= (1 - q)[:, None]
    slope[:, -1] = 1.0 / (1.0 + np.exp(-np.clip(gate, -500, 500))) - q
    return slope
