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


def flat_trees(booster: lightgbm.Booster, feature_of_column: NDArray[np.int64]) -> FlatTrees:
    """Return the trees of a booster that has numeric splits only; ``feature_of_column`` is int64 (columns,)."""
    nodes: list[tuple[int, float, int, int, float]] = []
    roots: list[int] = []
    for tree in booster.dump_model()["tree_info"]:
        roots.append(len(nodes))
        waiting = [(tree["tree_structure"], len(nodes))]
        new = [(-1, 0.0, -1, NAN_RIGHT, 0.0)]
        while waiting:
            node, at = waiting.pop()
            if "split_feature" not in node:
                new[at - roots[-1]] = (-1, 0.0, -1, NAN_RIGHT, float(node["leaf_value"]))
                continue
            child = roots[-1] + len(new)
            # A split without missing values in training treats them as 0.
            none = node["missing_type"] == "None"
            to_left = node["threshold"] >= 0 if none else node["default_left"]
            kind = NAN_LEFT if to_left else NAN_RIGHT
            new[at - roots[-1]] = (int(node["split_feature"]), float(node["threshold"]), child, kind, 0.0)
            new += [new[0], new[0]]
            waiting += [(node["right_child"], child + 1), (node["left_child"], child)]
        nodes += new
    column, threshold, left, missing, value = zip(*nodes, strict=True)
    return FlatTrees(
        np.array(roots, dtype=np.int64), np.array(column, dtype=np.int32), np.array(threshold, dtype=np.float64),
        np.array(left, dtype=np.int32), np.array(missing, dtype=np.int8), np.array(value, dtype=np.float64)[:, None],
        np.array(feature_of_column, dtype=np.int64), _ZERO,
    )  # fmt: skip
