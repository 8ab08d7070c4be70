"""The poly-dominance index: a skyline of models for every range of sizes; a look-up takes two binary searches.

Costs grow with size. So the cost of a model at the first size of a range is its least cost in the range, and a model
whose least cost exceeds the budget cannot fit. The least costs of all models on the skylines are stored, so the second
binary search compares stored numbers and evaluates no polynomial. The most expensive remaining model is then priced at
the requested size. In narrow ranges it nearly always fits; otherwise (the last range has no end) the search continues
among the cheaper models.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.envelope import presence_by_envelope
from bench_polydom.polynomials import AFFORDABLE, MAX_SIZE, evaluate
from bench_polydom.skylines import least_costs, skylines
from bench_polydom.sweep import SAME, all_crossings, presence_by_sweep

__all__ = ["FullIndex", "Index", "NaiveScan", "PolyDomIndex", "checked_query", "halvings", "lookup_microseconds"]

NOTHING = -1
"""Result of a look-up if no candidate is within the budget."""


def checked_query(size: float, budget: float) -> None:
    """Check the size and the budget of a look-up.

    Raises:
        ValueError: the size is negative, NaN or beyond `MAX_SIZE`, or the budget is negative or NaN.
    """
    if not 0.0 <= size <= MAX_SIZE:
        raise ValueError(f"an item's size must be between 0 and {MAX_SIZE:g}, not {size}")
    if not budget >= 0.0:
        raise ValueError(f"a budget must be at least 0, not {budget}")


class Index(ABC):
    """An index that finds the most accurate candidate for an item's size and a budget.

    Attributes:
        candidates: the models that it chooses from.
    """

    candidates: Candidates

    def saved_fields(self) -> dict[str, Any]:
        """Fields of a saved index: the arguments of its constructor."""
        return {"candidates": self.candidates}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Index:
        """Build the index from `saved_fields`."""
        return cls(**fields)

    @abstractmethod
    def lookup(self, size: float, budget: float) -> int:
        """Return the position of the most accurate candidate with C(S, size) ≤ budget; −1 if all cost more.

        Ties in accuracy go to the cheapest. A cost is within the budget if it is at most budget × `AFFORDABLE`.

        Raises:
            ValueError: see `checked_query`.
        """

    def priced_at(self, size: float) -> float:
        """The size at which the index estimates a model's cost for an item of a given size: by default the same."""
        return size

    @property
    @abstractmethod
    def entries(self) -> int:
        """Size of the index: number of (point, model) pairs, or of models, that it stores (Metric 2)."""

    @abstractmethod
    def steps(self, size: float) -> int:
        """Maximum number of comparisons of a look-up at this size (Metric 3, independent of the machine)."""


class NaiveScan(Index):
    """NaiveLookup: no index; every look-up prices every candidate.

    Few candidates are scanned by a loop and many by NumPy, whichever is faster, so that an index is not compared with
    the overhead of NumPy's calls.
    """

    LOOP_BELOW = 96
    """Number of candidates below which the loop is faster than NumPy (benchmarks/polydom_speed.py prints both)."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates

    @cached_property
    def _plain(self) -> list[tuple[float, list[float]]]:
        """Accuracy and curve, highest power first, of each candidate; only the loop needs them."""
        return list(zip(self.candidates.accuracy.tolist(), self.candidates.curves[:, ::-1].tolist(), strict=True))

    def lookup(self, size: float, budget: float) -> int:
        checked_query(size, budget)
        few = len(self.candidates) < self.LOOP_BELOW
        return self.scan_by_loop(size, budget) if few else self.scan_by_numpy(size, budget)

    def scan_by_loop(self, size: float, budget: float) -> int:
        """`lookup` by a loop over the candidates, without the check of the query."""
        limit = budget * AFFORDABLE
        best, best_accuracy, best_cost = NOTHING, -math.inf, math.inf
        for number, (accuracy, curve) in enumerate(self._plain):
            if accuracy < best_accuracy:
                continue
            cost = 0.0
            for coefficient in curve:
                cost = cost * size + coefficient
            if cost <= limit and (accuracy > best_accuracy or cost < best_cost):
                best, best_accuracy, best_cost = number, accuracy, cost
        return best

    def scan_by_numpy(self, size: float, budget: float) -> int:
        """`lookup` by NumPy arrays, without the check of the query."""
        cost = evaluate(self.candidates.curves, size)
        fits = np.flatnonzero(cost <= budget * AFFORDABLE)
        if not len(fits):
            return NOTHING
        accuracy = self.candidates.accuracy[fits]
        best = fits[accuracy == accuracy.max()]
        return int(best[cost[best].argmin()])

    @property
    def entries(self) -> int:
        return len(self.candidates)

    def steps(self, size: float) -> int:
        return len(self.candidates)


class PolyDomIndex(Index):
    """The skyline at every interesting point only: the sizes at which the skyline changes (Theorem 3.13).

    Attributes:
        starts: float64 (points,): first size of each range; the first one is 0.
        offsets: int64 (points + 1,): index of the first member of each range's skyline in ``members``.
        members: int32: candidates, skyline after skyline, each by ascending cost and accuracy.
    """

    def __init__(
        self,
        candidates: Candidates,
        starts: NDArray[np.float64],
        offsets: NDArray[np.int64],
        members: NDArray[np.int32],
    ) -> None:
        self.candidates = candidates
        self.starts, self.offsets, self.members = starts, offsets, members
        self._starts: list[float] = starts.tolist()
        self._offsets: list[int] = offsets.tolist()
        self._members: Any = memoryview(np.ascontiguousarray(members))  # type: ignore[arg-type]
        self._curves = [tuple(curve[::-1]) for curve in candidates.curves.tolist()]
        self._least = least_costs(candidates, starts, offsets, members)

    def saved_fields(self) -> dict[str, Any]:
        arrays = {"starts": self.starts, "offsets": self.offsets, "members": self.members}
        return {"candidates": self.candidates, **arrays}

    def __reduce__(self) -> tuple[Any, ...]:
        # Members are read through a memoryview, which cannot be pickled.
        return type(self), (self.candidates, self.starts, self.offsets, self.members)

    @classmethod
    def build(cls, candidates: Candidates, builder: Literal["envelope", "sweep"] = "envelope") -> PolyDomIndex:
        """Build from candidates.

        Args:
            candidates: any candidates; those that are never on a skyline are not stored.
            builder: ``sweep`` is the paper's Algorithm 3; ``envelope`` builds the same index faster.
        """
        if builder == "sweep":
            presence, _ = presence_by_sweep(candidates)
        else:
            presence = presence_by_envelope(candidates)
        return cls(candidates, *skylines(presence, candidates))

    def lookup(self, size: float, budget: float) -> int:
        # The checks of `checked_query`, inlined for speed.
        if not (0.0 <= size <= MAX_SIZE and budget >= 0.0):
            checked_query(size, budget)
        return self._affordable(bisect_right(self._starts, size) - 1, size, budget * AFFORDABLE)

    def _affordable(self, at: int, size: float, limit: float) -> int:
        """The most expensive model on a range's skyline that costs at most `limit` at a size within the range."""
        first = low = self._offsets[at]
        high = bisect_right(self._least, limit, first, self._offsets[at + 1])
        members, curves = self._members, self._curves
        step = 1
        while low < high:
            probe = high - step if high - step > low else low
            member = members[probe]
            cost = 0.0
            for coefficient in curves[member]:
                cost = cost * size + coefficient
            if cost > limit:
                high = probe
                step += step
            elif probe + 1 == high:
                return member  # type: ignore[no-any-return]
            else:
                low = probe + 1
                step = (high - probe) >> 1
        return members[low - 1] if low > first else NOTHING

    def skyline(self, size: float) -> NDArray[np.int32]:
        """The candidates on the skyline at a size, by ascending cost."""
        checked_query(size, 0.0)
        at = bisect_right(self._starts, size) - 1
        return self.members[self.offsets[at] : self.offsets[at + 1]]

    @property
    def points(self) -> int:
        """Number of ranges of sizes with different skylines."""
        return len(self.starts)

    @property
    def entries(self) -> int:
        return len(self.members)

    def steps(self, size: float) -> int:
        return halvings(self.points) + halvings(len(self.skyline(size)))


class FullIndex(Index):
    """PolyDomIndexAll: the skyline at every crossing of any two candidates.

    Between two interesting points all skylines are equal. They are stored once, but `entries` counts each, as in the
    paper's index.

    Attributes:
        starts: float64 (points,): 0 and every crossing.
        compact: an index with the same skylines, each stored once.
    """

    def __init__(self, candidates: Candidates, compact: PolyDomIndex | None = None) -> None:
        self.candidates = candidates
        self.compact = compact or PolyDomIndex.build(candidates)
        crossed, stored = all_crossings(candidates), self.compact.starts
        after = np.searchsorted(stored, crossed)
        gap = np.minimum(crossed - stored[np.maximum(after - 1, 0)], np.append(stored, np.inf)[after] - crossed)
        self.starts = np.union1d(crossed[gap > SAME * crossed], stored)
        which = np.searchsorted(self.compact.starts, self.starts, side="right") - 1
        lengths = np.diff(self.compact.offsets)
        self._entries = int(lengths[which].sum())
        self._starts: list[float] = self.starts.tolist()
        self._which: list[int] = which.tolist()

    def saved_fields(self) -> dict[str, Any]:
        return {"candidates": self.candidates, "compact": self.compact}

    def lookup(self, size: float, budget: float) -> int:
        checked_query(size, budget)
        at = self._which[bisect_right(self._starts, size) - 1]
        return self.compact._affordable(at, size, budget * AFFORDABLE)

    @property
    def points(self) -> int:
        """Number of ranges of sizes that have a skyline."""
        return len(self.starts)

    @property
    def entries(self) -> int:
        return self._entries

    def steps(self, size: float) -> int:
        return halvings(self.points) + halvings(len(self.compact.skyline(size)))


def lookup_microseconds(index: Index, sizes: Sequence[float], budgets: Sequence[float], passes: int = 7) -> float:
    """Mean time of a look-up over sizes × budgets, in microseconds: the fastest of several passes."""
    queries = [(size, budget) for size in sizes for budget in budgets]
    fastest = math.inf
    for _ in range(passes):
        start = time.perf_counter()
        for size, budget in queries:
            index.lookup(size, budget)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest / len(queries) * 1e6


def halvings(count: int) -> int:
    """Number of steps of a binary search among ``count`` entries."""
    return math.ceil(math.log2(count + 1)) if count else 0
