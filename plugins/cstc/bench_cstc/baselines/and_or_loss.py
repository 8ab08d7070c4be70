"""The loss of an AND-OR cascade and its minimisation (Dundar & Bi 2007; CSTC §6.3).

Rows x_i with labels y_i = ±1, stages k with linear scores s_ik = x_i·w_k + b_k, hinge h(z) = max(0, 1 − z)². A positive
row must pass every stage (AND): its loss is the largest over the stages, max_k h(s_ik). A negative one may be rejected
at any (OR): its loss is the smallest, min_k h(−s_ik). Since h decreases, both are h(y_i · min_k s_ik), so the smallest
score is trained. The minimum is smoothed, so that all stages have a gradient::

    m_i = −τ log( (1/K) Σ_k exp(−s_ik / τ) )        min_k s_ik ≤ m_i ≤ min_k s_ik + τ log K

    F(w, b) = (1/n) Σ_i ω_i h(y_i m_i) + Σ_k Σ_t v_t |w_kt|,   w_kt = 0 where stage k may not use column t.

F is minimised by proximal gradient with momentum. A step that would raise F is repeated without momentum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["AndOr", "Fit", "smooth_min"]

Floats = NDArray[np.float64]


def smooth_min(scores: Floats, temperature: float) -> tuple[Floats, Floats]:
    """The smoothed minimum over columns, and its gradient.

    Args:
        scores: float64 (rows, stages).
        temperature: τ > 0.

    Returns:
        float64 (rows,) and float64 (rows, stages), whose rows sum to 1.
    """
    low = scores.min(axis=1, keepdims=True)
    parts = np.exp((low - scores) / temperature)
    total = parts.sum(axis=1, keepdims=True)
    smooth = low - temperature * np.log(total / scores.shape[1])
    return smooth[:, 0], parts / total


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted stages.

    Attributes:
        weights: float64 (stages, columns).
        bias: float64 (stages,).
        values: F after each step, never rising.
        converged: whether the last step without momentum lowered F by at most the tolerance, or not at all.
    """

    weights: Floats
    bias: Floats
    values: list[float]
    converged: bool


@dataclass(frozen=True, eq=False)
class AndOr:
    """The optimisation problem.

    Attributes:
        X: float64 (rows, columns), on one scale.
        y: float64 (rows,): ±1.
        omega: float64 (rows,): weight of each row.
        allowed: bool (stages, columns).
        v: float64 (columns,): l1 weight of each column.
        temperature: τ > 0.
    """

    X: Floats
    y: Floats
    omega: Floats
    allowed: NDArray[np.bool_]
    v: Floats
    temperature: float

    def scores(self, weights: Floats, bias: Floats) -> Floats:
        """float64 (rows, stages)."""
        # One product for each stage: in a product for all stages, BLAS may round equal columns differently.
        return np.stack([self.X @ weight for weight in weights], axis=1) + bias

    def loss(self, weights: Floats, bias: Floats) -> tuple[float, Floats, Floats]:
        """The smooth part of F, and its gradients: float64 (stages, columns), (stages,)."""
        smooth, share = smooth_min(self.scores(weights, bias), self.temperature)
        slack = np.maximum(0.0, 1.0 - self.y * smooth)
        rows = len(self.y)
        value = float(self.omega @ np.square(slack)) / rows
        pull = (-2.0 / rows * self.omega * self.y * slack)[:, None] * share
        slope = np.stack([each @ self.X for each in np.ascontiguousarray(pull.T)])
        return value, np.where(self.allowed, slope, 0.0), pull.sum(axis=0)

    def penalty(self, weights: Floats) -> float:
        """Σ v |w|."""
        return float((np.abs(weights) @ self.v).sum())

    def value(self, weights: Floats, bias: Floats) -> float:
        """F."""
        return self.loss(weights, bias)[0] + self.penalty(weights)

    def minimise(self, weights: Floats, bias: Floats, max_iter: int, tol: float) -> Fit:
        """Descend from a start.

        Args:
            weights, bias: float64 (stages, columns), (stages,).
            max_iter: maximum number of steps.
            tol: the descent ends when a step without momentum lowers F by at most this share of F's start value.
        """
        curvature = 1.0
        at, at_bias = weights, bias
        ahead, ahead_bias, momentum = at, at_bias, 1.0
        values = [self.value(at, at_bias)]
        converged = False
        for _ in range(max_iter):
            base, slope, slope_bias = self.loss(ahead, ahead_bias)
            while True:
                new, new_bias = self._step(ahead, ahead_bias, slope, slope_bias, curvature)
                move, move_bias = new - ahead, new_bias - ahead_bias
                smooth = self.loss(new, new_bias)[0]
                reach = float((move * move).sum() + move_bias @ move_bias)
                bound = base + float((slope * move).sum() + slope_bias @ move_bias) + 0.5 * curvature * reach
                if smooth <= bound + 1e-12 * abs(base) or curvature > 1e16:
                    break
                curvature *= 2.0
            value = smooth + self.penalty(new)
            plain = momentum == 1.0
            if value > values[-1]:
                if plain:
                    converged = True
                    break
                ahead, ahead_bias, momentum = at, at_bias, 1.0
                continue
            fall = values[-1] - value
            after = (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
            push = (momentum - 1.0) / after
            ahead, ahead_bias = new + push * (new - at), new_bias + push * (new_bias - at_bias)
            at, at_bias, momentum = new, new_bias, after
            values.append(value)
            curvature /= 1.1
            if fall <= tol * max(values[0], 1e-300):
                if plain:
                    converged = True
                    break
                ahead, ahead_bias, momentum = at, at_bias, 1.0
        return Fit(at, at_bias, values, converged)

    def _step(
        self, weights: Floats, bias: Floats, slope: Floats, slope_bias: Floats, curvature: float
    ) -> tuple[Floats, Floats]:
        moved = weights - slope / curvature
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - self.v / curvature, 0.0)
        return np.where(self.allowed, shrunk, 0.0), bias - slope_bias / curvature
