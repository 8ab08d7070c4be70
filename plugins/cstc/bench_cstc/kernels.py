"""The compiled kernels of the block-coordinate descent; each one's reference implementation is its ``.py_func``.

Penalties are a list of groups of columns: group r has the weight ``v[r]`` and contains the columns t with r in
``rows[ptr[t]:ptr[t + 1]]``. With linear features a group is a feature (its encoded columns); with trees as columns it
is the set of trees that use a feature, or a single tree with its evaluation.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["group_squares", "leaf_descent"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def group_squares(beta: Floats, ptr: Ints, rows: Ints, groups: int) -> Floats:
    """Σ of squared weights in every group: float64 (groups,)."""
    total = np.zeros(groups)
    for t in range(len(beta)):
        if beta[t] != 0.0:
            square = beta[t] * beta[t]
            for e in range(ptr[t], ptr[t + 1]):
                total[rows[e]] += square
    return total


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def leaf_descent(
    H: Floats,
    h: Floats,
    rho: float,
    v: Floats,
    const: Floats,
    ptr: Ints,
    rows: Ints,
    beta: Floats,
    tiny: Floats,
    steps: int,
    tol: float,
) -> int:
    """Lemma 1 on a leaf: alternate closed-form auxiliary variables and weights (Eq. 15, 16), in place.

    A weight below ``tiny`` becomes 0 and stays 0; only the caller makes zero weights nonzero.

    Args:
        H: float64 (m, m): (2/n) XᵀΩX.
        h: float64 (m,): (2/n) XᵀΩy.
        rho: weight of the l1 norm.
        v: float64 (groups,): λ p c_r.
        const: float64 (groups,): squared weights of the group at other nodes of the path.
        ptr, rows: groups of each column.
        beta: float64 (m,): the start; overwritten with the result.
        tiny: float64 (m,).
        steps: maximum number of alternations.
        tol: the iteration ends when no weight, in units of ``tiny``/1e-4, changes by more.

    Returns:
        The number of alternations; ``steps`` if it did not converge.
    """
    m = len(beta)
    on = np.flatnonzero(beta)
    for step in range(steps):
        k = len(on)
        if k == 0:
            return step
        squares = group_squares(beta, ptr, rows, len(v))
        A = np.empty((k, k))
        b = np.empty(k)
        for i in range(k):
            t = on[i]
            b[i] = h[t]
            for j in range(k):
                A[i, j] = H[t, on[j]]
            gamma = rho / abs(beta[t])
            for e in range(ptr[t], ptr[t + 1]):
                r = rows[e]
                if v[r] > 0.0:
                    gamma += v[r] / np.sqrt(squares[r] + const[r])
            A[i, i] += gamma + 1e-10 * H[t, t] + 1e-300
        solved = np.linalg.solve(A, b)
        moved = 0.0
        alive = np.ones(k, dtype=np.bool_)
        for i in range(k):
            t = on[i]
            new = solved[i]
            moved = max(moved, abs(new - beta[t]) / tiny[t] * 1e-4)
            if abs(new) < tiny[t]:
                new = 0.0
                alive[i] = False
            beta[t] = new
        on = on[alive]
        if moved <= tol:
            return step + 1
    return steps if m else 0
