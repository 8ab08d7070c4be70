"""LightGBM's trees as flat arrays, and a walk that records the features it reads.

The walk follows LightGBM's rules. A value within 1e-35 of 0 counts as 0. NaN counts as 0 at a split without missing
values. A missing value (NaN, or 0, as the split's type says) goes in the split's default direction. Any other value
≤ the threshold goes left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_models.trees import NAN_LEFT, NAN_RIGHT, ZERO_LEFT, ZERO_RIGHT, AdditiveTrees, FlatTrees
from numpy.typing import NDArray

__all__ = ["MISSING", "ZERO", "Forest", "walk_plain"]

MISSING = {"None": 0, "Zero": 1, "NaN": 2}
"""The kinds of missing values of a split, by LightGBM's names."""

ZERO = float(np.float32(1e-35))
"""LightGBM treats values within this distance of 0 as 0."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Boosted trees; tree ``t`` belongs to output ``t % outputs``.

    Attributes:
        outputs: number of trees of a round: 1, or the number of classes.
        roots: int64 (trees,): root node of each tree.
        column: int32 (nodes,): tested column; −1 for a leaf.
        threshold: float64 (nodes,): threshold of each test.
        missing: int8 (nodes,): kind of missing values, a value of `MISSING`.
        default_left: bool (nodes,): whether missing values go left.
        left: int32 (nodes,): left child.
        right: int32 (nodes,): right child.
        value: float64 (nodes,): a leaf's contribution to the score.
    """

    outputs: int
    roots: NDArray[np.int64]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing: NDArray[np.int8]
    default_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]

    @classmethod
    def from_dump(cls, dump: Mapping[str, Any]) -> Forest:
        """Build a forest from the result of LightGBM's ``Booster.dump_model``.

        Raises:
            ValueError: a split is categorical.
        """
        nodes: list[tuple[int, float, int, bool, int, int, float]] = []
        roots = []
        for tree in dump["tree_info"]:
            roots.append(len(nodes))
            nodes.append(_LEAF)
            waiting = [(tree["tree_structure"], roots[-1])]
            while waiting:
                node, at = waiting.pop()
                if "split_feature" not in node:
                    nodes[at] = (*_LEAF[:-1], float(node["leaf_value"]))
                    continue
                if node["decision_type"] != "<=":
                    raise ValueError(f"only numeric splits can be walked, not {node['decision_type']!r}")
                left, right = len(nodes), len(nodes) + 1
                nodes += [_LEAF, _LEAF]
                nodes[at] = (
                    int(node["split_feature"]), float(node["threshold"]), MISSING[node["missing_type"]],
                    bool(node["default_left"]), left, right, 0.0,
                )  # fmt: skip
                waiting += [(node["right_child"], right), (node["left_child"], left)]
        parts = list(zip(*nodes, strict=True)) if nodes else [()] * len(_LEAF)
        kinds = (np.int32, np.float64, np.int8, np.bool_, np.int32, np.int32, np.float64)
        columns: list[Any] = [np.array(part, dtype=kind) for part, kind in zip(parts, kinds, strict=True)]
        return cls(int(dump["num_tree_per_iteration"]), np.array(roots, dtype=np.int64), *columns)

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    def head(self, trees: int) -> Forest:
        """The forest of the first ``trees`` trees."""
        if trees >= self.trees:
            return self
        end = int(self.roots[trees])
        names = ("column", "threshold", "missing", "default_left", "left", "right", "value")
        return Forest(self.outputs, self.roots[:trees], **{name: getattr(self, name)[:end] for name in names})

    def used(self) -> NDArray[np.int64]:
        """Columns that at least one split tests, in ascending order."""
        return np.unique(self.column[self.column >= 0]).astype(np.int64)

    def run(
        self, X: NDArray[np.float64], feature_of_column: NDArray[np.int64], n_features: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Raw scores, float64 (rows, outputs), and the features on each row's paths, bool (rows, features).

        Raises:
            ValueError: the number of columns differs from that of the training rows.
        """
        return self.additive(feature_of_column, n_features).run(X)

    def additive(self, feature_of_column: NDArray[np.int64], n_features: int) -> AdditiveTrees:
        """The trees as `AdditiveTrees`, which run them; `feature_of_column` is int64 (columns,)."""
        # A split without missing values treats NaN as 0.
        nan_left = np.where(self.missing == MISSING["None"], self.threshold >= 0, self.default_left)
        kind = np.where(nan_left, NAN_LEFT, NAN_RIGHT)
        zero = np.where(self.default_left, ZERO_LEFT, ZERO_RIGHT)
        kind = np.where(self.missing == MISSING["Zero"], zero, kind)
        flat = FlatTrees(
            self.roots, self.column, self.threshold, self.left, kind.astype(np.int8), self.value[:, None],
            np.require(feature_of_column, requirements="W"), ZERO,
        )  # fmt: skip
        return AdditiveTrees(flat, self.outputs, n_features)


_LEAF = (-1, 0.0, 0, False, -1, -1, 0.0)


def walk_plain(
    forest: Forest, X: NDArray[np.float64], feature_of_column: NDArray[np.int64], n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Reference implementation of `Forest.run` in plain Python."""
    scores = np.zeros((len(X), forest.outputs))
    acquired = np.zeros((len(X), n_features), dtype=bool)
    for row, x in enumerate(X):
        for tree, root in enumerate(forest.roots):
            at = int(root)
            while forest.column[at] >= 0:
                value = float(x[forest.column[at]])
                acquired[row, feature_of_column[forest.column[at]]] = True
                kind = forest.missing[at]
                if abs(value) <= ZERO or (np.isnan(value) and kind != MISSING["NaN"]):
                    value = 0.0
                if np.isnan(value) or (kind == MISSING["Zero"] and value == 0.0):
                    goes_left = bool(forest.default_left[at])
                else:
                    goes_left = value <= forest.threshold[at]
                at = int(forest.left[at] if goes_left else forest.right[at])
            scores[row, tree % forest.outputs] += forest.value[at]
    return scores, acquired
