"""The L-BFGS step from a Cholesky factor equals the dense BFGS update of the inverse Hessian."""

from __future__ import annotations

import numpy as np
from bench_models.subsets.kernels_linalg import cholesky_inplace, quasi_newton_step
from hypothesis import given, settings
from hypothesis import strategies as st

MEMORY = 4


def positive_definite(rng, size):
    columns = rng.normal(size=(size, 2 * size))
    return columns @ columns.T


def make_moves(seed, size, count):
    """A Hessian, the quadratic's moves and changes of its gradient, and the moves as a ring of `MEMORY` rows."""
    rng = np.random.default_rng(seed)
    hessian = positive_definite(rng, size)
    moves = rng.normal(size=(count, size))
    bends = moves @ positive_definite(rng, size)
    rings = np.zeros((2, MEMORY, size + 3))
    inverse = np.zeros(MEMORY)
    for k in range(count):
        rings[0, k % MEMORY, :size], rings[1, k % MEMORY, :size] = moves[k], bends[k]
        inverse[k % MEMORY] = 1.0 / (moves[k] @ bends[k])
    return hessian, moves, bends, rings, inverse


def step(hessian, gradient, rings, inverse, count):
    size = len(gradient)
    factor = hessian.copy()
    cholesky_inplace(factor, size)
    out = np.zeros(size)
    quasi_newton_step(
        factor, size, gradient, rings[0].copy(), rings[1].copy(), inverse, count, np.zeros(MEMORY), np.zeros(size), out
    )
    return out


def bfgs_inverse(hessian, moves, bends):
    """The inverse Hessian after BFGS updates, oldest first (Nocedal & Wright 2006, eq. 6.17)."""
    inverse = np.linalg.inv(hessian)
    for move, bend in zip(moves, bends, strict=True):
        project = np.eye(len(move)) - np.outer(move, bend) / (move @ bend)
        inverse = project @ inverse @ project.T + np.outer(move, move) / (move @ bend)
    return inverse


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 7), count=st.integers(0, 7))
def test_the_step_is_that_of_the_last_bfgs_updates(seed, size, count):
    hessian, moves, bends, rings, inverse = make_moves(seed, size, count)
    gradient = np.random.default_rng(seed + 1).normal(size=size)
    expected = bfgs_inverse(hessian, moves[-MEMORY:], bends[-MEMORY:]) @ gradient
    np.testing.assert_allclose(
        step(hessian, gradient, rings, inverse, count), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
    )


def test_the_last_change_of_the_gradient_is_undone_by_the_last_move():
    hessian, moves, bends, rings, inverse = make_moves(0, 6, 6)
    np.testing.assert_allclose(step(hessian, bends[5], rings, inverse, 6), moves[5], rtol=1e-9)


def test_a_move_without_curvature_corrects_nothing():
    hessian, _, _, rings, inverse = make_moves(0, 5, 1)
    inverse[0] = 0.0
    gradient = np.arange(1.0, 6.0)
    np.testing.assert_allclose(
        step(hessian, gradient, rings, inverse, 1), np.linalg.solve(hessian, gradient), rtol=1e-9
    )
