"""One classifier without children: the convex problem of Eq. 14, solved on a growing set of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_cstc.kernels import group_squares, leaf_descent
from bench_cstc.penalty import Penalty

__all__ = ["Leaf", "scale_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TURNS = 300
_ROUNDS = 25


def scale_of(X: Floats, y: Floats) -> Floats:
    """A natural size of a weight on each column: std(y) / std(column), inf for a constant column; (columns,)."""
    spread = X.std(axis=0)
    level = np.abs(X).max(axis=0, initial=0.0)
    constant = spread <= 1e-12 * np.maximum(level, 1e-300)
    unit = float(y.std()) or 1.0
    return np.where(constant, np.inf, unit / np.where(constant, 1.0, spread))


class Leaf:
    """Minimises ``(1/n) Σ ω_i (x_i β + b − y_i)² + ρ‖β‖₁ + Σ_r v_r sqrt(S_r(β) + const_r)`` over β and b.

    Args:
        X: float64 (n, m).
        y: float64 (n,).
        omega: float64 (n,): weight of each row's loss.
        rho: ρ.
        v: float64 (groups,): λ p^k c_r.
        const: float64 (groups,): squared weights of each group elsewhere on the path.
        penalty: groups of columns.
        scale: float64 (m,), from `scale_of`: weights below 1e-4 of it are 0; columns where it is inf are left out.
        intercept: whether b is free (else 0).
        allowed: int64: the columns that may have weight; all when None.
    """

    def __init__(
        self,
        X: Floats,
        y: Floats,
        omega: Floats,
        rho: float,
        v: Floats,
        const: Floats,
        penalty: Penalty,
        scale: Floats,
        intercept: bool = True,
        allowed: Ints | None = None,
    ) -> None:
        self.X, self.y, self.omega = X, y, omega * (2.0 / len(y))
        self.rho, self.v, self.const, self.penalty = rho, v, const, penalty
        self.scale, self.intercept = scale, intercept
        self.total = float(self.omega.sum())
        self.open = np.isfinite(scale)
        if allowed is not None:
            self.open &= np.isin(np.arange(len(scale)), allowed)

    def value(self, beta: Floats, bias: float) -> float:
        """The objective, exactly."""
        used = np.flatnonzero(beta)
        miss = self.X[:, used] @ beta[used] + bias - self.y
        squares = group_squares(beta, self.penalty.ptr, self.penalty.rows, len(self.v))
        return float(
            0.5 * self.omega @ np.square(miss)
            + self.rho * np.abs(beta).sum()
            + self.v @ np.sqrt(squares + self.const)
        )

    def bias_of(self, beta: Floats) -> float:
        """The best intercept for these weights."""
        if not self.intercept or self.total <= 0:
            return 0.0
        used = np.flatnonzero(beta)
        return float(self.omega @ (self.y - self.X[:, used] @ beta[used])) / self.total

    def woken(self, beta: Floats, bias: float) -> tuple[Floats, Floats]:
        """Zero weights that the objective would rather have: by how much, and the first step for each."""
        used = np.flatnonzero(beta)
        miss = self.X[:, used] @ beta[used] + bias - self.y
        gradient = (self.omega * miss) @ self.X
        squares = group_squares(beta, self.penalty.ptr, self.penalty.rows, len(self.v))
        corner = np.where(squares + self.const > 0, 0.0, self.v)
        excess = np.abs(gradient) - self.rho - self.penalty.sum_over(corner)
        # In units of the loss: what moving a weight by its natural size would bring.
        worth = np.where(self.open & (beta == 0), excess * np.where(self.open, self.scale, 0.0), 0.0)
        return worth, -np.sign(gradient) * np.maximum(excess, 0.0)

    def solve(self, beta: Floats, bias: float, tol: float = 1e-5) -> tuple[Floats, float, bool]:
        """From a start to the minimum.

        Args:
            beta, bias: where to start; zeros are fine.
            tol: on weights, in units of their scale.

        Returns:
            β, b, and whether it converged. Never worse than the start.
        """
        if self.total <= 0:
            return beta, bias, True
        start, start_bias, before = beta, bias, self.value(beta, bias)
        beta = np.where(self.open, beta, 0.0)
        bias = self.bias_of(beta)
        columns = np.flatnonzero(beta)
        floor = 1e-7 * float(0.5 * self.omega @ np.square(self.y - bias) + 1e-300)
        converged, small = False, len(beta) <= 64
        last = np.inf
        H: Floats | None = None
        for _ in range(_ROUNDS):
            worth, step = self.woken(beta, bias)
            found = np.flatnonzero(worth > floor)
            if len(found) == 0:
                converged = True
                break
            most = len(found) if small else max(32, len(columns))
            found = found[np.argsort(-worth[found], kind="stable")[:most]]
            wanted = np.union1d(np.flatnonzero(beta), found)
            if H is None or len(np.setdiff1d(wanted, columns)):
                columns = np.flatnonzero(self.open) if small else wanted
                H, h = self._gram(columns)
            curve = np.maximum(np.diag(H), 1e-300)
            local = np.searchsorted(columns, found)
            inner = beta[columns]
            inner[local] = step[found] / curve[local]
            self._descend(columns, H, h, inner, tol)
            beta = np.zeros_like(beta)
            beta[columns] = inner
            bias = self.bias_of(beta)
            now = self.value(beta, bias)
            if last - now <= floor:
                converged = True  # what was woken fell asleep again, or as good as that
                break
            last = now
        if H is None and len(columns):  # nothing to wake; the nonzero ones may still move
            H, h = self._gram(columns)
            inner = beta[columns]
            converged = self._descend(columns, H, h, inner, tol)
            beta = np.zeros_like(beta)
            beta[columns] = inner
            bias = self.bias_of(beta)
        if self.value(beta, bias) > before:
            return start, start_bias, converged
        return beta, bias, converged

    def _descend(self, columns: Ints, H: Floats, h: Floats, inner: Floats, tol: float) -> bool:
        ptr, rows = self.penalty.of(columns)
        tiny = 1e-4 * self.scale[columns]
        return bool(
            leaf_descent(H, h, self.rho, self.v, self.const, ptr, rows, inner, tiny, _TURNS, tol) < _TURNS
        )

    def _gram(self, columns: Ints) -> tuple[Floats, Floats]:
        """Weighted (centred when there is an intercept) second moments of the columns, and with y."""
        Z = self.X[:, columns]
        weighted = Z * self.omega[:, None]
        H, h = Z.T @ weighted, weighted.T @ self.y
        if self.intercept:
            sums = weighted.sum(axis=0)
            H = H - np.outer(sums, sums) / self.total
            h = h - sums * (float(self.omega @ self.y) / self.total)
        return np.ascontiguousarray((H + H.T) / 2), np.ascontiguousarray(h)
