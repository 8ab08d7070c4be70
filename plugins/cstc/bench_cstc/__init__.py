"""Cost-sensitive trees and cascades of classifiers: CSTC, CSCC and Cronus (Xu et al. 2014).

The names below are for other plugins: boosted trees as columns, prices of columns, targets of ±1, Platt's sigmoid.
They are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core import lazy_names

if TYPE_CHECKING:
    from bench_cstc.calibrate import Platt, combine, fit_platt
    from bench_cstc.columns import BoostedTrees, PlainColumns, boost, price_of_evaluation
    from bench_cstc.leaf import scale_of
    from bench_cstc.penalty import Penalty
    from bench_cstc.targets import Target, targets_of
    from bench_cstc.walker import ConstantPolicy, weighted_sum

__all__ = [
    "BoostedTrees",
    "ConstantPolicy",
    "Penalty",
    "PlainColumns",
    "Platt",
    "Target",
    "boost",
    "combine",
    "fit_platt",
    "price_of_evaluation",
    "scale_of",
    "targets_of",
    "weighted_sum",
]

_HOMES = {
    "BoostedTrees": "columns",
    "ConstantPolicy": "walker",
    "Penalty": "penalty",
    "PlainColumns": "columns",
    "Platt": "calibrate",
    "Target": "targets",
    "boost": "columns",
    "combine": "calibrate",
    "fit_platt": "calibrate",
    "price_of_evaluation": "columns",
    "scale_of": "leaf",
    "targets_of": "targets",
    "weighted_sum": "walker",
}

__getattr__ = lazy_names(__name__, _HOMES)
