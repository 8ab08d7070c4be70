"""PolyDom's Metrics 1 to 3 at other tolerances, as in the paper's figures on the real data set.

As in the paper, a model is trained once for every set of features, and the algorithms run on the stored accuracies.
So a search for further α and e needs no training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import prune
from bench_polydom.index import FullIndex, NaiveScan, PolyDomIndex
from bench_polydom.lattice import Accuracy, search

__all__ = ["series_by_tolerance"]


def series_by_tolerance(
    accuracy: Accuracy,
    n_features: int,
    curves: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    alphas: Sequence[float],
    es: Sequence[float],
    size: float,
) -> dict[str, list[float]]:
    """Metrics 1 to 3 of PolyDom and its two comparison points, without covering.

    Args:
        accuracy: returns the accuracy of a set of features; it is called repeatedly, so it should cache.
        n_features: number d of features.
        curves: returns cost curves, float64 (sets, degree + 1), of sets given as masks, int64 (sets,).
        alphas: values of α, with one line of a figure each.
        es: values of e, with one entry of every series each.
        size: item size of the look-ups.

    Returns:
        Series by name. ``tolerances`` holds the values of e. The other names end with the value of α:
        ``expanded_alpha_`` counts the sets that are trained (Metric 1); ``entries_alpha_``, ``all_entries_alpha_`` and
        ``naive_entries_alpha_`` are the index sizes (Metric 2) of PolyDom, PolyDomIndexAll and NaiveLookup;
        ``steps_alpha_``, ``all_steps_alpha_`` and ``naive_steps_alpha_`` are the maximum numbers of comparisons
        of a look-up (Metric 3, independent of the machine).
    """
    series: dict[str, list[float]] = {"tolerances": [float(e) for e in es]}
    for alpha in alphas:
        for e in es:
            expansion = search(accuracy, n_features, alpha, e)
            candidates = prune(expansion.candidates_by(curves))
            compact = PolyDomIndex.build(candidates)
            found = {"expanded": expansion.n_expanded}
            indexes = {"": compact, "all_": FullIndex(candidates, compact), "naive_": NaiveScan(candidates)}
            for prefix, index in indexes.items():
                found[f"{prefix}entries"] = index.entries
                found[f"{prefix}steps"] = index.steps(size)
            for name, value in found.items():
                series.setdefault(f"{name}_alpha_{alpha:g}", []).append(float(value))
    return series
