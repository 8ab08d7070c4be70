"""Comparison of two decisions on the same rows: exact for everything that metrics depend on, else up to rounding.

Floating-point numbers may differ by rounding, because threads may add them in another order. A policy must not pass on
information about rows by differences within the rounding. So the results that follow from the numbers are compared
exactly: the label, whether the answer is conclusive, and, for ranked rows, the order within a query. A policy cannot
enlarge the tolerance: it is absolute for probabilities; for a score it is relative to the spread of the target, or four
units in the last place of the score. The tolerance of an evaluation cost is relative to that cost.

One gap remains: a metric that depends on finer differences (such as the order of scores in a task without ranking,
unless the metric declares ``order``) can be affected by differences below 1e-9 of the target's spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions

_TOLERANCE = 1e-9
_LAST_PLACES = 4


@dataclass(frozen=True)
class Agreement:
    """Which properties are compared exactly, and how much rounding is allowed.

    Attributes:
        threshold: confidence threshold p̂, or None when nothing is refused.
        ranked: whether the order of the scores is compared (for two classes without scores, the order of the second
            class's probabilities).
        scale: spread of the target, in its unit: a score may differ by 1e-9 of it.
    """

    threshold: float | None = None
    ranked: bool = False
    scale: float = 0.0

    def changed(self, before: Decisions, after: Decisions, query: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Rows on which two decisions differ.

        Args:
            before, after: checked decisions on the same rows.
            query: int64 (rows,) query ids: the order is compared within each; over all rows when None.

        Returns:
            bool (rows,).
        """
        every_row = np.ones(len(before), dtype=bool)
        if np.shape(before.acquired) != np.shape(after.acquired):
            return every_row
        changed: NDArray[np.bool_] = (before.acquired != np.asarray(after.acquired)).any(axis=1)
        for name in ("stage", "evaluations", "evaluation_cost", "score", "probabilities"):
            a, b = getattr(before, name), getattr(after, name)
            if a is None and b is None:
                continue
            if a is None or b is None or np.shape(a) != np.shape(b):
                return every_row
            a, b = np.asarray(a), np.asarray(b)
            if np.array_equal(a, b):
                continue
            if name in ("stage", "evaluations"):
                changed |= a != b
            elif name == "probabilities":
                changed |= self._changed_answers(a, b)
            else:
                changed |= np.asarray(~(np.abs(a - b) <= self._rounding(name, a)))
        first, second = (_ranking(before), _ranking(after)) if self.ranked else (None, None)
        if first is not None and second is not None and not np.array_equal(first, second):
            ids = np.zeros(len(first), dtype=np.int64) if query is None else query
            changed |= _below(first, ids) != _below(second, ids)
        return changed

    def _changed_answers(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Rows whose label changed, which crossed p̂, or whose probabilities differ by more than rounding."""
        changed = np.asarray(~(np.abs(a - b) <= _TOLERANCE).all(axis=1), dtype=np.bool_)
        changed |= a.argmax(axis=1) != b.argmax(axis=1)
        if self.threshold is not None:
            changed |= (a.max(axis=1) >= self.threshold) != (b.max(axis=1) >= self.threshold)
        return changed

    def _rounding(self, name: str, a: NDArray[np.float64]) -> NDArray[np.float64]:
        if name == "evaluation_cost":
            return _TOLERANCE * np.abs(a)
        return np.asarray(np.maximum(_TOLERANCE * self.scale, _LAST_PLACES * np.spacing(np.abs(a))))


def _ranking(decisions: Decisions) -> NDArray[np.float64] | None:
    """The values that ranking metrics sort by (`bench_core.contract.metric`)."""
    if decisions.score is not None:
        return np.asarray(decisions.score)
    table = decisions.probabilities
    return None if table is None or np.shape(table)[1] != 2 else np.asarray(table)[:, 1]


def _below(score: NDArray[np.float64], query: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row, the number of rows of its query with a lower score; equal scores get equal numbers."""
    order = np.lexsort((score, query))
    ids, values = query[order], score[order]
    place = np.arange(len(order))
    new_query = np.append(True, ids[1:] != ids[:-1])
    new_value = new_query | np.append(True, values[1:] != values[:-1])
    first = np.maximum.accumulate(np.where(new_query, place, 0))
    level = np.maximum.accumulate(np.where(new_value, place, 0))
    below = np.empty(len(order), dtype=np.int64)
    below[order] = level - first
    return below
