"""Fitting AND-OR cascades along λ: the columns of each stage, the unit of λ, the order of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from bench_models.columns import BoostedTrees, Boosting, PlainColumns, boost
from bench_models.penalty import Penalty
from bench_models.targets import Target
from numpy.typing import NDArray

from bench_core import Problem
from bench_cstc.baselines.and_or_loss import AndOr, Fit
from bench_cstc.baselines.merge import merge_equal
from bench_cstc.leaf import scale_of

__all__ = ["SeveralBoostings", "TrainingContext", "fit_cascades", "price_limits", "training_context"]

Floats = NDArray[np.float64]

_ROUNDING = 1.0 + 1e-9


@dataclass(frozen=True, eq=False)
class SeveralBoostings:
    """The trees of several boostings side by side, as columns (see `bench_models.columns.BoostedTrees`)."""

    parts: tuple[BoostedTrees, ...]

    @property
    def features_of(self) -> list[NDArray[np.int64]]:
        """Per tree, the features that it splits on."""
        return [features for part in self.parts for features in part.features_of]

    @property
    def evaluation(self) -> Floats:
        """float64 (trees,): e_t."""
        none = np.zeros(0)
        return np.concatenate([none, *(none if p.evaluation is None else p.evaluation for p in self.parts)])

    def values(self, X: Floats) -> Floats:
        """float64 (rows, trees)."""
        return np.concatenate([np.zeros((len(X), 0)), *(part.values(X) for part in self.parts)], axis=1)


@dataclass(frozen=True, eq=False)
class TrainingContext:
    """The parts of a fit that are the same for every λ.

    Attributes:
        columns: the columns that stages weight.
        Z: float64 (rows, columns): standardised; constant columns are 0; equal rows are merged.
        shift, scale: float64 (columns,): Z = (column − shift) / scale.
        y, omega: float64 (rows,): ±1, weights.
        allowed: bool (stages, columns).
        price: float64 (columns,): price of a column's features, their groups and its evaluation.
        lambda_max, rho_max: the units of λ and ρ.
    """

    columns: PlainColumns | SeveralBoostings
    Z: Floats
    shift: Floats
    scale: Floats
    y: Floats
    omega: Floats
    allowed: NDArray[np.bool_]
    price: Floats
    lambda_max: float
    rho_max: float


def price_limits(prices: Floats, limits: Sequence[float], stages: int) -> Floats:
    """Highest price that each stage may use, ascending: float64 (stages,).

    Args:
        prices: float64 (features,).
        limits: the requested limits; if empty, ``stages`` ranges divide the distinct prices as evenly as possible.
        stages: maximum number of stages if ``limits`` is empty.
    """
    if len(limits):
        return np.array(limits, dtype=np.float64)
    distinct = np.unique(prices)
    return np.array([run[-1] for run in np.array_split(distinct, min(stages, len(distinct)))])


def training_context(
    problem: Problem, target: Target, limits: Sequence[float], stages: int, boosting: Boosting | None
) -> TrainingContext:
    """Columns, prices and stages of a problem.

    A feature in an acquisition group counts with its own price plus the group's, since the stage may have to pay for
    the group.

    Args:
        problem: the problem.
        target: the target.
        limits, stages: as for `price_limits`.
        boosting: settings of each stage's boosting; None: columns as encoded.
    """
    sizes = problem.train.sizes
    y, omega = target.y, target.weights
    single = Penalty.build(problem.costs, [np.array([f]) for f in range(problem.n_features)], sizes)
    of_feature = single.sum_over(single.weights)
    highest = price_limits(of_feature, limits, stages)
    columns = PlainColumns.of(problem) if boosting is None else _boosted(problem, target, boosting, of_feature, highest)
    penalty = Penalty.build(problem.costs, columns.features_of, sizes, columns.evaluation)
    highest_price = np.array([of_feature[used].max(initial=0.0) for used in columns.features_of])
    phi = columns.values(problem.train.X)
    constant = np.isinf(scale_of(phi, y))
    shift = np.where(constant, 0.0, phi.mean(axis=0))
    scale = np.where(constant, 1.0, phi.std(axis=0))
    Z = np.where(constant, 0.0, (phi - shift) / scale)
    allowed = (highest_price[None, :] <= highest[:, None]) & ~constant[None, :]
    column_price = penalty.sum_over(penalty.weights)
    slope = _slope_of_nothing(Z, y, omega)
    priced = column_price > 0
    merged = merge_equal(Z, y, omega)
    return TrainingContext(
        columns,
        merged[0],
        shift,
        scale,
        merged[1],
        merged[2],
        allowed,
        column_price,
        _ROUNDING * float((slope[priced] / column_price[priced]).max(initial=0.0)),
        _ROUNDING * float(slope.max(initial=0.0)),
    )


def _boosted(problem: Problem, target: Target, how: Boosting, price: Floats, limits: Floats) -> SeveralBoostings:
    """A boosting for every stage, on the features that it may use; none for a stage without further features."""
    stages, before = [], np.zeros(problem.n_features, dtype=bool)
    for limit in limits:
        mine = price <= limit
        if (mine == before).all():
            continue
        before = mine
        X = np.where(mine[problem.feature_of_column], problem.train.X, 0.0)
        part = replace(problem, train=replace(problem.train, X=X))
        stages.append(boost(part, target.y, how, target.weights))
    return SeveralBoostings(tuple(stages))


def _slope_of_nothing(Z: Floats, y: Floats, omega: Floats) -> Floats:
    """Absolute gradient of the loss for each column of a single stage, at zero weights and the best intercept."""
    pull = -2.0 / len(y) * omega * y * np.maximum(0.0, 1.0 - y * _intercept(y, omega))
    return np.asarray(np.abs(pull @ Z))


def _intercept(y: Floats, omega: Floats) -> float:
    """The constant score of least squared hinge loss: (ω₊ − ω₋)/(ω₊ + ω₋), with total class weights ω₊, ω₋."""
    return float(omega @ y) / float(omega.sum())


def fit_cascades(
    base: TrainingContext, lambdas: Sequence[float], rho: float, temperature: float, max_iter: int, tol: float
) -> Iterator[tuple[float, Fit]]:
    """A cascade for every λ, ascending; the first grows stage by stage, the others start from the previous one.

    Args:
        base: columns, prices and stages.
        lambdas, rho, temperature, max_iter, tol: as for `bench_cstc.baselines.and_or.AndOrCascade`.

    Yields:
        λ and its stages, on standardised columns.
    """
    before: Fit | None = None
    for lambda_ in sorted(lambdas):
        v = lambda_ * base.lambda_max * base.price + rho * base.rho_max

        def solve(weights: Floats, bias: Floats, v: Floats = v) -> Fit:
            allowed = base.allowed[: len(bias)]
            problem = AndOr(base.Z, base.y, base.omega, allowed, v, temperature)
            return problem.minimise(weights, bias, max_iter, tol)

        if before is None:
            weights, bias = np.zeros((1, base.Z.shape[1])), np.array([_intercept(base.y, base.omega)])
            for _ in range(len(base.allowed) - 1):
                grown = solve(weights, bias)
                weights = np.concatenate([grown.weights, grown.weights[-1:]])
                bias = np.append(grown.bias, grown.bias[-1])
        else:
            weights, bias = before.weights, before.bias
        before = solve(weights, bias)
        yield lambda_, before
