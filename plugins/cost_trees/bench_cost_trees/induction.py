"""Top-down induction of a tree: the reference implementation `grow_plain`, and `grow_compiled`.

A node is split by the test that `criteria.choose` returns, at the threshold of greatest gain, half-way between two
neighbouring values of the node's rows. Rows with a missing value count on neither side: the gain is that of the other
rows times their share of the node (Quinlan 1993, §3.1). They follow the larger child.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_cost_trees.criteria import FLOOR, Criterion, choose, entropy_sums
from bench_cost_trees.prices import Prices
from bench_cost_trees.tree import Tree

__all__ = ["Grower", "Limits", "best_threshold", "grow_compiled", "grow_plain"]

_UNBOUNDED = 1 << 30
_KINDS = {"gain": 0, "idx": 0, "eg2": 1, "cs-id3": 2, "gain-ratio": 3}


@dataclass(frozen=True)
class Limits:
    """Limits on the size of a tree.

    Attributes:
        depth: most tests on a path; None for no limit.
        split: fewest rows of a node that is split.
        leaf: fewest rows with a known value on either side of a split.
    """

    depth: int | None = None
    split: int = 2
    leaf: int = 2


@dataclass(frozen=True, eq=False)
class Grower:
    """A training table, ready to grow trees on any of its rows.

    Attributes:
        X: float64 (rows, columns); NaN is a missing value.
        y: int64 (rows,): class codes.
        n_classes: number of classes.
        feature_of_column: int64 (columns,): the feature of each column.
        codes: int32 (columns, rows): rank of each value among its column's distinct values; −1 for a missing value.
        values: float64: the distinct values of all columns, column by column, ascending within a column.
        starts: int64 (columns + 1,): index of each column's first value in `values`.
        sums: float64 (rows + 1,), from `entropy_sums`.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    n_classes: int
    feature_of_column: NDArray[np.int64]
    codes: NDArray[np.int32]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    sums: NDArray[np.float64]

    @staticmethod
    def of(
        X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, feature_of_column: NDArray[np.int64]
    ) -> Grower:
        """Build the table: rank the values of every column. The arguments are those of the attributes."""
        rows, columns = X.shape
        codes = np.full((columns, rows), -1, dtype=np.int32)
        values: list[NDArray[np.float64]] = []
        for column in range(columns):
            present = ~np.isnan(X[:, column])
            distinct, codes[column, present] = np.unique(X[present, column], return_inverse=True)
            values.append(distinct)
        starts = np.cumsum([0, *(len(distinct) for distinct in values)], dtype=np.int64)
        return Grower(
            np.ascontiguousarray(X),
            np.ascontiguousarray(y, dtype=np.int64),
            n_classes,
            np.asarray(feature_of_column, dtype=np.int64),
            codes,
            np.concatenate(values) if columns else np.zeros(0),
            starts,
            entropy_sums(rows),
        )


def best_threshold(
    values: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, sums: NDArray[np.float64], leaf: int
) -> tuple[float, float, float, bool] | None:
    """The threshold of greatest gain on one column; the lowest among equals.

    Args:
        values: float64 (rows,): the column's values at a node; NaN is a missing value.
        y: int64 (rows,): class codes.
        n_classes: number of classes.
        sums: float64, from `entropy_sums`.
        leaf: fewest rows on either side.

    Returns:
        Gain and split information, both in bits times rows; the threshold; whether missing values go left. None if
        no split has a gain of at least `FLOOR`.
    """
    known = ~np.isnan(values)
    seen, labels = values[known], y[known]
    n = len(seen)

    def spread(counts: NDArray[np.int64]) -> float:
        return float(sums[counts.sum()] - sums[counts].sum())

    total = spread(np.bincount(labels, minlength=n_classes))
    best = None
    distinct = np.unique(seen)
    for low, high in zip(distinct[:-1].tolist(), distinct[1:].tolist(), strict=True):
        below = seen <= low
        m = int(below.sum())
        if m < leaf or n - m < leaf:
            continue
        gain = total - spread(np.bincount(labels[below], minlength=n_classes))
        gain -= spread(np.bincount(labels[~below], minlength=n_classes))
        if gain >= FLOOR and (best is None or gain > best[0]):
            information = float(sums[len(values)] - sums[m] - sums[n - m] - sums[len(values) - n])
            best = gain, information, middle(low, high), m >= n - m
    return best


def middle(low: float, high: float) -> float:
    """A threshold t between two values, low ≤ t < high: their mean, or `low` where rounding prevents that."""
    half = low / 2 + high / 2
    return half if low <= half < high else low


def grow_plain(
    grower: Grower,
    rows: NDArray[np.int64],
    criterion: Criterion,
    prices: Prices,
    limits: Limits,
    *,
    by_path: bool,
    allowed: NDArray[np.bool_] | None = None,
) -> Tree:
    """Grow a tree in plain NumPy: the reference implementation of `grow_compiled`, which equals it bit for bit.

    Args:
        grower: the training table.
        rows: int64 (n,): indices of the rows to learn from.
        criterion: the rule for choosing tests.
        prices: prices of the tests.
        limits: limits on the tree's size.
        by_path: whether the price of a test depends on the tests above it: a repeated test is free, and a test in a
            paid group costs less. If False, a test always costs its first price.
        allowed: bool (features,): features that may be tested; None allows all.
    """
    first = _forbid(criterion.divisors(prices.first), allowed)
    later = _forbid(criterion.divisors(prices.later), allowed)
    again = float(criterion.divisors(np.zeros(1))[0])
    nodes: list[tuple[int, float, bool, int]] = []
    todo: list[tuple[NDArray[np.int64], tuple[int, ...]]] = [(np.asarray(rows), ())]
    counts = []
    while len(nodes) < len(todo):
        own, path = todo[len(nodes)]
        counts.append(np.bincount(grower.y[own], minlength=grower.n_classes))
        test = None
        if len(own) >= limits.split and (limits.depth is None or len(path) < limits.depth):
            test = _best_test(grower, own, criterion, (first, later, again), prices.group, limits, path, by_path)
        if test is None:
            nodes.append((-1, 0.0, False, -1))
            continue
        column, threshold, missing_left = test
        nodes.append((column, threshold, missing_left, len(todo)))
        values = grower.X[own, column]
        left = np.where(np.isnan(values), missing_left, values <= threshold)
        below = (*path, int(grower.feature_of_column[column]))
        todo += [(own[left], below), (own[~left], below)]
    column_, threshold_, missing_, left_ = zip(*nodes, strict=True)
    return Tree(
        np.array(column_, dtype=np.int64),
        np.array(threshold_),
        np.array(missing_, dtype=bool),
        np.array(left_, dtype=np.int64),
        np.array(counts, dtype=np.int64),
    )


def _best_test(
    grower: Grower,
    rows: NDArray[np.int64],
    criterion: Criterion,
    divisors: tuple[NDArray[np.float64], NDArray[np.float64], float],
    group: NDArray[np.int64],
    limits: Limits,
    path: tuple[int, ...],
    by_path: bool,
) -> tuple[int, float, bool] | None:
    first, later, again = divisors
    opened = {int(group[feature]) for feature in path} - {-1}
    columns = grower.X.shape[1]
    gains, information, now = np.zeros(columns), np.ones(columns), np.zeros(columns)
    splits: list[tuple[float, bool]] = [(0.0, False)] * columns
    for column in range(columns):
        feature = int(grower.feature_of_column[column])
        now[column] = first[feature]
        if by_path and feature in path:
            now[column] = again if np.isfinite(first[feature]) else np.inf
        elif by_path and int(group[feature]) in opened:
            now[column] = later[feature]
        split = best_threshold(grower.X[rows, column], grower.y[rows], grower.n_classes, grower.sums, limits.leaf)
        if split is not None:
            gains[column], information[column] = split[0] / len(rows), split[1] / len(rows)
            splits[column] = split[2], split[3]
    chosen = choose(criterion.name, gains, information, now)
    return None if chosen < 0 else (chosen, *splits[chosen])


def _forbid(divisors: NDArray[np.float64], allowed: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    return divisors if allowed is None else np.where(allowed, divisors, np.inf)


def grow_compiled(
    grower: Grower,
    rows: NDArray[np.int64],
    criterion: Criterion,
    prices: Prices,
    limits: Limits,
    *,
    by_path: bool,
    allowed: NDArray[np.bool_] | None = None,
) -> Tree:
    """Compiled `grow_plain`."""
    from bench_cost_trees._kernels import grow

    return Tree(
        *grow(
            grower.codes,
            grower.values,
            grower.starts,
            np.require(grower.y, requirements="W"),  # numba compiles once more for read-only arrays
            grower.n_classes,
            grower.sums,
            np.require(grower.feature_of_column, requirements="W"),
            np.asarray(rows, dtype=np.int64),
            _KINDS[criterion.name],
            _forbid(criterion.divisors(prices.first), allowed),
            _forbid(criterion.divisors(prices.later), allowed),
            float(criterion.divisors(np.zeros(1))[0]),
            prices.group,
            by_path,
            _UNBOUNDED if limits.depth is None else limits.depth,
            limits.split,
            limits.leaf,
            FLOOR,
        )
    )
