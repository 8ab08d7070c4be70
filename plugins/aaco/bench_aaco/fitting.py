"""Fitting the look-ahead: its predictor on random masks, then on those that the policy itself meets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bench_models.partial import MaskedTrees, PartialPredictor, fit_installed, fit_masked_trees, random_masks
from numpy.typing import NDArray

from bench_aaco.oracle import Oracle, fit_oracle, units_of
from bench_core import Problem

if TYPE_CHECKING:
    from bench_aaco.plugin import AACO

__all__ = ["fitted_oracle"]

_ROWS, _STEPS = 600, 12
"""Training rows on which the policy is followed, and how far."""


def fitted_oracle(problem: Problem, method: AACO) -> Oracle:
    """Fit the predictor of a method, and its look-ahead.

    The policy that is followed on training rows is that of the λ at which all features cost what is lost without any.
    """

    def look_ahead(predictor: PartialPredictor) -> Oracle:
        return fit_oracle(
            problem, predictor, neighbours=method.neighbours, subsets=method.subsets,
            reference_rows=method.reference_rows,
        )  # fmt: skip

    def trees(copies: int, masks: NDArray[np.bool_] | None = None) -> MaskedTrees:
        return fit_masked_trees(
            problem, units_of(problem), copies=copies, masks=masks, n_estimators=method.n_estimators,
            max_leaf_nodes=method.max_leaf_nodes, learning_rate=method.learning_rate,
            min_samples_leaf=method.min_samples_leaf,
        )  # fmt: skip

    if method.predictor != "trees":
        return look_ahead(fit_installed(method.predictor, problem, units_of(problem)))
    copies, masks = method.masked_copies, None
    for number in range(method.passes):
        oracle = look_ahead(trees(-(-copies // (4 if number else 2)), masks))
        followed = np.unique(np.linspace(0, len(oracle.y) - 1, min(_ROWS, len(oracle.y))).astype(np.int64))
        bought = oracle.journeys(followed, _STEPS, float(oracle.first_losses[0]))
        masks = own_masks(problem, oracle.row[followed], bought, copies - copies // 4)
    return look_ahead(trees(-(-copies // 4) if method.passes else copies, masks))


def own_masks(
    problem: Problem, followed: NDArray[np.int64], bought: NDArray[np.int64], copies: int
) -> NDArray[np.bool_]:
    """Return what training rows know after a random number of steps; random masks for those not followed.

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
