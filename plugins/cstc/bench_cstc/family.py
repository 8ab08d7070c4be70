"""From one target vector and a list of λ to fitted trees: structure, descent, fine-tuning, warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from bench_models.penalty import Penalty
from numpy.typing import NDArray

from bench_cstc.descent import Descent, Run
from bench_cstc.leaf import scale_of
from bench_cstc.objective import Objective, State, Variant
from bench_cstc.shape import Shape
from bench_cstc.structure import Criterion, build_greedily, initialise, predictions, prune
from bench_cstc.tuning import FineTuning, exact_objective, fine_tuned, fine_tuned_until_worse

__all__ = ["FittedTree", "TreeSettings", "fit_trees", "lambda_max", "rho_max"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TreeSettings:
    """Settings that are the same for all λ; see the methods' parameters of the same names."""

    variant: Variant = "cstc"
    levels: int = 4
    rho: float = 1e-3
    rho_ratios: tuple[float, ...] = ()
    structure: Literal["prune", "greedy", "full"] = "prune"
    split_quantile: float = 0.5
    steep: float = 1.0
    intercept: bool = True
    fine_tune: FineTuning = "hard"
    stop_fine_tuning: bool = False
    early_stopping: bool = False
    max_iter: int = 10
    tol: float = 1e-3


@dataclass(frozen=True, eq=False)
class FittedTree:
    """One tree of the family.

    Attributes:
        lambda_: its λ, for a loss averaged over rows.
        state: parameters that decide the path.
        beta, bias: float64 (nodes, columns), (nodes,): weights and intercepts that predict.
        run: result of the optimisation.
        warm: whether it started from the tree of the previous λ.
        share: float64 (nodes,): share of training rows that reach each node, by hard decisions.
        mean: float64 (nodes,): mean label of these rows (NaN without rows).
        rho: its ρ, for a loss averaged over rows.
        rho_ratio: ρ / λ, if validation chose it among several.
        tuning_steps: number of steps of fine-tuning if validation stopped it; otherwise −1.
    """

    lambda_: float
    state: State
    beta: Floats
    bias: Floats
    run: Run
    warm: bool
    share: Floats
    mean: Floats
    rho: float
    rho_ratio: float | None = None
    tuning_steps: int = -1


def _pull(X: Floats, y: Floats, weights: Floats, intercept: bool) -> Floats:
    """Absolute gradient of the loss for each column's weight at zero weights; 0 for constant columns."""
    residual = weights * (y - np.average(y, weights=weights) if intercept else y)
    return np.where(np.isfinite(scale_of(X, y)), np.abs(residual @ X) * (2.0 / len(y)), 0.0)


def rho_max(X: Floats, y: Floats, weights: Floats, intercept: bool = True) -> float:
    """The smallest ρ at which a single classifier gives no column a weight, whatever λ is."""
    return float(_pull(X, y, weights, intercept).max(initial=0.0))


def lambda_max(X: Floats, y: Floats, weights: Floats, rho: float, penalty: Penalty, intercept: bool = True) -> float:
    """The smallest λ at which a single classifier gives no priced column a weight; 0 if no column has a price."""
    return penalty.smallest_factor(np.maximum(_pull(X, y, weights, intercept) - rho, 0.0))


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
    """A tree per λ, in ascending order; each starts from its own initialisation or from the previous tree.

    The structure is chosen at each λ on the initialised tree, as in the paper. Nodes that the previous tree also had
    may then start from its parameters. Of the two starts, the better tree by `exact_objective` is taken. By the relaxed
    objective, the previous tree, which is already optimised, would nearly always be taken, and columns bought for a
    lower λ would never be dropped.

    With ``rho_ratios`` every λ above 0 is fitted with each ρ = ratio · λ, all from the same previous tree. The finished
    tree that is best on validation is kept; in a tie, the one with the greatest ρ.

    Args:
        X: float64 (rows, columns).
        y: float64 (rows,).
        weights: float64 (rows,).
        penalty: prices.
        lambdas: λ for a loss averaged over rows, ascending.
        settings: all other settings.
        X_validation: float64 (m, columns): for pruning, greedy building and early stopping.
        criterion: criterion of predictions of those rows.
    """
    X = np.asfortranarray(X)
    base = Objective(X, y, penalty, settings.rho, 0.0, weights, settings.steep, settings.variant, settings.intercept)
    trees: list[FittedTree] = []
    for lambda_ in lambdas:
        before = trees[-1].state if trees else None
        descent = Descent(replace(base, lambda_=lambda_), tol=settings.tol)
        if not settings.rho_ratios or not lambda_:
            trees.append(_fit_tree(descent, before, settings, X_validation, criterion))
            continue
        best: tuple[float, FittedTree] | None = None
        for ratio in sorted(settings.rho_ratios, reverse=True):
            descent = Descent(replace(base, lambda_=lambda_, rho=ratio * lambda_), tol=settings.tol)
            tree = replace(_fit_tree(descent, before, settings, X_validation, criterion), rho_ratio=ratio)
            value = criterion(
                predictions(replace(tree.state, beta=tree.beta, bias=tree.bias), X_validation, tree.state)
            )
            if best is None or value < best[0]:
                best = (value, tree)
        trees += [best[1]] if best else []
    return trees


def _fit_tree(
    descent: Descent, before: State | None, settings: TreeSettings, X_validation: Floats, criterion: Criterion
) -> FittedTree:
    """One tree: structure, the better start, descent, fine-tuning; see `fit_trees`."""
    o, levels = descent.objective, settings.levels
    if settings.structure == "greedy":
        chain = settings.variant != "cstc"
        state = build_greedily(descent, levels, X_validation, criterion, settings.split_quantile, chain)
    else:
        complete = Shape.full(levels) if settings.variant == "cstc" else Shape.cascade(levels)
        state = initialise(descent, complete, settings.split_quantile)
        if settings.structure == "prune" and len(X_validation):
            state = prune(state, X_validation, criterion)
    warm = False
    if before is not None:
        other = before.onto(state.shape, state)
        own, theirs = (_tuned_objective(descent, start, settings) for start in (state, other))
        warm = theirs < own
        state = other if warm else state
    run = _run(descent, state, settings, X_validation, criterion)
    steps = -1
    if settings.stop_fine_tuning:
        beta, bias, steps = fine_tuned_until_worse(descent, run.state, settings.fine_tune, X_validation, criterion)
    else:
        beta, bias = fine_tuned(descent, run.state, settings.fine_tune)
    shares = _shares(run.state, o.X, o.y)
    return FittedTree(o.lambda_, run.state, beta, bias, run, warm, *shares, rho=o.rho, tuning_steps=steps)


def _tuned_objective(descent: Descent, state: State, settings: TreeSettings) -> float:
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
