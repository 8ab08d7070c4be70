"""Bounds on how many examples each candidate stops, from scores rounded to 16 bits.

Algorithm 1 spends nearly all its time reading scores: those of every candidate at every position. Rounded scores need a
quarter of the memory traffic of float64, and vectors hold four times as many. They leave only the few examples next to
a threshold uncertain. So most candidates are ruled out without exact scores, and the result has the same bits.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bounds"]

LARGEST = 32_000
"""The largest score, in units."""
MOST = 2**29
"""The largest partial sum, in units; adding a score stays within 32 bits and below `GONE`."""
GONE = 2**30
"""The sum of stopped examples."""
ROUNDING = 0.4
"""The largest rounding error of a sum in the scores' own type, in units."""
SQUEEZE_AT = 0.7
"""Columns of stopped examples are removed when less than this share is active."""


class Bounds:
    """Rounded scores of the remaining base models on the recently active examples.

    Args:
        scores: float32 or float64 (T, N).
        bias: start of the sums.
        pos, neg: uint32: examples by the full ensemble's decision, ascending.
        pool, threads: threads that share the work; no influence on the result.
    """

    def __init__(
        self,
        scores: NDArray[Any],
        bias: float,
        pos: NDArray[np.uint32],
        neg: NDArray[np.uint32],
        pool: ThreadPoolExecutor,
        threads: int,
    ) -> None:
        from bench_qwyc import _kernels_bounds as kernels

        low, high, largest = kernels.reach(scores, bias)
        furthest = max(abs(low), abs(high))
        limits = [(LARGEST, largest), (MOST, furthest), (ROUNDING, furthest * float(np.finfo(scores.dtype).eps))]
        self.units = min([most / size for most, size in limits if size > 0 and most / size < np.inf], default=1.0)
        self.pool, self.threads = pool, threads
        self.columns, self.split = np.concatenate([pos, neg]), len(pos)
        self.rounded: NDArray[np.int16] = np.empty(scores.shape, dtype=np.int16)
        self.row_of = np.arange(len(scores))
        self._share(
            len(scores), lambda a, b: kernels.round_scores(scores, a, b, self.columns, self.units, self.rounded)
        )

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

        if len(pos) + len(neg) < SQUEEZE_AT * len(self.columns):
            self._squeeze(np.sort(candidates), pos, neg)
        base = np.empty(len(self.columns), dtype=np.int32)
        kernels.round_sums(self.columns[: self.split], pos, g_pos, self.units, GONE, base[: self.split])
        kernels.round_sums(self.columns[self.split :], neg, g_neg, self.units, -GONE, base[self.split :])
        rows, exits = self.row_of[candidates], np.empty(len(candidates), dtype=np.int64)

        def work(a: int, b: int) -> None:
            kernels.bound_exits(rows[a:b], self.rounded, base, self.split, len(pos), len(neg), budget, both, exits[a:b])

        self._share(len(rows), work)
        return exits

    def _squeeze(self, models: NDArray[np.int64], pos: NDArray[np.uint32], neg: NDArray[np.uint32]) -> None:
        """Remove the examples that have stopped and the base models that have run, within the allocated memory."""
        from bench_qwyc import _kernels_bounds as kernels

        split = self.split
        places = np.searchsorted(self.columns[:split], pos), split + np.searchsorted(self.columns[split:], neg)
        flat, width = self.rounded.reshape(-1), len(self.columns)
        self.columns, self.split = np.concatenate([pos, neg]), len(pos)
        kernels.squeeze(flat, width, self.row_of[models], np.concatenate(places))
        shape = (len(models), len(self.columns))
        self.rounded = flat[: shape[0] * shape[1]].reshape(shape)
        self.row_of[models] = np.arange(len(models))

    def _share(self, count: int, work: Any) -> None:
        if self.threads == 1:
            work(0, count)
            return
        cuts = np.linspace(0, count, 4 * self.threads + 1).astype(int)
        list(self.pool.map(lambda part: work(*part), [(a, b) for a, b in itertools.pairwise(cuts.tolist()) if a < b]))
