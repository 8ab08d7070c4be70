"""The integer program (IP) of BUDGETPRUNE §3 as flat arrays.

A *pair* is a validation row with a unit of payment that some tree may require (w_{k,i}). Its *entries* are the nodes
where the row first needs the unit, one per tree that needs it (u_{t,k,i}). Given which nodes are open (remain tests),
w = 1 for a pair exactly if one of its entries is open. So z and w follow from the open nodes, and the objective is

    sum of error[h] over leaves h  +  λ ( sum of price[p] over pairs p with an open entry
                                          + sum of toll[h] over open h  +  sum of steps[h] over leaves h )

with error[h] = e_h / (N T), price[p] = c_k / N over the validation rows, and steps the price of reaching a leaf.
A pair with a single entry needs no w of its own: its price is part of the entry's toll.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from bench_models.forest.acquisition import Units, first_tests
from bench_models.forest.flat import FlatForest
from numpy.typing import NDArray

__all__ = ["Instance", "build"]


@dataclass(frozen=True, eq=False)
class Instance:
    """(IP) without its λ.

    Attributes:
        roots: int64 (trees,): node numbers of the roots.
        left, right: int32 (nodes,): children, −1 for leaves; children come after their parents.
        error: float64 (nodes,): training error that a node adds as a leaf.
        steps: float64 (nodes,): computation cost that a node adds as a leaf (zeros without this cost).
        toll: float64 (nodes,): price of the units that only this node requires; 0 for leaves.
        pair_start: int64 (pairs + 1,): entries of pair p are ``entry_node[pair_start[p]:pair_start[p + 1]]``.
        entry_node: int32 (entries,).
        price: float64 (pairs,): price of the unit over the number of rows, above 0.
    """

    roots: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    error: NDArray[np.float64]
    steps: NDArray[np.float64]
    toll: NDArray[np.float64]
    pair_start: NDArray[np.int64]
    entry_node: NDArray[np.int32]
    price: NDArray[np.float64]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.price)

    @property
    def entries(self) -> int:
        """Number of entries of all pairs."""
        return len(self.entry_node)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """int32 (nodes,), −1 for roots."""
        parent = np.full(self.nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(self.left >= 0)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def entry_pair(self) -> NDArray[np.int32]:
        """The pair of each entry: int32 (entries,)."""
        return np.repeat(np.arange(self.pairs, dtype=np.int32), np.diff(self.pair_start))

    @cached_property
    def by_node(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Entries by node: starts int64 (nodes + 1,), pairs and entry numbers int32 (entries,)."""
        from bench_budgetprune import _build_kernels as kernels

        starts, pairs, entries = kernels.pairs_by_node(self.pair_start, self.entry_node, self.nodes)
        return starts, pairs, entries

    def leaf_error(self, opened: NDArray[np.bool_]) -> float:
        """Training error of a pruning."""
        return float(self.error[self.leaves(opened)].sum())

    def cost(self, opened: NDArray[np.bool_]) -> float:
        """Mean price per row of a pruning, with its computation cost."""
        paid = np.zeros(self.pairs, dtype=bool)
        paid[self.entry_pair[opened[self.entry_node]]] = True
        return float(self.price[paid].sum() + self.toll[opened].sum() + self.steps[self.leaves(opened)].sum())

    def objective(self, opened: NDArray[np.bool_], lambda_: float) -> float:
        """The objective of (IP)."""
        return self.leaf_error(opened) + lambda_ * self.cost(opened)

    def leaves(self, opened: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """z, the leaves of the pruning with these open nodes: bool (nodes,)."""
        above = self.parent < 0
        above[~above] = opened[self.parent[~above]]
        return np.asarray(above & ~opened)


def build(forest: FlatForest, leaf: NDArray[np.int32], units: Units, price_of_a_test: float = 0.0) -> Instance:
    """(IP) of a forest on validation rows.

    Args:
        forest: the trees, with in-bag counts (they give e_h).
        leaf: int32 (rows, trees): leaf of each validation row, from `FlatForest.route`.
        units: units of payment, priced for these rows.
        price_of_a_test: price of one test, for the expected-depth term; 0 leaves it out.

    Raises:
        ValueError: the leaves belong to another forest, or the units are priced for other rows.
    """
    from bench_budgetprune import _build_kernels as kernels

    rows = len(leaf)
    if leaf.ndim != 2 or leaf.shape[1] != forest.trees or rows == 0:
        raise ValueError(f"leaves must be (rows, {forest.trees}) with at least one row, not {leaf.shape}")
    if len(units.prices) not in (1, rows):
        raise ValueError(f"units are priced for {len(units.prices)} rows, there are {rows}")
    own, group = first_tests(forest, units.own), first_tests(forest, units.group)
    starts, nodes, unit, row = kernels.entries(np.ascontiguousarray(leaf), forest.parent, own, group, units.count)
    price = units.prices[row if len(units.prices) > 1 else 0, unit] / rows
    lengths = np.diff(starts)
    alone = lengths == 1
    lone = np.bincount(nodes[starts[:-1][alone]], weights=price[alone], minlength=forest.nodes)
    toll = np.asarray(lone, dtype=np.float64)
    shared = (price > 0) & ~alone
    nodes = nodes[np.repeat(shared, lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths[shared])]).astype(np.int64)
    steps = np.zeros(forest.nodes)
    if price_of_a_test:
        passing = kernels.passing(np.ascontiguousarray(leaf), forest.parent)
        steps = price_of_a_test * passing * forest.depth / rows
    return Instance(
        forest.offsets[:-1], forest.left, forest.right, forest.error, steps, toll, starts, nodes, price[shared]
    )
