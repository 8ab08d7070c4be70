"""Learned trees and cascades as policies describe them, and the prices paid at each depth (CSTC Fig. 8 to 10).

A policy may describe its trees in its details as ``trees``: a list of tables (one, or one per class), each with a list
``nodes`` of tables, and with the ``class`` if there are several. A node's table holds

- ``name``: named as in a heap: the root is 1, the upper child of i is 2i, the lower one 2i + 1. The stages of a
  cascade are 1, 2, 4, …; ascending;
- ``features``: indices of the features that the node's classifier reads;
- ``share``: share of rows that reach it (optional);
- ``mean``: their mean label (optional; None without rows).

Everything here is a function of the records alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_analysis import feature_classes
from bench_records import Records
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DepthByPrice", "Node", "ShownTree", "Tree", "depth_by_price", "trees_of"]

_MOST_GROUPS = 8


@dataclass(frozen=True)
class Node:
    """One classifier.

    Attributes:
        name: name as in a heap.
        features: indices of the features that it reads, ascending.
        share: share of rows that reach it, or None.
        mean: mean label of those rows, or None.
    """

    name: int
    features: tuple[int, ...]
    share: float | None = None
    mean: float | None = None

    @property
    def depth(self) -> int:
        """Its level, from 1."""
        return self.name.bit_length()


@dataclass(frozen=True)
class Tree:
    """A tree of classifiers, nodes by ascending name: the root is first, every parent before its children."""

    nodes: tuple[Node, ...]

    @classmethod
    def read(cls, tables: Any, features: int) -> Tree | None:
        """A tree from the nodes in a policy's details; None if they are not a tree.

        Args:
            tables: a list of tables as the module describes.
            features: number of features.
        """
        if not isinstance(tables, list) or not tables:
            return None
        nodes: list[Node] = []
        known: set[int] = set()
        for table in tables:
            if not isinstance(table, Mapping):
                return None
            name, read = table.get("name"), table.get("features")
            if not isinstance(name, int) or not isinstance(read, list):
                return None
            if name <= (nodes[-1].name if nodes else 0) or (name // 2 not in known if nodes else name != 1):
                return None
            if any(not isinstance(f, int) or not 0 <= f < features for f in read):
                return None
            known.add(name)
            share, mean = _number(table.get("share")), _number(table.get("mean"))
            nodes.append(Node(name, tuple(sorted(set(read))), share, mean))
        return cls(tuple(nodes))

    @cached_property
    def places(self) -> dict[int, int]:
        """The index in ``nodes`` of each name."""
        return {node.name: place for place, node in enumerate(self.nodes)}

    def parent(self, place: int) -> int:
        """Index of a node's parent; -1 for the root."""
        return self.places.get(self.nodes[place].name // 2, -1)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the indices of its children, the upper one first."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            if node.name > 1:
                children[self.parent(place)].append(place)
        return tuple(tuple(places) for places in children)

    @property
    def depth(self) -> int:
        """Number of levels."""
        return max(node.depth for node in self.nodes)

    @property
    def is_chain(self) -> bool:
        """Whether no node has two children: a cascade, or a single classifier."""
        return all(len(places) < 2 for places in self.children)

    def read_above(self, place: int) -> set[int]:
        """Features that the classifiers from the root to a node's parent read."""
        read: set[int] = set()
        while (place := self.parent(place)) >= 0:
            read.update(self.nodes[place].features)
        return read

    def used_by(self, depth: int) -> tuple[int, ...]:
        """Features that any classifier of the first ``depth`` levels reads, ascending."""
        return tuple(sorted({f for node in self.nodes if node.depth <= depth for f in node.features}))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None


def _trees(records: Records, chosen: pd.DataFrame, field: str) -> list[tuple[str, int, list[tuple[str, Tree]]]]:
    """Trial, seed and (class, tree) of every selected policy that has trees."""
    rows = []
    for name, seed, details in chosen[["name", "seed", "details"]].itertuples(index=False):
        detail = json.loads(details).get(field)
        tables = [table for table in detail if isinstance(table, Mapping)] if isinstance(detail, list) else []
        count = len(records.infos[name]["features"])
        read = [(table.get("class"), Tree.read(table.get("nodes"), count)) for table in tables]
        trees = [("" if label is None else f"class {label}", tree) for label, tree in read if tree is not None]
        if trees:
            rows.append((str(name), int(seed), trees))
    return rows


@dataclass(frozen=True)
class ShownTree:
    """A tree with the captions of its drawing.

    Attributes:
        tree: its nodes.
        names: names of the features.
        of: the class of a one-vs-rest tree, if there are several trees.
        seed: the seed of the policy.
        paid: for each node, the price of all features read from the root to it; None if prices depend on groups or on
            item size.
    """

    tree: Tree
    names: tuple[str, ...]
    seed: int
    paid: tuple[float, ...] | None = None
    of: str = ""

    def new(self, place: int) -> tuple[int, ...]:
        """Features that a node reads and none above it does, ascending."""
        node = self.tree.nodes[place]
        return tuple(sorted(set(node.features) - self.tree.read_above(place)))


def trees_of(records: Records, chosen: pd.DataFrame, field: str = "trees") -> list[ShownTree] | None:
    """The trees of the first seed whose selected policy has any; None if none has.

    Args:
        chosen: selected policies of one method on one data set under one cost scheme, by seed.
        field: the detail.
    """
    for name, seed, trees in _trees(records, chosen, field):
        info = records.infos[name]
        prices = np.asarray(info["costs"]["prices"], dtype=np.float64)
        plain = info["costs"]["groups"] is None and not prices[:, 1:].any()
        shown = []
        for label, tree in trees:
            read = [sorted(tree.read_above(place) | set(node.features)) for place, node in enumerate(tree.nodes)]
            paid = tuple(float(prices[features, 0].sum()) for features in read) if plain else None
            shown.append(ShownTree(tree, tuple(info["features"]), seed, paid, label))
        return shown
    return None


@dataclass(frozen=True, eq=False)
class DepthByPrice:
    """The share of each price's features that is read down to each depth.

    Attributes:
        labels: names of the prices (or cost classes), cheapest first.
        counts: number of features of each; the rounded mean over seeds, if prices vary with the seed.
        shares: float64 (prices, depths): share of a price's features that classifiers of the levels down to a depth
            read, in any class's tree; the mean over seeds. A shallower tree keeps its last share at greater depths.
        seeds: number of policies in the mean.
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    shares: NDArray[np.float64]
    seeds: int


def depth_by_price(records: Records, chosen: pd.DataFrame, field: str = "trees") -> DepthByPrice | None:
    """Features read down to each depth, by price; None if no selected policy describes a tree.

    Features are grouped by cost class, or by price if there are no classes; more than eight different prices are
    divided into ranges with equally many of them.

    Args:
        chosen, field: as for `trees_of`.
    """
    selected = _trees(records, chosen, field)
    if not selected:
        return None
    depth = max(tree.depth for _, _, trees in selected for _, tree in trees)
    kinds = [feature_classes(records.infos[name]["costs"]) for name, _, _ in selected]
    named = kinds[0][1]
    known = np.unique(np.concatenate([kind for kind, _ in kinds]))
    groups = np.array_split(known, min(len(known), _MOST_GROUPS))
    word = "class" if named else "price"
    labels = tuple(
        f"{word} {group[0]:g}" if len(group) == 1 else f"{word} {group[0]:.4g} to {group[-1]:.4g}" for group in groups
    )
    shares = np.full((len(selected), len(groups), depth), np.nan)
    sizes = np.zeros((len(selected), len(groups)))
    for number, ((_, _, trees), (kind, _)) in enumerate(zip(selected, kinds, strict=True)):
        inside = [(kind >= group[0]) & (kind <= group[-1]) for group in groups]
        sizes[number] = [mask.sum() for mask in inside]
        for level in range(1, depth + 1):
            read = np.zeros(len(kind), dtype=bool)
            for _, tree in trees:
                read[list(tree.used_by(level))] = True
            for place, mask in enumerate(inside):
                if mask.any():
                    shares[number, place, level - 1] = read[mask].mean()
    present = ~np.isnan(shares)
    means = np.where(present, shares, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    counts = tuple(round(float(size)) for size in sizes.mean(axis=0))
    return DepthByPrice(labels, counts, means, len(selected))
