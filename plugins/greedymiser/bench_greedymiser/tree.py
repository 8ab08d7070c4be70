"""One weak learner: a depth-limited regression tree whose splits pay for new features (Xu et al. 2012, §4).

The impurity of a tree is its sum of squared errors on the residuals plus the penalties of the features that it is the
first to use. A node gets the split that lowers the impurity most, and is not split if none lowers it: the gain of a
split (the reduction of the squared error) must exceed the penalty of its feature. Nodes are grown level by level, each
level from left to right. A feature (or an acquisition group) that one node pays for is free at every node grown
after it, in this tree and in all later ones. Ties in net gain go to the first column, then to the lowest cut. A cut
next to bins that are empty at its node is put in the middle of them.

Missing values have their own bin. At a node with missing values, each cut is tried with them on either side, and so
is the cut that separates them from all others. At a node without, missing values follow the larger child.

Before a tree is grown, residuals are rounded so that all their partial sums are exact (`summable`). So equally good
splits have equal gains in every column, and the order of summation does not change a tree.

`grow_tree` is the NumPy reference implementation; ``_kernels.grow`` is compiled and equals it bit for bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_greedymiser.bins import Bins
from bench_greedymiser.prices import Penalties

__all__ = ["LEAST_GAIN", "Spent", "Tree", "grow_compiled", "grow_tree", "summable"]

LEAST_GAIN = 1e-11
"""Least gain of a split, as a share of the tree's sum of squares; smaller gains are rounding errors."""


class Spent(NamedTuple):
    """Features and groups that are paid for; growing a tree updates both arrays in place.

    Attributes:
        used: bool (features,): acquired features.
        opened: bool (groups,): groups whose price is paid.
    """

    used: NDArray[np.bool_]
    opened: NDArray[np.bool_]

    @classmethod
    def nothing(cls, penalties: Penalties) -> Spent:
        """The state at the start of boosting: nothing is paid for."""
        return cls(np.zeros(len(penalties.feature), dtype=bool), np.zeros(len(penalties.group), dtype=bool))


class Tree(NamedTuple):
    """The structure of one grown tree; node 0 is the root.

    Attributes:
        column: int64 (nodes,): tested column; −1 for a leaf.
        cut: int64 (nodes,): rows whose bin ≤ cut go left.
        missing_left: bool (nodes,): whether missing values go left.
        left: int64 (nodes,): the left child; the right child is the next node.
        node: int64 (rows,): the leaf of each training row.
    """

    column: NDArray[np.int64]
    cut: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    node: NDArray[np.int64]


def summable(residual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Residuals rounded to a grid on which the sum of any of them, in any order, is exact; float64 (rows,).

    The grid's step is a power of two, at least 2^−53 times the number of rows times the greatest residual. For 60,000
    rows this keeps more than 36 bits of a residual.

    Source: pre-rounding for reproducible summation (Demmel, Nguyen: Fast reproducible floating-point summation,
    ARITH 2013).
    """
    _, exponent = math.frexp(float(np.abs(residual).max(initial=0.0)))
    step = math.ldexp(1.0, max(exponent + len(residual).bit_length() - 53, -1074))
    rounded: NDArray[np.float64] = np.rint(residual / step) * step
    return rounded


def grow_compiled(
    bins: Bins,
    feature_of_column: NDArray[np.int64],
    residual: NDArray[np.float64],
    penalties: Penalties,
    spent: Spent,
    depth: int,
    least: int,
) -> Tree:
    """Compiled `grow_tree`."""
    from bench_greedymiser._kernels import grow

    packed = bins.packed
    arrays = grow(
        bins.codes,
        bins.n_values,
        packed.codes,
        packed.starts,
        packed.first,
        packed.shares,
        packed.missing,
        packed.counts,
        summable(residual),
        np.require(feature_of_column, requirements="W"),  # numba compiles once more for read-only arrays
        penalties.feature,
        np.require(penalties.group_of, requirements="W"),
        penalties.group,
        spent.used,
        spent.opened,
        depth,
        least,
        _floor(residual),
    )
    return Tree(*arrays)


def grow_tree(
    bins: Bins,
    feature_of_column: NDArray[np.int64],
    residual: NDArray[np.float64],
    penalties: Penalties,
    spent: Spent,
    depth: int,
    least: int,
) -> Tree:
    """Grow one tree.

    Args:
        bins: the binned training rows.
        feature_of_column: int64 (columns,): the feature of each column.
        residual: float64 (rows,): the target of the regression.
        penalties: prices in the unit of the sum of squared residuals.
        spent: features and groups that are free; updated in place.
        depth: most splits on a path.
        least: fewest training rows of a leaf.
    """
    floor, residual = _floor(residual), summable(residual)
    column, cut, left = [-1], [-1], [-1]
    missing_left = [False]
    node = np.zeros(len(residual), dtype=np.int64)
    level = [0]
    for _ in range(depth):
        candidates = [_best_cuts(bins, residual, node == at, least) for at in level]
        grown: list[int] = []
        for at, (gains, cuts, sides) in zip(level, candidates, strict=True):
            net = gains - _price(penalties, spent)[feature_of_column]
            net[gains <= floor] = -np.inf
            best = int(net.argmax())
            if not net[best] > 0:
                continue
            _pay(penalties, spent, int(feature_of_column[best]))
            column[at], cut[at], missing_left[at], left[at] = (best, int(cuts[best]), bool(sides[best]), len(column))
            for store in (column, cut, left):
                store += [-1, -1]
            missing_left += [False, False]
            code = bins.codes[best].astype(np.int64)
            goes_left = np.where(code == bins.n_values[best], missing_left[at], code <= cut[at])
            node = np.where(node == at, np.where(goes_left, left[at], left[at] + 1), node)
            grown += [left[at], left[at] + 1]
        level = grown
        if not level:
            break
    return Tree(np.array(column), np.array(cut), np.array(missing_left), np.array(left), node)


def _floor(residual: NDArray[np.float64]) -> float:
    return LEAST_GAIN * float(np.square(residual).sum())


def _price(penalties: Penalties, spent: Spent) -> NDArray[np.float64]:
    """Current price of each feature; float64 (features,)."""
    grouped = penalties.group_of >= 0
    closed = np.where(spent.opened, 0.0, penalties.group)[penalties.group_of]
    return np.where(spent.used, 0.0, penalties.feature + np.where(grouped, closed, 0.0))


def _pay(penalties: Penalties, spent: Spent, feature: int) -> None:
    spent.used[feature] = True
    if penalties.group_of[feature] >= 0:
        spent.opened[penalties.group_of[feature]] = True


def _best_cuts(
    bins: Bins, residual: NDArray[np.float64], here: NDArray[np.bool_], least: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """For each column: the greatest gain at a node (−inf if there is no cut), its cut, and the side of missing values.

    Returns:
        float64 (columns,), int64 (columns,), and bool (columns,): whether missing values go left.
    """
    columns = len(bins.codes)
    gains, cuts = np.full(columns, -np.inf), np.zeros(columns, dtype=np.int64)
    sides = np.zeros(columns, dtype=bool)
    own = residual[here]
    total = float(np.bincount(np.zeros(len(own), dtype=np.int64), weights=own, minlength=1)[0])
    rows = float(len(own))
    if rows < 2 * least:
        return gains, cuts, sides
    for column in range(columns):
        values = int(bins.n_values[column])
        code = bins.codes[column, here]
        sums = np.bincount(code, weights=own, minlength=values + 1)
        counts = np.bincount(code, minlength=values + 1).astype(np.float64)
        left_sum, left_count = np.cumsum(sums[:values]), np.cumsum(counts[:values])
        gain = np.full((values, 2), -np.inf)
        for side in (0, 1):
            if side and not counts[values]:
                break
            s = left_sum + sums[values] if side else left_sum
            m = left_count + counts[values] if side else left_count
            able = (m >= least) & (rows - m >= least)
            s, m, rest = s[able], m[able], total - s[able]
            gain[able, side] = s * s / m + rest * rest / (rows - m) - total * total / rows
        best = int(gain.argmax())
        cut, side = divmod(best, 2)
        gains[column] = gain[cut, side]
        if gains[column] == -np.inf:
            continue
        filled = np.flatnonzero(counts[cut + 1 : values])
        cuts[column] = (cut + (cut + int(filled[0]))) // 2 if len(filled) else values - 1
        sides[column] = bool(side) if counts[values] else left_count[cut] >= rows - left_count[cut]
    return gains, cuts, sides
