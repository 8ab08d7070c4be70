"""Compiled coordinate descent on an l1-penalised quadratic; ``.py_func`` is the reference implementation."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["coordinate_descent"]


@njit(cache=True, fastmath=False)  # type: ignore[untyped-decorator, unused-ignore]
def coordinate_descent(
    H: NDArray[np.float64], q: NDArray[np.float64], penalty: float, w: NDArray[np.float64], tol: float, max_sweeps: int
) -> int:
    """Minimise ``½ wᵀHw − qᵀw + penalty·‖w‖₁`` in place, from ``w``.

    Sweeps visit the nonzero coordinates until they converge, then all coordinates. The descent ends when a sweep over
    all coordinates changes no partial derivative by more than ``tol``.

    Args:
        H: float64 (p, p), symmetric, positive on the diagonal.
        q: float64 (p,).
        penalty: weight of the l1 norm.
        w: float64 (p,): the starting point; overwritten with the solution, which has exact zeros.
        tol: tolerance, in units of the partial derivatives.
        max_sweeps: most sweeps.

    Returns:
        The number of sweeps.
    """
    p = len(w)
    r = q.copy()
    for j in range(p):
        if w[j] != 0.0:
            for i in range(p):
                r[i] -= H[j, i] * w[j]
    everything = True
    for sweep in range(max_sweeps):
        moved = 0.0
        for j in range(p):
            old = w[j]
            if not everything and old == 0.0:
                continue
            z = r[j] + H[j, j] * old
            if z > penalty:
                new = (z - penalty) / H[j, j]
            elif z < -penalty:
                new = (z + penalty) / H[j, j]
            else:
                new = 0.0
            step = new - old
            if step != 0.0:
                w[j] = new
                for i in range(p):
                    r[i] -= H[j, i] * step
                moved = max(moved, abs(step) * H[j, j])
        if moved <= tol:
            if everything:
                return sweep + 1
            everything = True
        else:
            everything = False
    return max_sweeps
