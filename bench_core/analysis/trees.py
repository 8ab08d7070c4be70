"""Learned trees and cascades as policies describe them, and which prices are paid at which depth (CSTC Fig. 8 to 10).

A policy that walks rows down a tree may leave it in its details as ``tree``: a list of nodes, each a table of

- ``node``: a whole number, unique (what it is called);
- ``parent``: the parent's, or None for the root, which comes first; parents come before their children;
- ``features``: indices of the features that the node's classifier reads;
- ``share``: share of rows that reach it (optional);
- ``mean``: their mean label (optional; None where no row comes).

Children stand in drawing order, the upper one first. Both functions here are of the records alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core.analysis.assignments import feature_classes
from bench_core.analysis.records import Records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DepthByPrice", "Node", "ShownTree", "Tree", "depth_by_price", "tree_of"]

_MOST_GROUPS = 8


@dataclass(frozen=True)
class Node:
    """One classifier.

    Attributes:
        name: its number.
        parent: place of its parent in the tree's nodes; -1 for the root.
        depth: from 1.
        features: what it reads, ascending.
        share: share of rows that reach it, or None.
        mean: mean label of those rows, or None.
    """

    name: int
    parent: int
    depth: int
    features: tuple[int, ...]
    share: float | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Tree:
    """A tree of classifiers; the root is first, and every parent stands before its children."""

    nodes: tuple[Node, ...]

    @classmethod
    def read(cls, said: Any, features: int) -> Tree | None:
        """A tree from what a policy's details say; None when it is not one.

        Args:
            said: a list of tables as the module describes.
            features: how many features there are.
        """
        if not isinstance(said, Sequence) or isinstance(said, str) or not said:
            return None
        nodes: list[Node] = []
        places: dict[int, int] = {}
        for number, table in enumerate(said):
            if not isinstance(table, Mapping):
                return None
            name, parent, read = table.get("node"), table.get("parent"), table.get("features")
            rooted = parent is None if number == 0 else parent in places
            if not isinstance(name, int) or name in places or not rooted or not isinstance(read, list):
                return None
            if any(not isinstance(f, int) or not 0 <= f < features for f in read):
                return None
            above = places.get(parent, -1) if isinstance(parent, int) else -1
            depth = 1 if above < 0 else nodes[above].depth + 1
            share, mean = _number(table.get("share")), _number(table.get("mean"))
            nodes.append(Node(name, above, depth, tuple(sorted(set(read))), share, mean))
            places[name] = number
        return cls(tuple(nodes))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Per node, the places of its children, in order."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            if node.parent >= 0:
                found[node.parent].append(place)
        return tuple(tuple(places) for places in found)

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
        above = self.nodes[place].parent
        while above >= 0:
            read.update(self.nodes[above].features)
            above = self.nodes[above].parent
        return read

    def used_by(self, depth: int) -> tuple[int, ...]:
        """Features that any classifier of the first ``depth`` levels reads, ascending."""
        return tuple(sorted({f for node in self.nodes if node.depth <= depth for f in node.features}))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None


def _trees(records: Records, chosen: pd.DataFrame, field: str) -> list[tuple[str, Tree]]:
    found = []
    for name, details in chosen[["name", "details"]].itertuples(index=False):
        tree = Tree.read(json.loads(details).get(field), len(records.infos[name]["features"]))
        if tree is not None:
            found.append((str(name), tree))
    return found


@dataclass(frozen=True)
class ShownTree:
    """A tree with what a drawing says of it.

    Attributes:
        tree: its nodes.
        names: of the features.
        seed: whose policy it is of.
        paid: per node, the price of all that is read from the root to it; None where prices depend on groups or on
            item size.
    """

    tree: Tree
    names: tuple[str, ...]
    seed: int
    paid: tuple[float, ...] | None = None

    def new(self, place: int) -> tuple[int, ...]:
        """Features that a node reads and none above it does, ascending."""
        node = self.tree.nodes[place]
        return tuple(sorted(set(node.features) - self.tree.read_above(place)))


def tree_of(records: Records, chosen: pd.DataFrame, field: str = "tree") -> ShownTree | None:
    """The tree of the first seed whose selected policy has one; None when none has.

    Args:
        chosen: selected policies of one method on one data set under one cost scheme, by seed.
        field: the detail.
    """
    for name, tree in _trees(records, chosen, field):
        seed = int(chosen.loc[chosen["name"] == name, "seed"].iloc[0])
        info = records.infos[name]
        prices = np.asarray(info["costs"]["prices"], dtype=np.float64)
        paid = None
        if info["costs"]["groups"] is None and not prices[:, 1:].any():
            read = [
                sorted(tree.read_above(place) | set(node.features)) for place, node in enumerate(tree.nodes)
            ]
            paid = tuple(float(prices[features, 0].sum()) for features in read)
        return ShownTree(tree, tuple(info["features"]), seed, paid)
    return None


@dataclass(frozen=True, eq=False)
class DepthByPrice:
    """How much of each price's features is read down to each depth.

    Attributes:
        labels: what each price (or cost class) is called, cheapest first.
        counts: features of each; the mean over seeds, rounded, where a cost scheme varies.
        shares: float64 (prices, depths): mean over seeds of the share of a price's features that classifiers of
            the levels down to a depth read. A shallower tree counts with its whole from its last level on.
        seeds: how many policies it is the mean of.
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    shares: NDArray[np.float64]
    seeds: int


def depth_by_price(records: Records, chosen: pd.DataFrame, field: str = "tree") -> DepthByPrice | None:
    """Features read down to each depth, by price; None when no selected policy describes a tree.

    Features are grouped by cost class, or by price where there are no classes; more than eight different prices are
    put into ranges that hold equally many of them.

    Args:
        chosen, field: as for `tree_of`.
    """
    found = _trees(records, chosen, field)
    if not found:
        return None
    depth = max(tree.depth for _, tree in found)
    kinds = [feature_classes(records.infos[name]["costs"]) for name, _ in found]
    named = kinds[0][1]
    known = np.unique(np.concatenate([kind for kind, _ in kinds]))
    groups = np.array_split(known, min(len(known), _MOST_GROUPS))
    word = "class" if named else "price"
    labels = tuple(
        f"{word} {group[0]:g}" if len(group) == 1 else f"{word} {group[0]:g} to {group[-1]:g}"
        for group in groups
    )
    shares = np.full((len(found), len(groups), depth), np.nan)
    sizes = np.zeros((len(found), len(groups)))
    for number, ((_, tree), (kind, _)) in enumerate(zip(found, kinds, strict=True)):
        inside = [(kind >= group[0]) & (kind <= group[-1]) for group in groups]
        sizes[number] = [mask.sum() for mask in inside]
        for level in range(1, depth + 1):
            read = np.zeros(len(kind), dtype=bool)
            read[list(tree.used_by(level))] = True
            for place, mask in enumerate(inside):
                if mask.any():
                    shares[number, place, level - 1] = read[mask].mean()
    present = ~np.isnan(shares)
    means = np.where(present, shares, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    counts = tuple(round(float(size)) for size in sizes.mean(axis=0))
    return DepthByPrice(labels, counts, means, len(found))
