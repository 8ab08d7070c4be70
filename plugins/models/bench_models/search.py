"""Choose C and γ of a support vector machine: a grid, then Bayesian optimisation within its range (CSTC §6.7)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["expected_improvement", "search"]

Floats = NDArray[np.float64]

_CANDIDATES = 512


def search(
    error: Callable[[float, float], float],
    C: Sequence[float],
    gamma: Sequence[float],
    rounds: int,
    rng: np.random.Generator,
) -> list[tuple[float, float, float]]:
    """Try every C × γ, then ``rounds`` more, each where the expected improvement is largest.

    A round fits a Gaussian process (Matérn 5/2, noise fitted) to the errors over (ln C, ln γ), scaled to the
    grid's range, and takes the best of 512 random points of that range.

    Args:
        error: the function to minimise.
        C, gamma: the grid; a parameter with a single value is fixed.
        rounds: number of evaluations after the grid.
        rng: source of the random points.

    Returns:
        (C, γ, error) in the order tried.
    """
    tried = [(c, g, error(c, g)) for c in C for g in gamma]
    low = np.log([min(C), min(gamma)])
    span = np.log([max(C), max(gamma)]) - low
    if not (span > 0).any():
        return tried
    for _ in range(rounds):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        at = (np.log([[c, g] for c, g, _ in tried]) - low) / np.where(span > 0, span, 1.0)
        values = np.array([e for _, _, e in tried])
        kernel = ConstantKernel(1.0) * Matern(0.3, nu=2.5) + WhiteKernel(1e-3, (1e-6, 1.0))
        model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        points = rng.random((_CANDIDATES, 2)) * (span > 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(at, values)
            mean, deviation = model.predict(points, return_std=True)
        best = points[int(np.argmax(expected_improvement(mean, deviation, float(values.min()))))]
        c, g = np.exp(low + best * span)
        tried.append((float(c), float(g), error(float(c), float(g))))
    return tried


def expected_improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """E[max(0, best − value)] for normal values; float64, of the shape of ``mean``."""
    from scipy.stats import norm

    safe = np.maximum(deviation, 1e-12)
    u = (best - mean) / safe
    return np.asarray((best - mean) * norm.cdf(u) + safe * norm.pdf(u))
