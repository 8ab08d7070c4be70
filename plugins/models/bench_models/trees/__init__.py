"""Decision trees as flat arrays, for methods that grow them, prune them or stop early; imports only NumPy.

`FlatTrees` holds the arrays, `bench_models.trees.kernels` the compiled walk; `AdditiveTrees` scores boosted trees.
"""

from bench_models.trees.additive import AdditiveTrees
from bench_models.trees.asking import checked_known, next_units
from bench_models.trees.flat import (
    NAN_LEFT,
    NAN_RIGHT,
    NO_ZERO,
    ZERO_LEFT,
    ZERO_RIGHT,
    FlatTrees,
    checked_rows,
    sibling_order,
    walk_plain,
)  # fmt: skip

__all__ = [
    "NAN_LEFT", "NAN_RIGHT", "NO_ZERO", "ZERO_LEFT", "ZERO_RIGHT", "AdditiveTrees", "FlatTrees", "checked_known",
    "checked_rows", "next_units", "sibling_order", "walk_plain",
]  # fmt: skip
