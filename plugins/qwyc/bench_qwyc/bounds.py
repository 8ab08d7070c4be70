"""Bounds on how many examples each candidate stops, from scores rounded to 16 bits.

Algorithm 1 spends nearly all its time reading scores: those of every candidate at every position. Rounded scores need a
quarter of the memory traffic of float64, and vectors hold four times as many. They leave only the few examples next to
a threshold uncertain. So most candidates are ruled out without exact scores, and the result has the same bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bounds"]

_Side = tuple[NDArray[np.uint32], NDArray[Any], int]
"""Active examples of a class, ascending; their partial sums; 1 for positives, −1 for negatives, which are mirrored."""

LARGEST = 32_000
"""The largest score, in units."""
MOST = 2**29
"""The largest partial sum, in units; adding a score stays below `GONE`."""
ROUNDING = 0.4
"""The largest rounding error of a sum in the scores' own type, in units."""
SQUEEZE_AT = 0.7
"""Columns of stopped examples are removed when less than this share is active."""


class Bounds:
    """Rounded scores of the remaining base models on the recently active examples.

    Each column belongs to an example. The columns of positives come before those of negatives. Within a class, columns
    are sorted by partial sum (of negatives, by its mirror image) whenever they are arranged, so that the sums of a
    block differ little. The last block of a class is filled up with copies of the last example; only one of them is
    active.

    Args:
        scores: float32 or float64 (T, N).
        bias: start of the sums.
        pool, threads: threads that share the work; no influence on the result.
    """

    def __init__(self, scores: NDArray[Any], bias: float, pool: ThreadPoolExecutor, threads: int) -> None:
        sizes = np.maximum(scores.max(axis=1), -scores.min(axis=1)).astype(np.float64)
        largest, furthest = float(sizes.max()), abs(bias) + float(sizes.sum())
        limits = [(LARGEST, largest), (MOST, furthest), (ROUNDING, furthest * float(np.finfo(scores.dtype).eps))]
        self.units = min([most / size for most, size in limits if size > 0 and most / size < np.inf], default=1.0)
        self.scores, self.pool, self.threads = scores, pool, threads
        self.place, self.row_of = np.empty(scores.shape[1], dtype=np.uint32), np.arange(len(scores))
        self.rounded: NDArray[np.int16] = np.empty((0, 0), dtype=np.int16)
        self.kept = 0

    def exits(
        self,
        candidates: NDArray[np.int64],
        pos: NDArray[np.uint32],
        neg: NDArray[np.uint32],
        g_pos: NDArray[Any],
        g_neg: NDArray[Any],
        budget: int,
        both: bool,
    ) -> NDArray[np.int64]:
        """Upper bounds on the exits of the candidates: int64 (candidates,).

        Args:
            candidates: all base models that are left.
            pos, neg: the active examples, ascending; each call's are a subset of the previous call's.
            g_pos, g_neg: their partial sums.
            budget: number of errors still allowed.
            both: whether positives may stop early.
        """
        from bench_qwyc import _kernels_bounds as kernels

        sides = (pos, g_pos, 1), (neg, g_neg, -1)
        if not self.kept or len(pos) + len(neg) < SQUEEZE_AT * self.kept:
            self._arrange(np.sort(candidates), sides)
        base = np.full(self.rounded.shape[1], kernels.GONE, dtype=np.int32)
        for examples, sums, sign in sides:
            kernels.round_sums(self.place[examples], sums, self.units, sign, base)
        extremes = kernels.active_extremes(base)
        rounded, spread, split = self.rounded, self.spread, self.split
        rows, exits = self.row_of[candidates], np.empty(len(candidates), dtype=np.int64)

        def work(a: int, b: int) -> None:
            kernels.bound_exits(rows[a:b], rounded, spread, base, extremes, split, budget, both, exits[a:b])

        self._share(len(rows), work)
        return exits

    def _arrange(self, models: NDArray[np.int64], sides: Sequence[_Side]) -> None:
        """Give the active examples sorted columns; remove all other examples, and the base models that have run.

        Scores are rounded once; later they are moved within the allocated memory.

        Args:
            models: the base models that are left, ascending.
            sides: positives, then negatives.
        """
        from bench_qwyc import _kernels_bounds as kernels

        halves = []
        for examples, sums, sign in sides:
            order = examples[(sign * sums).argsort(kind="stable")]
            halves.append(np.pad(order, (0, -len(order) % kernels.BLOCK), "edge"))
        columns, split, before = np.concatenate(halves), len(halves[0]), self.place.copy()
        self.place[columns] = np.arange(len(columns), dtype=np.uint32)
        if self.kept:
            flat, width = self.rounded.reshape(-1), self.rounded.shape[1]
            kernels.squeeze(flat, width, self.row_of[models], before[columns])
            rounded = flat[: len(models) * len(columns)].reshape(len(models), len(columns))
        else:
            rounded = np.empty((len(models), len(columns)), dtype=np.int16)
            self._share(
                len(models),
                lambda a, b: kernels.round_scores(self.scores, models[a:b], columns, split, self.units, rounded[a:b]),
            )
        self.rounded, self.row_of[models] = rounded, np.arange(len(models))
        self.split, self.kept = split // kernels.BLOCK, sum(len(examples) for examples, _, _ in sides)
        lows, highs = self.spread = np.empty((2, len(models), len(columns) // kernels.BLOCK), dtype=np.int16)
        self._share(len(models), lambda a, b: kernels.block_extremes(rounded[a:b], lows[a:b], highs[a:b]))

    def _share(self, count: int, work: Any) -> None:
        if self.threads == 1:
            work(0, count)
            return
        cuts = np.linspace(0, count, 4 * self.threads + 1).astype(int)
        list(self.pool.map(lambda part: work(*part), [(a, b) for a, b in itertools.pairwise(cuts.tolist()) if a < b]))
