"""Violations of "information never hurts" (PolyDom, Axiom 2.1 and appendix, "Anti-monotonicity")."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_polydom.lattice import Expansion

__all__ = ["violation_summary", "violations"]


def violations(expansion: Expansion) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All pairs of expanded sets S ⊂ S' with A(S) > A(S') (PolyDom, appendix, "Anti-monotonicity").

    Returns:
        A(S) − A(S'), float64 (pairs,), and |S'| − |S|, int64 (pairs,).
    """
    masks = np.array(sorted(expansion.accuracy), dtype=np.int64)
    accuracy = np.array([expansion.accuracy[int(mask)] for mask in masks])
    counts = np.array([int(mask).bit_count() for mask in masks], dtype=np.int64)
    sizes: list[NDArray[np.float64]] = [np.zeros(0)]
    distances: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for mask, value, count in zip(masks.tolist(), accuracy.tolist(), counts.tolist(), strict=True):
        worse = ((masks & mask) == mask) & (accuracy < value)
        sizes.append(value - accuracy[worse])
        distances.append(counts[worse] - count)
    return np.concatenate(sizes), np.concatenate(distances)


def violation_summary(expansion: Expansion) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Summary of the violations for a record: their number and quantiles, and medians and maxima by distance.

    Returns:
        diagnostics: ``pairs`` is the number of pairs S ⊂ S' of expanded sets, ``violations`` the number of them with S
            more accurate; ``violation_p95`` and ``violation_max`` are the 95 % quantile and the maximum of the
            violations (0 without any); ``small_violations`` is the share of violations of at most 0.02 (1 without any).
        series: entry k of ``violation_median`` and ``violation_worst`` is the median and the maximum over violations
            between sets that differ by k features, 0 if there are none.
    """
    sizes, distances = violations(expansion)
    masks = np.fromiter(expansion.accuracy, dtype=np.int64)
    pairs = sum(int(((masks & mask) == mask).sum()) - 1 for mask in masks.tolist())
    parts = [sizes[distances == k] for k in range(expansion.n_features + 1)]
    return {
        "pairs": pairs,
        "violations": len(sizes),
        "violation_p95": float(np.quantile(sizes, 0.95)) if len(sizes) else 0.0,
        "violation_max": float(sizes.max()) if len(sizes) else 0.0,
        "small_violations": float(np.mean(sizes <= 0.02)) if len(sizes) else 1.0,
    }, {
        "violation_median": [float(np.median(part)) if len(part) else 0.0 for part in parts],
        "violation_worst": [float(part.max()) if len(part) else 0.0 for part in parts],
    }
