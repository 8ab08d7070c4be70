"""From one target vector and a list of λ to fitted trees: structure, descent, fine-tuning, warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_cstc.descent import Descent, Run
from bench_cstc.leaf import scale_of
from bench_cstc.objective import Objective, State, Variant
from bench_cstc.penalty import Penalty
from bench_cstc.shape import Shape
from bench_cstc.structure import Criterion, build_greedily, initialise, predictions, prune
from bench_cstc.tuning import FineTuning, exact_objective, fine_tuned

__all__ = ["FittedTree", "TreeSettings", "fit_trees", "lambda_max", "rho_max"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TreeSettings:
    """What does not change along λ; see the methods' parameters of the same names."""

    variant: Variant = "cstc"
    levels: int = 4
    rho: float = 1e-3
    structure: Literal["prune", "greedy", "full"] = "prune"
    split_quantile: float = 0.5
    steep: float = 1.0
    intercept: bool = True
    fine_tune: FineTuning = "hard"
    early_stopping: bool = False
    max_iter: int = 10
    tol: float = 1e-3


@dataclass(frozen=True, eq=False)
class FittedTree:
    """One tree of the family.

    Attributes:
        lambda_: its λ, on the mean scale.
        state: what decides the path.
        beta, bias: float64 (nodes, columns), (nodes,): what predicts.
        run: how the optimisation went.
        warm: whether it started from the tree of the λ before.
        share: float64 (nodes,): share of training rows that reach each node, by hard decisions.
        mean: float64 (nodes,): their mean label (NaN where no row comes).
    """

    lambda_: float
    state: State
    beta: Floats
    bias: Floats
    run: Run
    warm: bool
    share: Floats
    mean: Floats


def _pull(X: Floats, y: Floats, weights: Floats, intercept: bool) -> Floats:
    """How strongly the loss pulls at every column's weight when none has any; 0 for constant columns."""
    residual = weights * (y - np.average(y, weights=weights) if intercept else y)
    return np.where(np.isfinite(scale_of(X, y)), np.abs(residual @ X) * (2.0 / len(y)), 0.0)


def rho_max(X: Floats, y: Floats, weights: Floats, intercept: bool = True) -> float:
    """The least ρ at which a single classifier gives no column weight, whatever λ is."""
    return float(_pull(X, y, weights, intercept).max(initial=0.0))


def lambda_max(
    X: Floats, y: Floats, weights: Floats, rho: float, penalty: Penalty, intercept: bool = True
) -> float:
    """The least λ at which a single classifier gives no priced column weight; 0 when nothing is priced."""
    prices = penalty.sum_over(penalty.weights)
    excess = _pull(X, y, weights, intercept)[prices > 0] - rho
    return float((excess / prices[prices > 0]).max(initial=0.0))


def fit_trees(
    X: Floats,
    y: Floats,
    weights: Floats,
    penalty: Penalty,
    lambdas: Sequence[float],
    settings: TreeSettings,
    X_validation: Floats,
    criterion: Criterion,
) -> list[FittedTree]:
    """A tree per λ, in ascending order; each starts from its own initialisation or from the tree before it.

    Structure is settled at each λ on the initialised tree, as in the paper. Then the nodes that the tree before
    had too may start from its parameters. The start is taken that would be the better tree if the descent ended
    there (`exact_objective`): the relaxed objective would nearly always take the tree before, which is descended
    already, and whose columns, acquired for a lower λ, would then never be left.

    Args:
        X: float64 (rows, columns).
        y: float64 (rows,).
        weights: float64 (rows,).
        penalty: prices.
        lambdas: λ on the mean scale, ascending.
        settings: the rest.
        X_validation: float64 (m, columns): for pruning, greedy building and early stopping.
        criterion: of predictions of those rows.
    """
    X = np.asfortranarray(X)
    trees: list[FittedTree] = []
    start = settings.levels
    whole = Shape.full(start) if settings.variant == "cstc" else Shape.cascade(start)
    base = Objective(
        X, y, penalty, settings.rho, 0.0, weights, settings.steep, settings.variant, settings.intercept
    )
    before: State | None = None
    for lambda_ in lambdas:
        descent = Descent(replace(base, lambda_=lambda_), tol=settings.tol)
        if settings.structure == "greedy":
            chain = settings.variant != "cstc"
            state = build_greedily(descent, start, X_validation, criterion, settings.split_quantile, chain)
        else:
            state = initialise(descent, whole, settings.split_quantile)
            if settings.structure == "prune" and len(X_validation):
                state = prune(state, X_validation, criterion)
        warm = False
        if before is not None:
            other = before.onto(state.shape, state)
            own, theirs = (_worth(descent, one, settings) for one in (state, other))
            warm = theirs < own
            state = other if warm else state
        run = _run(descent, state, settings, X_validation, criterion)
        before = run.state
        beta, bias = fine_tuned(descent, run.state, settings.fine_tune)
        trees.append(FittedTree(lambda_, run.state, beta, bias, run, warm, *_shares(run.state, X, y)))
    return trees


def _worth(descent: Descent, state: State, settings: TreeSettings) -> float:
    return exact_objective(descent, state, *fine_tuned(descent, state, settings.fine_tune))


def _run(descent: Descent, state: State, settings: TreeSettings, X: Floats, criterion: Criterion) -> Run:
    if not settings.early_stopping:
        return descent.run(state, settings.max_iter)
    best, best_value = state, np.inf
    values: list[float] = []
    converged = False
    for _ in range(settings.max_iter):
        run = descent.run(state, 1)
        values += run.values if not values else run.values[1:]
        state, converged = run.state, run.converged
        value = criterion(predictions(state, X))
        if value < best_value:
            best, best_value = state, value
        if converged:
            break
        if value > best_value:
            return Run(best, values, False, stopped=True)
    return Run(best, values, converged or settings.max_iter == 0)


def _shares(state: State, X: Floats, y: Floats) -> tuple[Floats, Floats]:
    from bench_cstc.structure import walk

    at = walk(state, X)
    share, mean = np.zeros(len(state.shape)), np.full(len(state.shape), np.nan)
    for k in range(len(state.shape)):
        here = np.isin(at, [k, *state.shape.below(k)])
        share[k] = here.mean() if len(here) else 0.0
        if here.any():
            mean[k] = y[here].mean()
    return share, mean
