"""(IP) as a minimum cut, and a preflow that finds it.

With w = 1 − Σz, (IP) asks for the best closed set of open nodes. Opening a node gains the fall of the training error;
it requires the parent to be open, and every pair of which the node is an entry to be paid once. That is a minimum cut
(Picard 1976): gains flow from the source to the nodes, from a node to its parent and to its pairs without limit, from a
pair to the sink up to its price. The flow from a node to a pair is the dual variable of that entry. So every preflow is
a dual solution, and the trees' own prunings under it give a bound. The preflow starts from the duals of the ascent;
pushes follow labels (Goldberg and Tarjan 1988), which are recomputed from the sink at intervals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance

__all__ = ["Preflow", "best_cut", "supplies"]

LITTLE = 1e-15
"""Amounts below this share of the roots' errors count as 0."""
WORK = 12
"""Number of arcs inspected between two computations of the labels, in multiples of the number of entries."""


def supplies(instance: Instance, lambda_: float) -> NDArray[np.float64]:
    """Gain of opening each node, without shared pairs: float64 (nodes,), 0 for leaves."""
    price = instance.error + lambda_ * instance.steps
    inner = instance.left >= 0
    left, right = instance.left[inner], instance.right[inner]
    gain = np.zeros(instance.nodes)
    gain[inner] = price[inner] - price[left] - price[right] - lambda_ * instance.toll[inner]
    return gain


class Preflow:
    """A preflow on the reduced (IP).

    Args:
        instance: (IP).
        lambda_: λ.
        weight: float64 (nodes,), above 0: prices of pairs are first divided in proportion to it.
        toll: float64 (nodes,): the nodes' part of the prices of shared pairs under these weights.
    """

    def __init__(
        self, instance: Instance, lambda_: float, weight: NDArray[np.float64], toll: NDArray[np.float64]
    ) -> None:
        from bench_budgetprune import _flow_kernels as kernels

        nodes, pairs = instance.nodes, instance.pairs
        self.instance, self.price = instance, lambda_ * instance.price
        self.trees = (instance.left, instance.right, instance.parent)
        self.pairs = (instance.pair_start, instance.entry_node)
        self.supply = supplies(instance, lambda_)
        self.fixed_toll = lambda_ * instance.toll
        self.sent, self.up = np.zeros(instance.entries), np.zeros(nodes)
        self.excess, self.sink, self.room = np.zeros(nodes), np.zeros(nodes), self.price.copy()
        kernels.begin(
            *self.trees, *self.pairs, self.supply, toll, weight,
            self.room, self.sent, self.up, self.excess, self.sink,
        )  # fmt: skip
        self.little = LITTLE * max(float(instance.error[instance.roots].sum()), float(self.price.sum()))
        self.label, self.pair_label = np.zeros(nodes, np.int32), np.zeros(pairs, np.int32)
        self.queue = np.empty(nodes + pairs, np.int64)

    def set_labels(self) -> bool:
        """Recompute all labels; return whether any excess can still reach the sink."""
        from bench_budgetprune import _flow_kernels as kernels

        self.largest = kernels.label_all(
            *self.trees, *self.pairs, *self.instance.by_node, self.sent, self.up, self.room, self.sink,
            self.label, self.pair_label, self.queue, self.little,
        )  # fmt: skip
        return bool(((self.excess > self.little) & (self.label < kernels.FAR)).any())

    def push(self) -> None:
        """Push flow until about `WORK` arcs per entry have been inspected."""
        from bench_budgetprune import _flow_kernels as kernels

        kernels.push(
            *self.trees, *self.pairs, *self.instance.by_node, self.sent, self.up, self.excess, self.room,
            self.sink, self.label, self.pair_label, self.little, WORK * self.instance.entries + 1000,
        )  # fmt: skip

    def tolls(self) -> tuple[NDArray[np.float64], float]:
        """The preflow as a dual solution: tolls float64 (nodes,), and the amount by which rounding lowers its bound."""
        from bench_budgetprune import _flow_kernels as kernels

        toll = self.fixed_toll.copy()
        return toll, kernels.sent_tolls(*self.pairs, self.price, self.sent, toll)

    def cut(self) -> NDArray[np.bool_]:
        """The best pruning that opens the nodes above some label: bool (nodes,)."""
        levels = self.largest + 1
        level = np.minimum(self.label, np.int32(levels))
        return best_cut(self.instance, self.price, self.supply, level, levels)


def best_cut(
    instance: Instance, price: NDArray[np.float64], supply: NDArray[np.float64], level: NDArray[np.int32], levels: int
) -> NDArray[np.bool_]:
    """The best pruning that keeps the nodes of at least some level whose ancestors are kept.

    Args:
        instance: (IP).
        price: float64 (pairs,): λ times their prices.
        supply: see `supplies`.
        level: int32 (nodes,), from 0 to `levels`; overwritten.

    Returns:
        bool (nodes,).
    """
    from bench_budgetprune import _flow_kernels as kernels

    theta = kernels.level_cut(
        instance.left, instance.parent, instance.pair_start, instance.entry_node, price, supply, level, levels
    )
    return np.asarray(level >= theta)
