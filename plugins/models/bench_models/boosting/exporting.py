"""LightGBM's trees as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import lightgbm

__all__ = ["exported_trees"]

_ZERO = 1e-35
"""LightGBM takes a value within this distance of 0 for 0 (``kZeroThreshold``)."""


def exported_trees(booster: lightgbm.Booster, columns: NDArray[np.int64]) -> list[list[dict[str, Any]]]:
    """Return every tree as a list of nodes.

    Args:
        booster: a model of numeric columns.
        columns: int64 (c,): the column of the problem that each of the model's columns is.

    Returns:
        For every tree its nodes, the root first. A leaf has a ``value``. Any other node has ``column``, ``threshold``,
        ``left`` and ``right`` (positions of nodes), and ``missing``: the node for a missing value, or None where a
        missing value counts as 0. If it has ``zero``, values within this distance of 0 are missing.

    Raises:
        ValueError: a test is not of the form ``value <= threshold``.
    """
    return [_nodes(tree["tree_structure"], columns) for tree in booster.dump_model()["tree_info"]]


def _nodes(root: dict[str, Any], columns: NDArray[np.int64]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = [{}]
    todo = [(0, root)]
    while todo:
        place, found = todo.pop()
        if "leaf_value" in found:
            nodes[place] = {"value": float(found["leaf_value"])}
            continue
        if found["decision_type"] != "<=":
            raise ValueError(f"a test of kind {found['decision_type']!r} cannot be exported")
        left, right = len(nodes), len(nodes) + 1
        nodes += [{}, {}]
        missing = left if found["default_left"] else right
        nodes[place] = {
            "column": int(columns[found["split_feature"]]),
            "threshold": float(found["threshold"]),
            "left": left,
            "right": right,
            "missing": None if found["missing_type"] == "None" else missing,
        }
        if found["missing_type"] == "Zero":
            nodes[place]["zero"] = _ZERO
        todo += [(left, found["left_child"]), (right, found["right_child"])]
    return nodes
