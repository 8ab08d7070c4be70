"""How many base models rows run: kept in a record as a histogram per policy, of at most 64 bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions

MOST_BARS = 64


def distribution(decisions: Sequence[Decisions], full: Decisions | None = None) -> dict[str, Any] | None:
    """Histograms of the base models that rows run, in bars of one width.

    Args:
        decisions: of each policy, on the test rows.
        full: of the reference policy; the bars reach as far as its rows do.

    Returns:
        ``width`` (a power of two, so that histograms of different widths can be added up) and ``counts``: for each
        policy the number of rows that ran more than ``width * i`` and at most ``width * (i + 1)`` base models, or
        None for one that does not say. Rows that ran none count in the first bar. None when no policy says.
    """
    runs = [policy.evaluations for policy in decisions]
    counted = [count for count in runs if count is not None and len(count)]
    if not counted:
        return None
    if full is not None and full.evaluations is not None and len(full.evaluations):
        counted.append(full.evaluations)
    most = max(float(count.max()) for count in counted)
    width = 1
    while width * MOST_BARS < most:
        width *= 2
    bars = max(1, int(np.ceil(most / width)))
    return {"width": width, "counts": [None if count is None else _counts(count, width, bars) for count in runs]}


def _counts(runs: NDArray[Any], width: int, bars: int) -> list[int]:
    place = np.maximum(np.ceil(runs / width).astype(np.int64) - 1, 0)
    counts: list[int] = np.bincount(place, minlength=bars).tolist()
    return counts
