"""What PolyDom would train and index at other tolerances (PolyDom, Metrics 1 to 3 on the real data set, its figures).

The paper trains a model for every set of features once, and runs its algorithms on the accuracies that it kept. So
does this: a search for every α and e costs no training.
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
        accuracy: of a set of features; called again and again, so it should remember.
        n_features: d.
        curves: the costs of sets (masks, int64 (sets,)) as polynomials of the size, float64 (sets, degree + 1).
        alphas: accuracies that may be given up, each a line of a figure.
        es: by how much a superset may be less accurate: the places of every series.
        size: of the item that is looked up.

    Returns:
        ``tolerances``: the values of e. For every α, with its value at the end of the name: ``expanded_alpha_``, the
        sets that are trained (Metric 1); ``entries_alpha_``, the size of the index (Metric 2) of PolyDom, with
        ``all_entries_alpha_`` that of PolyDomIndexAll and ``naive_entries_alpha_`` that of NaiveLookup;
        ``steps_alpha_``, ``all_steps_alpha_`` and ``naive_steps_alpha_``, the comparisons that a look-up takes at most
        (Metric 3 without the machine).
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
