"""The compiled walk down LightGBM's trees; `forest.walk_plain` is its plain form."""

from __future__ import annotations

from typing import Any

import numba

from bench_cegb.forest import MISSING, ZERO

__all__ = ["walk"]

_TREES_AT_ONCE = 128
_AS_ZERO = MISSING["Zero"]
_AS_NAN = MISSING["NaN"]


@numba.njit(cache=True)
def walk(
    X: Any,
    roots: Any,
    column: Any,
    threshold: Any,
    missing: Any,
    default_left: Any,
    left: Any,
    right: Any,
    value: Any,
    feature_of_column: Any,
    scores: Any,
    acquired: Any,
) -> None:
    """Add every tree to scores (rows, outputs) and mark the features read in acquired (rows, features)."""
    outputs = scores.shape[1]
    for start in range(0, len(roots), _TREES_AT_ONCE):
        stop = min(start + _TREES_AT_ONCE, len(roots))
        for row in range(len(X)):
            for tree in range(start, stop):
                at = roots[tree]
                c = column[at]
                while c >= 0:
                    x = X[row, c]
                    acquired[row, feature_of_column[c]] = True
                    kind = missing[at]
                    if -ZERO <= x <= ZERO or (x != x and kind != _AS_NAN):
                        x = 0.0
                    if x != x or (x == 0.0 and kind == _AS_ZERO):
                        goes_left = default_left[at]
                    else:
                        goes_left = x <= threshold[at]
                    at = left[at] if goes_left else right[at]
                    c = column[at]
                scores[row, tree % outputs] += value[at]
