"""The exact global Pareto front over all ordered partitions with at most k stages (EMSCO, sections 2.1, 2.2, 4.2).

An ordered partition of the features is a chain of nested subsets S1 < S2 < ... < F: the features acquired up to each
stage. A row leaves at the first subset whose classifier is confident, and pays for that subset; a row that no
classifier decides pays for all features. Comparing hundreds of millions of chromosomes with each other is not feasible.
Instead, a table stores the least cost for each pair (conclusive rows, correct rows), and the number of chains that
attain it. The front is computed from the few hundred pairs that occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb
from threading import Lock
from typing import Any

import numpy as np
from bench_models.threads import resolve_threads, run_ranges
from numpy.typing import ArrayLike, NDArray

__all__ = ["GlobalFront", "chromosome_count", "exact_front", "exact_front_reference"]

_JOBS = 32  # fixed, so that listings do not depend on the number of threads
_MAX_FEATURES = 24


def chromosome_count(n_features: int, max_stages: int) -> int:
    """Number of ordered partitions of n features into 1..max_stages stages (Equations 1 and 2)."""
    return sum(
        (-1) ** (j - i) * comb(j, i) * i**n_features
        for j in range(1, min(max_stages, n_features) + 1)
        for i in range(j + 1)
    )


@dataclass(frozen=True)
class GlobalFront:
    """The global Pareto front of one data set, at most k stages.

    Points are sorted by conclusive, then by correct, both descending.

    Attributes:
        conclusive: int64 (p,): number of decided rows; g1 = conclusive / n_rows.
        correct: int64 (p,): number of correctly decided rows; g2 = correct / conclusive, 0 if no row is conclusive.
        cost: (p,): sum over the rows, in the units of the cost table; g3* = cost / n_rows.
        multiplicity: int64 (p,): number of distinct chromosomes with the objectives of each point.
        n_rows: number of evaluation rows.
        n_features: number of features.
        max_stages: maximum number k of stages.
        n_chromosomes: number of chromosomes evaluated: all that exist.
    """

    conclusive: NDArray[np.int64]
    correct: NDArray[np.int64]
    cost: NDArray[Any]
    multiplicity: NDArray[np.int64]
    n_rows: int
    n_features: int
    max_stages: int
    n_chromosomes: int
    _tables: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[Any]] = field(repr=False, compare=False)

    @property
    def n_points(self) -> int:
        """Number of distinct objective vectors on the front."""
        return int(self.conclusive.size)

    @property
    def n_optimal(self) -> int:
        """Number of distinct chromosomes on the front, as in Table 6."""
        return int(self.multiplicity.sum())

    @property
    def points(self) -> list[tuple[int, int, int | float]]:
        """(conclusive, correct, cost) of every point."""
        return list(zip(self.conclusive.tolist(), self.correct.tolist(), self.cost.tolist(), strict=True))

    def least_cost(self) -> NDArray[Any]:
        """Table ((n_rows + 1)**2,): a front point's cost at conclusive * (n_rows + 1) + correct; others are -1."""
        table = np.full((self.n_rows + 1) ** 2, -1, dtype=self.cost.dtype)
        table[self.conclusive * (self.n_rows + 1) + self.correct] = self.cost
        return table

    def membership(self, conclusive: ArrayLike, correct: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
        """Whether chromosomes with these objectives are globally optimal, bool (m,).

        Exact: a chromosome is optimal if and only if its three numbers are those of a front point. `cost` is the sum
        over rows in the cost table's units; on the float64 fallback it must be computed as the table's was.

        Raises:
            ValueError: a count is outside 0..n_rows or correct exceeds conclusive.
        """
        decided = np.atleast_1d(np.asarray(conclusive, dtype=np.int64))
        hits = np.atleast_1d(np.asarray(correct, dtype=np.int64))
        if decided.size and not (hits.min() >= 0 and (hits <= decided).all() and decided.max() <= self.n_rows):
            raise ValueError(f"counts must satisfy 0 <= correct <= conclusive <= {self.n_rows}")
        return self.least_cost()[decided * (self.n_rows + 1) + hits] == np.atleast_1d(np.asarray(cost))

    @property
    def tables(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[Any]]:
        """The tables that the front was computed from: confident, right and cost of every subset."""
        return self._tables

    def only(self, points: NDArray[np.int64]) -> GlobalFront:
        """The front restricted to some of its points, to list their chromosomes."""
        chosen = {name: getattr(self, name)[points] for name in ("conclusive", "correct", "cost", "multiplicity")}
        return replace(self, **chosen)

    def chromosomes(self, limit: int, *, threads: int | None = None) -> NDArray[np.int8]:
        """Up to `limit` optimal chromosomes, int8 (m, n_features): the stage of each feature, from 0.

        This evaluates all chains again. The limit is needed because millions of chromosomes may share a point. The
        result does not depend on the number of threads.

        Raises:
            ValueError: limit is below 1.
        """
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        _, _, chains, _ = _scan(*self._tables, self.n_rows, self.max_stages, threads, self.least_cost(), limit)
        held = (chains[:, :, None] >> np.arange(self.n_features)) & 1
        stages = (chains != 0).sum(axis=1)
        return (stages[:, None] - held.sum(axis=1)).astype(np.int8)


def exact_front(
    confident: ArrayLike,
    right: ArrayLike,
    costs: ArrayLike,
    n_rows: int,
    max_stages: int,
    *,
    threads: int | None = None,
) -> GlobalFront:
    """Evaluate every chromosome and return the global Pareto front.

    Args:
        confident: uint64 (2**n, words): confident rows of each subset (`SubsetCache` after `fill_all`).
        right: uint64 (2**n, words): confident rows with the right label.
        costs: (2**n,): cost of each subset; int64 units for exact ties, float64 as a fallback.
        n_rows: number of evaluation rows.
        max_stages: maximum number k of stages, at least 1; a number above n means n.
        threads: number of threads; by default at most two. The result does not depend on it.

    Raises:
        ValueError: shapes do not match, n is 0 or above 24, `n_rows` or `max_stages` is out of range, a cost is
            negative, or a total could reach 2**53.
    """
    c = np.ascontiguousarray(confident, dtype=np.uint64)
    r = np.ascontiguousarray(right, dtype=np.uint64)
    prices = np.ascontiguousarray(costs)
    if c.ndim != 2 or c.shape != r.shape or prices.shape != c.shape[:1]:
        raise ValueError(f"confident {c.shape}, right {r.shape} and costs {prices.shape} do not match")
    n_features = c.shape[0].bit_length() - 1
    if c.shape[0] != 1 << n_features or not 1 <= n_features <= _MAX_FEATURES:
        raise ValueError(f"confident must have 2**n rows with n in 1..{_MAX_FEATURES}, got {c.shape[0]}")
    if not 1 <= n_rows <= 64 * c.shape[1]:
        raise ValueError(f"n_rows must be in 1..{64 * c.shape[1]}, got {n_rows}")
    if max_stages < 1:
        raise ValueError(f"max_stages must be at least 1, got {max_stages}")
    prices = prices.astype(np.int64 if np.issubdtype(prices.dtype, np.integer) else np.float64)
    if not (prices >= 0).all() or float(prices.max()) * n_rows >= 2.0**53:
        raise ValueError("costs must be non-negative numbers whose total over the rows stays below 2**53")
    stages = min(int(max_stages), n_features)
    best, ties, _, evaluated = _scan(c, r, prices, n_rows, stages, threads, None, 0)
    expected = chromosome_count(n_features, stages)
    if evaluated != expected:
        raise RuntimeError(f"evaluated {evaluated} chromosomes, there are {expected}")
    cells = np.flatnonzero(ties)
    points = _optimal(cells // (n_rows + 1), cells % (n_rows + 1), best[cells], ties[cells])
    return GlobalFront(*points, n_rows, n_features, stages, evaluated, (c, r, prices))


def _optimal(
    conclusive: NDArray[np.int64], correct: NDArray[np.int64], cost: NDArray[Any], ties: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    from ._kernels_cells import not_dominated

    order = np.lexsort((-correct, -conclusive, cost))
    keep = np.zeros(order.size, dtype=bool)
    not_dominated(conclusive[order], correct[order], cost[order], keep)
    optimal = order[keep]
    optimal = optimal[np.lexsort((-correct[optimal], -conclusive[optimal]))]
    return conclusive[optimal], correct[optimal], cost[optimal], ties[optimal]


def _scan(
    confident: NDArray[np.uint64],
    right: NDArray[np.uint64],
    costs: NDArray[Any],
    n_rows: int,
    stages: int,
    threads: int | None,
    target: NDArray[Any] | None,
    limit: int,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64], int]:
    """Enter all chains into one table; with `target` (least costs, -1 where undefined), list chains that attain it."""
    from ._kernels_front import scan_long, scan_short, union_tables

    c, u, v = union_tables(confident, right)
    blank = (np.uint64(0),) * c.shape[0]
    cells = (n_rows + 1) ** 2
    highest = np.iinfo(np.int64).max if costs.dtype == np.int64 else np.inf
    best = np.full(cells, highest, dtype=costs.dtype)
    ties = np.zeros(cells, dtype=np.int64)
    listed: list[NDArray[np.int64]] = [np.zeros((0, stages), dtype=np.int64)] * (_JOBS + 1)
    evaluated = [0] * (_JOBS + 1)
    lock = Lock()

    def job(number: int) -> None:
        own_best = np.full(cells, highest, dtype=costs.dtype) if target is None else target.copy()
        own_ties = np.zeros(cells, dtype=np.int64)
        chains = np.zeros((limit, stages), dtype=np.int64)
        if number == 0:
            count, stored = scan_short(c, u, v, costs, n_rows, stages >= 2, own_best, own_ties, chains, 0)
        else:
            count, stored = scan_long(
                blank, c, u, v, right, costs, n_rows, stages, number - 1, _JOBS, own_best, own_ties, chains, 0
            )
        evaluated[number] = int(count)
        listed[number] = chains[:stored].copy()
        with lock:
            equal = own_best == best
            lower = own_best < best
            ties[equal] += own_ties[equal]
            ties[lower] = own_ties[lower]
            best[lower] = own_best[lower]

    def jobs(start: int, stop: int) -> None:
        for number in range(start, stop):
            job(number)

    run_ranges(jobs, _JOBS + 1 if stages >= 3 else 1, resolve_threads(threads), 1)
    return best, ties, np.concatenate(listed)[:limit], sum(evaluated)


def exact_front_reference(
    confident: ArrayLike, right: ArrayLike, costs: ArrayLike, n_rows: int, max_stages: int
) -> list[tuple[int, int, int, int]]:
    """Scalar reference implementation for small n: evaluates every chain row by row.

    Returns:
        Sorted tuples (conclusive, correct, cost, multiplicity).
    """
    c = [sum(int(word) << (64 * w) for w, word in enumerate(words)) for words in np.asarray(confident)]
    r = [sum(int(word) << (64 * w) for w, word in enumerate(words)) for words in np.asarray(right)]
    price = [int(cost) for cost in np.asarray(costs)]
    full = len(c) - 1

    def chains(start: int, stages: int) -> Iterator[list[int]]:
        yield [full]
        free = full & ~start
        extra = (free - 1) & free
        while extra and stages > 1:
            for rest in chains(start | extra, stages - 1):
                yield [start | extra, *rest]
            extra = (extra - 1) & free

    tally: dict[tuple[int, int, int], int] = {}
    for chain in chains(0, max_stages):
        conclusive = correct = total = 0
        for row in range(n_rows):
            leaves = next((s for s in chain if c[s] >> row & 1), None)
            conclusive += leaves is not None
            correct += leaves is not None and (r[leaves] >> row & 1)
            total += price[full if leaves is None else leaves]
        tally[conclusive, correct, total] = tally.get((conclusive, correct, total), 0) + 1

    def dominates(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
        accuracy = [Fraction(p[1], p[0]) if p[0] else Fraction(0) for p in (a, b)]
        no_worse = a[0] >= b[0] and accuracy[0] >= accuracy[1] and a[2] <= b[2]
        return no_worse and (a[0] > b[0] or accuracy[0] > accuracy[1] or a[2] < b[2])

    front = [point for point in tally if not any(dominates(other, point) for other in tally)]
    return [(*point, tally[point]) for point in sorted(front, key=lambda p: (-p[0], -p[1]))]
