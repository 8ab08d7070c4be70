"""The shape of a tree of classifiers: its nodes, and the probability of reaching each (CSTC §3.1, §3.2.1).

A node is named as in a heap: the root is 1, the upper child of i is 2i, the lower one 2i + 1. Ascending names give
level order. A missing child is a terminal element: rows that go there leave with the node's prediction. A cascade is a
tree whose nodes have only upper children.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shape", "Terminal"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Terminal:
    """A terminal element, at which rows leave.

    Attributes:
        node: index of the classifier whose prediction is their answer.
        side: 1 above its threshold, -1 below it, 0 for a leaf (all rows that reach it).
    """

    node: int
    side: int


@dataclass(frozen=True)
class Shape:
    """Nodes by their heap names, ascending from 1; raises ValueError if a node's parent is missing."""

    names: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.names or self.names[0] != 1 or list(self.names) != sorted(set(self.names)):
            raise ValueError(f"node names must ascend from the root, 1: {self.names}")
        known = set(self.names)
        for name in self.names[1:]:
            if name // 2 not in known:
                raise ValueError(f"node {name} has no parent")

    @classmethod
    def full(cls, depth: int) -> Shape:
        """A balanced tree with this number of levels."""
        return cls(tuple(range(1, 2**depth)))

    @classmethod
    def cascade(cls, stages: int) -> Shape:
        """A chain: a row below a stage's threshold leaves there, and a row above it goes on."""
        return cls(tuple(2**i for i in range(stages)))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[int, int]:
        """Name → index."""
        return {name: i for i, name in enumerate(self.names)}

    def upper(self, node: int) -> int:
        """Index of the upper child, or -1."""
        return self.index.get(2 * self.names[node], -1)

    def lower(self, node: int) -> int:
        """Index of the lower child, or -1."""
        return self.index.get(2 * self.names[node] + 1, -1)

    def is_leaf(self, node: int) -> bool:
        """Whether a node has no child."""
        return self.upper(node) < 0 and self.lower(node) < 0

    def depth(self, node: int) -> int:
        """Level of a node, from 1."""
        return self.names[node].bit_length()

    def path(self, node: int) -> list[int]:
        """Indices of the nodes from the root to this node, both included."""
        name = self.names[node]
        return [self.index[name >> shift] for shift in range(name.bit_length() - 1, -1, -1)]

    def below(self, node: int) -> list[int]:
        """Indices of the node's descendants, ascending, without itself."""
        return [j for j in range(len(self)) if j != node and node in self.path(j)]

    @cached_property
    def terminals(self) -> tuple[Terminal, ...]:
        """All terminal elements, in the order of their nodes."""
        terminals: list[Terminal] = []
        for node in range(len(self)):
            if self.is_leaf(node):
                terminals.append(Terminal(node, 0))
                continue
            if self.upper(node) < 0:
                terminals.append(Terminal(node, 1))
            if self.lower(node) < 0:
                terminals.append(Terminal(node, -1))
        return tuple(terminals)

    def without(self, node: int) -> Shape:
        """The shape without a node and its descendants."""
        gone = {node, *self.below(node)}
        return Shape(tuple(name for i, name in enumerate(self.names) if i not in gone))

    def with_names(self, names: Iterable[int]) -> Shape:
        """The shape with further nodes."""
        return Shape(tuple(sorted({*self.names, *names})))

    def reach(self, up: Floats, start: int = 0) -> Floats:
        """Probability of reaching each node, given that ``start`` is reached (Eq. 4, 5).

        Args:
            up: float64 (rows, nodes): probability of going up at each node.
            start: index of the node to start from; 0 for the root.

        Returns:
            float64 (rows, nodes); 0 for nodes that are not below ``start``.
        """
        p = np.zeros((len(up), len(self)))
        p[:, start] = 1.0
        for node in range(start, len(self)):
            upper, lower = self.upper(node), self.lower(node)
            if upper >= 0 and upper != start:
                p[:, upper] = p[:, node] * up[:, node]
            if lower >= 0 and lower != start:
                p[:, lower] = p[:, node] * (1.0 - up[:, node])
        return p

    def leave(self, p: Floats, up: Floats) -> Floats:
        """Probability of leaving through each terminal element.

        Args:
            p: float64 (rows, nodes), from `reach`.
            up: float64 (rows, nodes).

        Returns:
            float64 (rows, terminals).
        """
        out = np.empty((len(p), len(self.terminals)))
        for number, end in enumerate(self.terminals):
            share = 1.0 if end.side == 0 else up[:, end.node] if end.side > 0 else 1.0 - up[:, end.node]
            out[:, number] = p[:, end.node] * share
        return out
