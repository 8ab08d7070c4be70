"""The steps of GreedyPrune: the removal with the smallest rise in error per price saved comes first.

BUDGETPRUNE §5 (iii): "at each iteration it attempts to remove all nodes corresponding to one feature … such that the
resulting pruned RF has the lowest training error and average feature cost … successively removing features that result
in large cost reduction yet small accuracy loss". Our choice: the removal with the smallest rise in training error
(in-bag) per price saved (mean over validation rows); in a tie, the one that saves most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench_models.forest.acquisition import Units
from bench_models.forest.flat import FlatForest
from numpy.typing import NDArray

from bench_budgetprune._greedy_kernels import losses, removal, savings

__all__ = ["Step", "greedy_steps"]


@dataclass(frozen=True, eq=False)
class Step:
    """The forest after some removals.

    Attributes:
        removed: the part that was removed in this step (−1 before the first).
        opened: bool (nodes,): the tests that remain.
        error: training error, the mean over trees of their in-bag error.
        cost: mean price over the rows.
    """

    removed: int
    opened: NDArray[np.bool_]
    error: float
    cost: float


def greedy_steps(
    forest: FlatForest, leaf: NDArray[np.int32], units: Units, part_of_feature: NDArray[np.int64]
) -> list[Step]:
    """Remove one part after another until no test is left.

    Args:
        forest: the trees.
        leaf: int32 (rows, trees): leaves of the rows whose price counts.
        units: units of payment, priced for these rows.
        part_of_feature: int64 (features,): the part of each feature; a part (a feature or a group) is removed at once.

    Returns:
        The unpruned forest, then the forest after each removal.
    """
    from bench_models.forest.acquisition import first_tests

    parts = int(part_of_feature.max()) + 1
    part = np.where(forest.inner, part_of_feature[np.maximum(forest.feature, 0)], -1)
    first = first_tests(forest, part_of_feature) >= 0
    own, group = first_tests(forest, units.own), first_tests(forest, units.group)
    opened, removed = forest.inner.copy(), -1
    steps: list[Step] = []
    while True:
        saved, paid = savings(leaf, forest.parent, part, own, group, opened, units.prices, parts)
        error = float(forest.error[forest.leaves(opened)].sum())
        steps.append(Step(removed, opened, error, paid / len(leaf)))
        left = np.unique(part[opened])
        if not len(left):
            return steps
        loss = losses(forest.left, forest.right, forest.parent, part, first, opened, forest.error, parts)
        saves = saved[left] / len(leaf)
        # A removal that saves nothing is acceptable only if it adds no error: then it ties with the best.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(loss[left] <= 1e-15, 0.0, loss[left] / saves)
        removed = int(left[np.lexsort((left, -saves, ratio))[0]])
        opened = removal(forest.left, forest.parent, part, opened, removed)
