"""One classifier without children: the convex problem of Eq. 14, solved on a growing set of columns."""

from __future__ import annotations

import numpy as np
from bench_models.penalty import Penalty
from numpy.typing import NDArray

from bench_cstc.kernels import group_squares, leaf_descent

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
        X: float64 (n, m), preferably Fortran-ordered.
        y: float64 (n,).
        omega: float64 (n,): weight of each row's loss.
        rho: ρ.
        v: float64 (groups,): λ p^k c_r.
        const: float64 (groups,): squared weights of each group at other nodes of the path.
        penalty: groups of columns.
        scale: float64 (m,), from `scale_of`: weights below 1e-4 of it are 0; columns of infinite scale are left out.
        intercept: whether b is free (otherwise 0).
        allowed: int64: the columns that may have weight; all if None.
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

    def value(self, beta: Floats, bias: float, fitted: Floats | None = None) -> float:
        """The exact objective; ``fitted`` is Xβ, if known."""
        miss = (self.fitted(beta) if fitted is None else fitted) + bias - self.y
        squares = group_squares(beta, self.penalty.ptr, self.penalty.rows, len(self.v))
        return float(
            0.5 * self.omega @ np.square(miss) + self.rho * np.abs(beta).sum() + self.v @ np.sqrt(squares + self.const)
        )

    def fitted(self, beta: Floats) -> Floats:
        """Xβ: float64 (n,)."""
        used = np.flatnonzero(beta)
        return np.asarray(self.X[:, used] @ beta[used])

    def bias_of(self, fitted: Floats) -> float:
        """The best intercept for weights that give ``fitted``."""
        if not self.intercept or self.total <= 0:
            return 0.0
        return float(self.omega @ (self.y - fitted)) / self.total

    def woken(self, beta: Floats, bias: float, fitted: Floats) -> tuple[Floats, Floats]:
        """Zero weights that should be nonzero: the gain of each, and its first step; two float64 (m,)."""
        gradient = (self.omega * (fitted + bias - self.y)) @ self.X
        squares = group_squares(beta, self.penalty.ptr, self.penalty.rows, len(self.v))
        corner = np.where(squares + self.const > 0, 0.0, self.v)
        pull = np.where(self.open, np.maximum(np.abs(gradient) - self.rho, 0.0), 0.0)
        excess = self.penalty.excess(pull, corner)
        # In units of the loss: the gain of moving a weight by its natural size.
        gain = np.where(self.open & (beta == 0), excess * np.where(self.open, self.scale, 0.0), 0.0)
        return gain, -np.sign(gradient) * excess

    def solve(self, beta: Floats, bias: float, tol: float = 1e-5) -> tuple[Floats, float, bool]:
        """Minimise from a start.

        Columns are added in batches, those with the greatest gain first; the closed form is iterated after each batch.

        Args:
            beta, bias: the start; may be zeros.
            tol: tolerance of weights, in units of their scale.

        Returns:
            β, b, and whether it converged. The result is never worse than the start.
        """
        if self.total <= 0:
            return beta, bias, True
        start, start_bias, before = beta, bias, self.value(beta, bias)
        beta = np.where(self.open, beta, 0.0)
        fitted = self.fitted(beta)
        bias = self.bias_of(fitted)
        moments = _Moments(self)
        floor = 1e-7 * float(0.5 * self.omega @ np.square(self.y - bias) + 1e-300)
        converged, settled, last = False, False, np.inf
        for _ in range(_ROUNDS):
            gain, step = self.woken(beta, bias, fitted)
            violating = np.flatnonzero(gain > floor)
            used = np.flatnonzero(beta)
            if len(violating) == 0 and (settled or len(used) == 0):
                converged = True
                break
            violating = violating[np.argsort(-gain[violating], kind="stable")[: max(64, len(used))]]
            moments.grow(np.union1d(used, violating))
            local = moments.place[violating]
            inner = beta[moments.columns]
            inner[local] = step[violating] / np.maximum(np.diag(moments.H)[local], 1e-300)
            settled = self._descend(moments, inner, tol)
            beta = np.zeros_like(beta)
            beta[moments.columns] = inner
            fitted = self.fitted(beta)
            bias = self.bias_of(fitted)
            now = self.value(beta, bias, fitted)
            if last - now <= floor:
                converged = True  # the added weights became 0 again, or nearly 0
                break
            last = now
        if self.value(beta, bias, fitted) > before:
            return start, start_bias, converged
        return beta, bias, converged

    def _descend(self, moments: _Moments, inner: Floats, tol: float) -> bool:
        ptr, rows = self.penalty.of(moments.columns)
        tiny = 1e-4 * self.scale[moments.columns]
        turns = leaf_descent(moments.H, moments.h, self.rho, self.v, self.const, ptr, rows, inner, tiny, _TURNS, tol)
        return bool(turns < _TURNS)


class _Moments:
    """Weighted second moments of the columns added so far, with each other and with y; centred if b is free.

    Attributes:
        columns: int64 (k,), in the order of addition.
        place: int64 (all columns,): index of each in ``columns``; -1 if it is not there.
        H, h: float64 (k, k), (k,): XᵀΩX and XᵀΩy of Eq. 16, times 2/n.
    """

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf
        self.columns: Ints = np.zeros(0, dtype=np.int64)
        self.place: Ints = np.full(leaf.X.shape[1], -1, dtype=np.int64)
        self.H, self.h = np.zeros((0, 0)), np.zeros(0)
        self._Z, self._sums = np.zeros((len(leaf.y), 0), order="F"), np.zeros(0)

    def grow(self, wanted: Ints) -> None:
        """Add those of the columns ``wanted`` that are missing."""
        leaf = self.leaf
        new = wanted[self.place[wanted] < 0]
        if not len(new):
            return
        k, m = len(self.columns), len(self.columns) + len(new)
        fresh = np.asfortranarray(leaf.X[:, new])
        weighted = fresh * leaf.omega[:, None]
        Z = np.concatenate([self._Z.T, fresh.T]).T  # stays Fortran-ordered
        block, h, sums = weighted.T @ Z, weighted.T @ leaf.y, weighted.sum(axis=0)
        self._sums = np.concatenate([self._sums, sums])
        if leaf.intercept:
            block -= np.outer(sums, self._sums) / leaf.total
            h -= sums * (float(leaf.omega @ leaf.y) / leaf.total)
        H = np.empty((m, m))
        H[:k, :k] = self.H
        H[k:, :k], H[:k, k:] = block[:, :k], block[:, :k].T
        H[k:, k:] = (block[:, k:] + block[:, k:].T) / 2
        self.H, self.h, self._Z = H, np.concatenate([self.h, h]), Z
        self.place[new] = np.arange(k, m)
        self.columns = np.concatenate([self.columns, new])
