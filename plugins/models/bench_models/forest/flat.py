"""A forest of binary trees as flat arrays, and properties that need no data.

Node numbers run through the forest, tree by tree in depth-first order: a root first, every left child right after its
parent. So a loop over descending numbers is bottom-up, and one over ascending numbers is top-down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import RequestError
from bench_models.trees import NAN_LEFT, NAN_RIGHT, FlatTrees, sibling_order

__all__ = ["FlatForest", "from_sklearn"]


@dataclass(frozen=True, eq=False)
class FlatForest:
    """Classification trees as arrays over all nodes.

    A row goes left where ``float32(x) <= threshold`` (scikit-learn's rule), a missing value goes left if `missing_left`
    is true.

    Attributes:
        offsets: int64 (trees + 1,): tree t has the nodes ``offsets[t]:offsets[t + 1]``.
        column: int32 (nodes,): column of X that a node tests; −1 for a leaf.
        threshold: float64 (nodes,).
        left, right: int32 (nodes,): children, as node numbers of the forest; −1 for a leaf.
        missing_left: bool (nodes,).
        counts: float64 (nodes, classes): in-bag weight of each class in a node.
        feature_of_column: int64 (columns,): the feature each column belongs to.

    Raises:
        ValueError: the arrays are not a forest: lengths differ, a child comes before its parent or is outside its tree,
            a node has one child, a column does not exist, or a node has no weight.
    """

    offsets: NDArray[np.int64]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    counts: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]

    def __post_init__(self) -> None:
        nodes = len(self.column)
        lengths = {len(a) for a in (self.threshold, self.left, self.right, self.missing_left, self.counts)}
        if lengths != {nodes} or len(self.offsets) < 2 or self.offsets[0] != 0 or self.offsets[-1] != nodes:
            raise ValueError("the arrays of a forest must all have one entry per node, and the offsets span them")
        if (np.diff(self.offsets) < 1).any():
            raise ValueError("a tree has no node")
        if (self.column >= len(self.feature_of_column)).any():
            raise ValueError(
                f"the forest tests column {int(self.column.max())}, there are {len(self.feature_of_column)}"
            )
        inner = np.flatnonzero(self.column >= 0)
        end = self.offsets[1:][self.tree[inner]]
        for child in (self.left[inner], self.right[inner]):
            if ((child <= inner) | (child >= end)).any():
                raise ValueError("a child must come after its parent, in the same tree")
        if (self.left[inner] != inner + 1).any():
            raise ValueError("nodes must stand in depth-first order: a left child right after its parent")
        children = np.concatenate([self.left[inner], self.right[inner]])
        if len(children) != nodes - self.trees or len(np.unique(children)) != len(children):
            raise ValueError("every node but a root must be the child of exactly one node")
        if not (self.counts.sum(axis=1) > 0).all() or not (self.counts >= 0).all():
            raise ValueError("every node needs training weight, and none below zero")

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.offsets) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes in all trees."""
        return len(self.column)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.counts.shape[1])

    @cached_property
    def walked(self) -> tuple[FlatTrees, NDArray[np.int32]]:
        """The trees as `FlatTrees` with class shares in leaves, and the number in this forest of each of its nodes."""
        roots = np.asarray(self.offsets[:-1], dtype=np.int64)
        order, place = sibling_order(roots, self.column, self.left, self.right)
        left = np.where(self.inner, place[self.left], -1).astype(np.int32)
        trees = FlatTrees(
            root=place[roots],
            column=self.column[order],
            threshold=self.threshold[order],
            left=left[order],
            missing=np.where(self.missing_left, NAN_LEFT, NAN_RIGHT).astype(np.int8)[order],
            value=self.distribution[order],
            unit_of_column=np.require(self.feature_of_column, requirements="W"),
            single=True,
        )
        return trees, order.astype(np.int32)

    @cached_property
    def tree(self) -> NDArray[np.int64]:
        """The tree of each node: int64 (nodes,)."""
        return np.repeat(np.arange(self.trees), np.diff(self.offsets))

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Whether a node has children: bool (nodes,)."""
        return np.asarray(self.column >= 0)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each node, −1 for roots: int32 (nodes,)."""
        parent = np.full(self.nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(self.inner)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Number of tests above each node: int64 (nodes,)."""
        trees, number = self.walked
        depth = np.empty(self.nodes, dtype=np.int64)
        depth[number] = trees.depth()
        return depth

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """The feature each node tests, −1 for leaves: int64 (nodes,)."""
        return np.where(self.inner, self.feature_of_column[np.maximum(self.column, 0)], -1)

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """In-bag weight of each node: float64 (nodes,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def distribution(self) -> NDArray[np.float64]:
        """Class shares of each node: float64 (nodes, classes)."""
        return np.asarray(self.counts / self.weight[:, None])

    @cached_property
    def bag(self) -> NDArray[np.float64]:
        """In-bag weight of the node's tree: float64 (nodes,)."""
        return self.weight[self.offsets[:-1]][self.tree]

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """The training error that each node adds as a leaf: e_h / (N T), from in-bag rows.

        BUDGETPRUNE §3, "Pruning error"; N is the weight of the node's own bag. float64 (nodes,).
        """
        wrong = self.weight - self.counts.max(axis=1)
        return np.asarray(wrong / (self.bag * self.trees))

    def valid(self, opened: NDArray[np.bool_]) -> bool:
        """Whether all open nodes are inner nodes with open ancestors, that is, a valid pruning (BUDGETPRUNE §3)."""
        at = np.flatnonzero(opened)
        above = self.parent[at]
        return bool(self.inner[at].all() and opened[above[above >= 0]].all())

    def leaves(self, opened: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The leaves z of a pruning that keeps the tests of the open nodes: bool (nodes,)."""
        above = self.parent < 0
        above[~above] = opened[self.parent[~above]]
        return np.asarray(above & ~opened)

    def pruned(self, opened: NDArray[np.bool_]) -> FlatForest:
        """The forest of the open nodes and their leaves.

        Args:
            opened: bool (nodes,): the nodes that remain tests.

        Raises:
            ValueError: not a valid pruning.
        """
        if opened.shape != (self.nodes,) or not self.valid(opened):
            raise ValueError("a pruning keeps inner nodes only, each with all the nodes above it")
        mask = opened | self.leaves(opened)
        at = np.flatnonzero(mask)
        number = np.cumsum(mask, dtype=np.int32) - 1
        stays = opened[at]
        return replace(
            self,
            offsets=np.searchsorted(at, self.offsets).astype(np.int64),
            column=np.where(stays, self.column[at], -1).astype(np.int32),
            threshold=np.where(stays, self.threshold[at], 0.0),
            left=np.where(stays, number[self.left[at]], -1).astype(np.int32),
            right=np.where(stays, number[self.right[at]], -1).astype(np.int32),
            missing_left=stays & self.missing_left[at],
            counts=self.counts[at],
        )

    def route(self, X: NDArray[Any], threads: int = 1) -> NDArray[np.int32]:
        """The leaf of each row in each tree: int32 (rows, trees), as node numbers of the forest.

        Raises:
            ValueError: the number of columns of X is not that of the training rows.
        """
        from bench_models.forest import walk

        return walk.route(*self.walked, X, threads)


def from_sklearn(
    model: Any, feature_of_column: NDArray[np.int64] | None = None, classes: int | None = None
) -> FlatForest:
    """Flat arrays of a fitted scikit-learn forest (or a list of fitted decision trees).

    Args:
        model: a fitted RandomForestClassifier, ExtraTreesClassifier, or any bagging of DecisionTreeClassifiers on all
            columns; or a list of such trees.
        feature_of_column: int64 (columns,); if None, every column is a feature.
        classes: number of classes of the problem; the model's classes must be codes below it, and a class that the
            model does not have gets probability 0. If None, the model's classes are used.

    Raises:
        RequestError: the model is not fitted, is not a classifier, has several outputs, was fitted on another number of
            columns, or has a class code that the problem does not have.
    """
    trees: Sequence[Any] = model if isinstance(model, list | tuple) else getattr(model, "estimators_", None) or []
    what = type(model).__name__
    if not trees:
        raise RequestError(f"{what} holds no fitted trees; fit it first")
    for tree in trees:
        if getattr(tree, "tree_", None) is None or not hasattr(tree, "classes_"):
            raise RequestError(f"{what} must hold fitted decision trees that classify, not {type(tree).__name__}")
        if tree.tree_.n_outputs != 1:
            raise RequestError(f"{what} predicts {tree.tree_.n_outputs} outputs; one is needed")
    columns = {int(tree.tree_.n_features) for tree in trees}
    own = np.arange(max(columns)) if feature_of_column is None else np.asarray(feature_of_column, dtype=np.int64)
    if columns != {len(own)}:
        raise RequestError(f"{what} was fitted on {sorted(columns)} columns; the problem has {len(own)}")
    seen = np.asarray(getattr(model, "classes_", trees[0].classes_))
    codes = np.arange(len(seen)) if classes is None else seen
    width = len(seen) if classes is None else classes
    if classes is not None and (
        codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= width or (np.diff(codes) <= 0).any()
    ):
        raise RequestError(f"{what} knows the classes {seen.tolist()[:20]}; codes 0..{width - 1} are needed")
    sizes = [int(tree.tree_.node_count) for tree in trees]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parts = [_tree_arrays(tree.tree_, int(start), codes, width) for tree, start in zip(trees, offsets, strict=False)]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return FlatForest(offsets=offsets, feature_of_column=own, **joined)


def _tree_arrays(tree: Any, start: int, codes: NDArray[Any], classes: int) -> dict[str, NDArray[Any]]:
    order = _depth_first(tree)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    left, right = place[tree.children_left][order], place[tree.children_right][order]
    leaf = tree.children_left[order] < 0
    value = np.asarray(tree.value[order, 0, :], dtype=np.float64)
    counts = np.zeros((tree.node_count, classes))
    counts[:, codes] = value / value.sum(axis=1, keepdims=True) * tree.weighted_n_node_samples[order, None]
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))[order]
    return {
        "column": np.where(leaf, -1, tree.feature[order]).astype(np.int32),
        "threshold": np.where(leaf, 0.0, tree.threshold[order]),
        "left": np.where(leaf, -1, left + start).astype(np.int32),
        "right": np.where(leaf, -1, right + start).astype(np.int32),
        "missing_left": np.asarray(missing, dtype=bool) & ~leaf,
        "counts": counts,
    }


def _depth_first(tree: Any) -> NDArray[np.int64]:
    """Nodes in depth-first order, left before right: scikit-learn's own, unless it grew best-first."""
    inner = np.flatnonzero(tree.children_left >= 0)
    if (tree.children_left[inner] == inner + 1).all():
        return np.arange(tree.node_count)
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.children_left[node] >= 0:
            waiting += [int(tree.children_right[node]), int(tree.children_left[node])]
    return np.array(order)
