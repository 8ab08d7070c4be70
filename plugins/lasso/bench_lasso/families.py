"""The distinct models of a problem along a grid of λ.

λ_max is the largest absolute entry of the null model's gradient. For λ ≥ λ_max, every coefficient is zero. Below it,
different λ have different models, because the derivative of the loss at a nonzero coefficient is λ in absolute value.
So exactly the λ ≥ λ_max share one model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from bench_models.linear import ClassModel, ScoreModel, column_names, constant_model, fit_logistic, refuse_missing
from numpy.typing import NDArray

from bench_core import Part, Problem
from bench_lasso.logistic import L1Logistic

__all__ = ["Fitted", "fit_classifiers", "fit_regressions", "penalty_max"]

_ROUNDING = 1e-12
_SWEEPS = 100_000


@dataclass(frozen=True, eq=False)
class Fitted:
    """One model of the path.

    Attributes:
        penalty: λ on the mean-loss scale; for the null model, the smallest requested λ ≥ λ_max.
        model: the linear model; it reads exactly the columns with a nonzero coefficient.
        stands_for: number of requested λ that give this model.
        residual: largest violation of the KKT conditions, in units of the column's root mean square (in regression,
            of its standard deviation times the target's); NaN for the ridge model of λ = 0 in classification.
        converged: whether the solver reached its tolerance.
    """

    penalty: float
    model: ClassModel | ScoreModel
    stands_for: int
    residual: float
    converged: bool


def penalty_max(problem: Problem) -> float:
    """λ_max: the least λ, on the mean-loss scale, at which every coefficient is zero.

    It is 0 if all columns are constant or the training part has one class only.
    """
    columns = _varying(problem)
    X = problem.train.X[:, columns]
    if not problem.n_classes:
        y = np.asarray(problem.train.y, dtype=np.float64)
        return _regression_max(X - X.mean(axis=0), y - y.mean()) if X.size else 0.0
    classes, codes = np.unique(problem.train.y, return_inverse=True)
    if len(classes) < 2:
        return 0.0
    return L1Logistic(X, codes.reshape(-1).astype(np.int64), len(classes)).penalty_max


def fit_classifiers(problem: Problem, penalties: Sequence[float], ridge: float) -> list[Fitted]:
    """l1 logistic regression for every λ, in ascending order.

    All λ ≥ λ_max share one null model, which comes last.

    Args:
        problem: a classification problem.
        penalties: λ ≥ 0 on the mean-loss scale.
        ridge: strength of the l2 penalty for λ = 0, which has no finite solution where a hyperplane separates the
            classes. The objective is then ``(1/n) Σ loss + (ridge/2) Σ (σ_j β_j)²``, where σ_j is the standard
            deviation of column j.

    Raises:
        ValueError: features have missing values; the message names them.
    """
    refuse_missing(problem)
    asked = np.unique(np.asarray(penalties, dtype=np.float64))
    columns = _varying(problem)
    classes, codes = np.unique(np.asarray(problem.train.y, dtype=np.int64), return_inverse=True)
    fitted: list[Fitted] = []
    top = 0.0
    if len(classes) >= 2 and len(columns):
        X = np.ascontiguousarray(problem.train.X[:, columns])
        learner = L1Logistic(X, codes.reshape(-1).astype(np.int64), len(classes))
        top = learner.penalty_max * (1 - _ROUNDING)
        for point in learner.path(asked[(asked > 0) & (asked < top)][::-1].tolist()):
            used = np.flatnonzero(point.coef.any(axis=0))
            model = ClassModel(
                columns=columns[used],
                coef=np.ascontiguousarray(point.coef[:, used]),
                intercept=point.intercept,
                classes=classes,
                n_classes=problem.n_classes,
                names=column_names(problem, columns[used]),
                iterations=point.iterations,
                converged=point.residual <= 1e-6,
            )
            fitted.append(Fitted(point.penalty, model, 1, point.residual, model.converged))
        if top > 0 and len(asked) and asked[0] == 0:
            model = _unpenalised(problem, columns, ridge)
            fitted.append(Fitted(0.0, model, 1, float("nan"), model.converged))
    fitted.reverse()
    empty = asked[asked >= top]
    if len(empty):
        null = constant_model(problem.train.y, problem.n_classes)
        fitted.append(Fitted(float(empty[0]), null, len(empty), 0.0, True))
    return fitted


def _unpenalised(problem: Problem, columns: NDArray[np.int64], ridge: float) -> ClassModel:
    """The model for λ = 0: fitted on standardised columns with an l2 penalty, then rescaled to the given columns."""
    X = problem.train.X[:, columns]
    shift, scale = X.mean(axis=0), X.std(axis=0)
    standardised = np.zeros_like(problem.train.X)
    standardised[:, columns] = (X - shift) / scale
    scaled = replace(problem, train=Part(standardised, problem.train.y))
    model = fit_logistic(scaled, columns, C=1.0 / (ridge * len(X)))
    coef = model.coef / scale
    return replace(model, coef=coef, intercept=model.intercept - coef @ shift)


def fit_regressions(problem: Problem, penalties: Sequence[float]) -> list[Fitted]:
    """Lasso for every λ, in ascending order: minimises ``(1/2n) Σ (y − βx − b)² + λ Σ |β|``.

    λ = 0 is ordinary least squares. All λ ≥ λ_max share one null model, which comes last. Ranking grades are fitted
    as values (pointwise).

    Raises:
        ValueError: features have missing values; the message names them.
    """
    refuse_missing(problem)
    asked = np.unique(np.asarray(penalties, dtype=np.float64))
    columns = _varying(problem)
    y = np.asarray(problem.train.y, dtype=np.float64)
    X = problem.train.X[:, columns]
    shift, middle = X.mean(axis=0), float(y.mean())
    X, y = np.asfortranarray(X - shift), y - middle
    top = _regression_max(X, y) * (1 - _ROUNDING)
    wanted = asked[(asked > 0) & (asked < top)][::-1]
    coefs: list[NDArray[np.float64]] = []
    if len(wanted):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import lasso_path

        with warnings.catch_warnings():
            # Convergence is checked below, by the KKT conditions.
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = lasso_path(X, y, alphas=wanted, tol=1e-14, max_iter=_SWEEPS, random_state=0)[1]
            coefs = list(path.T)
    if top > 0 and len(asked) and asked[0] == 0:
        scale = X.std(axis=0)
        coefs.append(np.linalg.lstsq(X / scale, y, rcond=None)[0] / scale)
        wanted = np.append(wanted, 0.0)
    fitted = []
    for penalty, coef in zip(wanted.tolist(), coefs, strict=True):
        used = np.flatnonzero(coef)
        model = ScoreModel(
            columns[used], coef[used], middle - float(coef @ shift), column_names(problem, columns[used])
        )
        residual = _regression_residual(X, y, coef, penalty)
        fitted.append(Fitted(penalty, model, 1, residual, residual <= 1e-6))
    fitted.reverse()
    empty = asked[asked >= top]
    if len(empty):
        null = ScoreModel(np.zeros(0, dtype=np.int64), np.zeros(0), middle, ())
        fitted.append(Fitted(float(empty[0]), null, len(empty), 0.0, True))
    return fitted


def _varying(problem: Problem) -> NDArray[np.int64]:
    """Indices of the columns that are not constant in the training part; the others always have coefficient 0."""
    X = problem.train.X
    return np.flatnonzero((X[:1] != X).any(axis=0)) if len(X) else np.zeros(0, dtype=np.int64)


def _regression_max(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.abs(X.T @ y).max(initial=0.0) / max(len(y), 1))


def _regression_residual(
    X: NDArray[np.float64], y: NDArray[np.float64], coef: NDArray[np.float64], penalty: float
) -> float:
    """Largest violation of the KKT conditions, in units of the column's standard deviation times the target's."""
    gradient = X.T @ (X @ coef - y) / len(y)
    violation = np.where(
        coef == 0.0, np.maximum(np.abs(gradient) - penalty, 0.0), np.abs(gradient + penalty * np.sign(coef))
    )
    unit = X.std(axis=0) * (float(y.std()) or 1.0)
    return float((violation / unit).max(initial=0.0))
