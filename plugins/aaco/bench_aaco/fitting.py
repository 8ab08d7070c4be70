"""Fitting the look-ahead: its predictor on random masks, then on masks of the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from bench_models.columns import divisors
from bench_models.partial import MaskedTrees, PartialPredictor, random_masks, set_losses
from bench_models.prices import MeanPrices
from bench_models.tradeoff import evenly_spaced
from numpy.typing import NDArray

from bench_aaco.candidates import draw_candidates, units_of
from bench_aaco.oracle import Oracle, Prices
from bench_core import Problem

__all__ = ["FitTrees", "LookAhead", "fit_oracle", "learn", "own_masks"]

_ROWS, _STEPS = 600, 12
"""Maximum number of training rows on which the policy is followed, and of its steps."""


class FitTrees(Protocol):
    """Fit the predictor on `copies` randomly masked copies of the training rows, and on copies with the given masks."""

    def __call__(self, *, copies: int, masks: NDArray[np.bool_] | None) -> MaskedTrees: ...


class LookAhead(Protocol):
    """Make the look-ahead of a predictor."""

    def __call__(self, *, predictor: PartialPredictor) -> Oracle: ...


def learn(problem: Problem, fit_trees: FitTrees, look_ahead: LookAhead, copies: int, passes: int) -> Oracle:
    """Fit the predictor and its look-ahead; then fit both again, repeatedly, on masks of the policy fitted last.

    The policy followed on training rows has the λ at which all features cost as much as the loss when nothing is known.

    Args:
        problem: its training part and seed are used.
        fit_trees, look_ahead: the two steps of a fit.
        copies: masked copies of each row; the first of several fits uses half as many, and in later fits a quarter has
            random masks.
        passes: fits after the first.
    """
    masks = None
    for number in range(passes):
        oracle = look_ahead(predictor=fit_trees(copies=-(-copies // (4 if number else 2)), masks=masks))
        followed = evenly_spaced(len(oracle.y), _ROWS)
        bought = oracle.journeys(followed, _STEPS, float(oracle.first_losses[0]))
        masks = own_masks(problem, oracle.row[followed], bought, copies - copies // 4)
    return look_ahead(predictor=fit_trees(copies=-(-copies // 4) if passes else copies, masks=masks))


def own_masks(
    problem: Problem, followed: NDArray[np.int64], bought: NDArray[np.int64], copies: int
) -> NDArray[np.bool_]:
    """Return masks: features known after a random number of steps; random for rows not followed or buying nothing.

    Args:
        problem: its training part and seed are used.
        followed: int64 (n,): training rows.
        bought: int64 (n, features), from `Oracle.journeys`.
        copies: number of masks of each row.

    Returns:
        bool (copies, rows, features).
    """
    rng, rows = problem.rng("aaco", "steps"), len(problem.train)
    masks = random_masks(rng, copies * rows, units_of(problem)).reshape(copies, rows, -1)
    words = rng.bit_generator.random_raw(copies * len(followed)).reshape(copies, -1)
    steps = np.maximum(bought.max(axis=1), 1).astype(np.uint64)
    reached = 1 + (words % steps).astype(np.int64)
    followed, bought, reached = followed[bought.any(axis=1)], bought[bought.any(axis=1)], reached[:, bought.any(axis=1)]
    masks[:, followed] = (bought > 0) & (bought <= reached[:, :, None])
    return masks


def fit_oracle(
    problem: Problem, *, predictor: PartialPredictor, neighbours: int, subsets: int, reference_rows: int
) -> Oracle:
    """Draw candidates and references, and compute the losses when nothing is known.

    Args:
        problem: its training part, prices and seed are used.
        predictor: the fitted predictor.
        neighbours, subsets, reference_rows: see `bench_aaco.plugin.AACO`.
    """
    train, unit = problem.train, units_of(problem)
    rng = problem.rng("aaco", "oracle")
    candidates = draw_candidates(rng, unit, subsets)
    rows = np.arange(len(train))
    if len(rows) > reference_rows:
        rows = np.sort(np.argsort(rng.bit_generator.random_raw(len(rows)), kind="stable")[:reference_rows])
    mean, spread = np.zeros(train.X.shape[1]), np.zeros(train.X.shape[1])
    for c in range(train.X.shape[1]):
        present = train.X[~np.isnan(train.X[:, c]), c]
        if len(present):
            mean[c], spread[c] = present.mean(), present.std()
    mean_price = MeanPrices.of(problem)
    own, group, group_price = mean_price.own, mean_price.group, mean_price.group_price
    paid = np.isin(np.arange(len(group_price)), group)
    full = float(own.sum() + group_price[paid].sum())
    share = 1.0 / full if full > 0 else 1.0
    prices = Prices(own * share, group, group_price * share, unit)
    columns = np.array(problem.feature_of_column, dtype=np.int64)
    bare = Oracle(
        predictor, train.X[rows], np.array(train.y[rows], dtype=np.int64), rows, mean, divisors(mean, spread), columns,
        candidates, prices, neighbours, np.zeros(1 + len(candidates)), problem.threads,
    )  # fmt: skip
    nothing = np.zeros((len(rows), len(unit)), dtype=bool)
    return replace(bare, first_losses=set_losses(predictor, bare.X, bare.y, nothing, candidates).mean(axis=0))
