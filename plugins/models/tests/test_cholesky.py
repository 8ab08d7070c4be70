"""The Cholesky factor and its solutions equal NumPy's, whether or not the size is a multiple of the kernels' blocks."""

from __future__ import annotations

import numpy as np
from bench_models.subsets.kernels_linalg import cholesky_inplace, cholesky_solve
from hypothesis import example, given, settings
from hypothesis import strategies as st


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 30))
@example(seed=0, size=203)
def test_a_factor_and_its_solution_equal_numpys(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(size, 2 * size))
    matrix, rhs = columns @ columns.T, rng.normal(size=size)
    factor = np.full((size + 2, size + 3), np.nan)
    factor[:size, :size] = matrix
    cholesky_inplace(factor, size)
    out = np.full(size + 2, np.nan)
    cholesky_solve(factor, size, rhs, out)
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(np.tril(factor[:size, :size], -1), np.tril(lower, -1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(1.0 / np.diag(factor[:size, :size]), np.diag(lower), rtol=1e-9)
    np.testing.assert_allclose(matrix @ out[:size], rhs, atol=1e-8 * np.linalg.cond(matrix))
    untouched = factor[size:], factor[:, size:], out[size:]
    assert all(np.isnan(values).all() for values in untouched)
