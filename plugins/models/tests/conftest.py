"""Fixtures: `make_problem`, a problem built by hand; `least`, a minimiser for NumPy reference implementations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bench_core.testing.by_hand import make_problem

__all__ = ["make_problem"]


def least(
    theta: np.ndarray,
    loss: Callable[[np.ndarray], float],
    newton: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """Minimise a loss by damped Newton steps from theta; ``newton`` returns the gradient and the Newton step."""
    for _ in range(200):
        gradient, step = newton(theta)
        decrement = float((gradient * step).sum())
        t = 1.0
        while decrement > 1e-8 and loss(theta - t * step) > loss(theta) - 1e-4 * t * decrement and t > 1e-12:
            t *= 0.5
        theta = theta - t * step
        if decrement < 1e-24:
            break
    return theta


@pytest.fixture(name="least")
def fixture_least() -> Callable[..., np.ndarray]:
    """The function `least`, for tests that compare with a NumPy reference implementation."""
    return least
