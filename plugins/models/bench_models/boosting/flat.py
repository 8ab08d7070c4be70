"""LightGBM's trees as flat arrays, for compiled walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench_models.trees import NAN_LEFT, NAN_RIGHT, FlatTrees

if TYPE_CHECKING:
    import lightgbm

__all__ = ["flat_trees"]

_ZERO = float(np.float32(1e-35))
"""LightGBM treats values within this distance of 0 as 0."""
_LEAF = (-1, 0.0, -1, NAN_RIGHT, 0.0)


def flat_trees(booster: lightgbm.Booster, feature_of_column: NDArray[np.int64]) -> FlatTrees:
    """Return the trees of a booster that has numeric splits only."""
    nodes: list[tuple[int, float, int, int, float]] = []
    roots = []
    for tree in booster.dump_model()["tree_info"]:
        roots.append(len(nodes))
        nodes.append(_LEAF)
        waiting = [(tree["tree_structure"], roots[-1])]
        while waiting:
            node, at = waiting.pop()
            if "split_feature" not in node:
                nodes[at] = (*_LEAF[:-1], float(node["leaf_value"]))
                continue
            child = len(nodes)
            # A split that met no missing value treats it as 0.
            none = node["missing_type"] == "None"
            to_left = node["threshold"] >= 0 if none else node["default_left"]
            kind = NAN_LEFT if to_left else NAN_RIGHT
            nodes[at] = (int(node["split_feature"]), float(node["threshold"]), child, kind, 0.0)
            nodes += [_LEAF, _LEAF]
            waiting += [(node["right_child"], child + 1), (node["left_child"], child)]
    column, threshold, left, missing, value = (np.array(part) for part in zip(*nodes, strict=True))
    return FlatTrees(
        np.array(roots, dtype=np.int64), column.astype(np.int32), threshold.astype(np.float64),
        left.astype(np.int32), missing.astype(np.int8), value.astype(np.float64)[:, None],
        np.array(feature_of_column, dtype=np.int64), _ZERO,
    )  # fmt: skip
