"""l1 logistic regression along a path of λ: proximal Newton with strong rules, until the KKT conditions hold.

It minimises ``(1/n) Σ loss + λ Σ |β|`` with unpenalised intercepts. This is glmnet's objective, and scikit-learn's
with ``λ = 1 / (n C)``. Two classes have one coefficient per column. More classes have one per column and class: the
symmetric multinomial model of glmnet and of scikit-learn's saga solver. Columns are not standardised here.

Why not scikit-learn: on columns that are not standardised (encoding ``impute``), saga is still far from the optimum
after 5,000 passes, so its supports, and with them the bills, are wrong. On standardised columns saga is as accurate
and about ten times slower (``benchmarks/path.py``). liblinear penalises the intercept and has no multinomial model.

Source: Friedman, Hastie, Tibshirani 2010 (coordinate descent); Lee, Sun, Saunders 2014 (proximal Newton); Tibshirani
et al. 2012 (strong rules).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["L1Logistic", "PathPoint"]

_TOLERANCE = 1e-9
_MAX_NEWTON = 100
_MAX_SWEEPS = 10_000


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The solution for one λ.

    Attributes:
        penalty: λ on the mean-loss scale.
        coef: float64 (m, columns), with exact zeros; m is 1 for two classes, else the number of classes.
        intercept: float64 (m,); sums to zero when m > 1.
        residual: largest violation of the KKT conditions, in units of the column's root mean square.
        iterations: Newton steps taken.
    """

    penalty: float
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    residual: float
    iterations: int


@dataclass(frozen=True, eq=False)
class L1Logistic:
    """A training set and its l1 logistic regression for any λ.

    Attributes:
        X: float64 (rows, columns), no NaN.
        y: int64 (rows,): codes 0..m−1, every one present.
        n_classes: m, at least 2.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    n_classes: int

    @property
    def outputs(self) -> int:
        """Number of rows of the coefficient matrix."""
        return 1 if self.n_classes == 2 else self.n_classes

    @cached_property
    def _targets(self) -> NDArray[np.float64]:
        if self.n_classes == 2:
            return self.y[:, None].astype(np.float64)
        return np.equal(self.y[:, None], np.arange(self.n_classes)).astype(np.float64)

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        """Root mean square of each column: the unit of its KKT violation; float64 (columns,)."""
        scale = np.sqrt(np.mean(np.square(self.X), axis=0))
        return np.where(scale > 0, scale, 1.0)

    @cached_property
    def penalty_max(self) -> float:
        """The least λ at which every coefficient is zero: the largest entry of the null model's gradient."""
        if not self.X.size:
            return 0.0
        return float(np.abs(self.X.T @ (self._targets - self._targets.mean(axis=0))).max() / len(self.X))

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_classes == 2:
            from scipy.special import expit

            positive: NDArray[np.float64] = expit(scores)
            return positive
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def _loss(self, scores: NDArray[np.float64]) -> float:
        if self.n_classes == 2:
            flat = scores[:, 0]
            return float(np.mean(np.logaddexp(0.0, flat) - self.y * flat))
        top = scores.max(axis=1)
        own = scores[np.arange(len(scores)), self.y]
        return float(np.mean(np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own))

    def path(self, penalties: Sequence[float]) -> Iterator[PathPoint]:
        """Yield the solution for each λ, starting from the previous solution.

        Args:
            penalties: λ on the mean-loss scale, above 0 and below `penalty_max`, in descending order.
        """
        m, d = self.outputs, self.X.shape[1]
        coef = np.zeros((m, d))
        share = self._targets.mean(axis=0)
        intercept = np.log(share / (1 - share)) if m == 1 else np.log(share) - np.log(share).mean()
        before = self.penalty_max
        for penalty in penalties:
            coef, intercept, residual, iterations = self._solve(coef, intercept, penalty, before)
            before = penalty
            yield PathPoint(penalty, coef.copy(), intercept.copy(), residual, iterations)

    def _residuals(
        self, gradient: NDArray[np.float64], coef: NDArray[np.float64], penalty: float
    ) -> NDArray[np.float64]:
        """Violation of the KKT condition of each coefficient, in units of the column's scale; shape of `coef`."""
        off = np.maximum(np.abs(gradient) - penalty, 0.0)
        on = np.abs(gradient + penalty * np.sign(coef))
        violation: NDArray[np.float64] = np.where(coef == 0.0, off, on) / self._scale
        return violation

    def _solve(
        self, coef: NDArray[np.float64], intercept: NDArray[np.float64], penalty: float, before: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float, int]:
        n = len(self.X)
        scores = self.X @ coef.T + intercept
        objective = self._loss(scores) + penalty * float(np.abs(coef).sum())
        strong: NDArray[np.bool_] | None = None
        residual, iteration = np.inf, 0
        for iteration in range(_MAX_NEWTON + 1):
            probabilities = self._probabilities(scores)
            error = (probabilities - self._targets) / n
            gradient, drift = error.T @ self.X, error.sum(axis=0)
            violation = self._residuals(gradient, coef, penalty)
            residual = float(max(violation.max(initial=0.0), np.abs(drift).max()))
            if residual <= _TOLERANCE or iteration == _MAX_NEWTON:
                break
            if strong is None:
                strong = np.abs(gradient) >= 2 * penalty - before
            working = strong | (coef != 0.0) | (violation > _TOLERANCE)
            step, shift = self._newton_step(
                probabilities, gradient, drift, coef, working, penalty, min(0.1, residual) * residual
            )
            scores_step = self.X @ step.T + shift
            promised = float((gradient * step).sum() + (drift * shift).sum()) + penalty * float(
                (np.abs(coef + step) - np.abs(coef)).sum()
            )
            length, moved = 1.0, False
            while length > 1e-8:
                tried = self._loss(scores + length * scores_step)
                tried += penalty * float(np.abs(coef + length * step).sum())
                if tried <= objective + 1e-4 * length * promised + 1e-14 * abs(objective):
                    coef, intercept = coef + length * step, intercept + length * shift
                    scores, objective, moved = scores + length * scores_step, tried, True
                    break
                length /= 2
            if not moved:
                break
        if self.outputs > 1:
            intercept = intercept - intercept.mean()
        return coef, intercept, residual, iteration

    def _newton_step(
        self,
        probabilities: NDArray[np.float64],
        gradient: NDArray[np.float64],
        drift: NDArray[np.float64],
        coef: NDArray[np.float64],
        working: NDArray[np.bool_],
        penalty: float,
        tol: float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Step to the minimum of the penalised quadratic model over the working set of coefficients."""
        from bench_lasso.kernels import coordinate_descent

        m = self.outputs
        columns = np.flatnonzero(working.any(axis=0))
        hessian = self._hessian(probabilities, columns)
        width = len(columns) + 1
        bias = np.arange(m) * width + len(columns)
        outs, places = np.nonzero(working[:, columns])
        at = outs * width + places
        # Intercepts are unpenalised: eliminate them first. Shifting all of them by a constant has no effect, so a
        # constant is added to make their block invertible.
        corner = hessian[np.ix_(bias, bias)]
        corner = corner + (np.trace(corner) / m + 1e-300) * (1.0 if m > 1 else 0.0) + 1e-14 * np.eye(m)
        cross = hessian[np.ix_(bias, at)]
        solved = np.linalg.solve(corner, np.column_stack([cross, drift]))
        H = hessian[np.ix_(at, at)] - cross.T @ solved[:, :-1]
        H = (H + H.T) / 2
        H[np.diag_indices(len(at))] += 1e-10 * np.square(self._scale[columns[places]])
        g = gradient[outs, columns[places]] - cross.T @ solved[:, -1]
        start = coef[outs, columns[places]]
        w = start.copy()
        unit = float(self._scale[columns].min(initial=1.0))
        coordinate_descent(H, H @ start - g, penalty, w, max(tol, 1e-13) * unit, _MAX_SWEEPS)
        change = w - start
        step = np.zeros_like(coef)
        step[outs, columns[places]] = change
        return step, -(solved[:, :-1] @ change + solved[:, -1])

    def _hessian(self, probabilities: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Hessian over c columns and the intercept, one block per output: float64 (m(c+1), m(c+1))."""
        m, n = self.outputs, len(self.X)
        Z = np.column_stack([self.X[:, columns], np.ones(n)])
        width = Z.shape[1]
        hessian = np.empty((m * width, m * width))
        for k in range(m):
            here = slice(k * width, (k + 1) * width)
            share = probabilities[:, k]
            for other in range(k + 1):
                there = slice(other * width, (other + 1) * width)
                weight = share * (1 - share) if k == other else -share * probabilities[:, other]
                hessian[here, there] = Z.T @ (Z * (weight / n)[:, None])
                hessian[there, here] = hessian[here, there].T
        return hessian
