"""(IP) as a minimum cut, and a preflow that finds it.

With w = 1 − Σz, (IP) asks for the best closed set of open nodes: opening a node gains what it takes off the
training error, needs its parent, and needs every pair it is an entry of, which costs once. That is a minimum cut
(Picard 1976): gains flow from the source to the nodes, from a node to its parent and to its pairs without limit,
from a pair to the sink up to its price. What a node sends to a pair is the dual variable of that entry, so that
every preflow is a dual solution: the trees' own prunings under it give a bound. The preflow starts from the duals of
the ascent; pushes follow labels (Goldberg and Tarjan 1988), that are set anew from the sink now and then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance

__all__ = ["Preflow", "best_cut", "supplies"]

LITTLE = 1e-15
"""What is less, as a share of the roots' errors, counts as nothing."""
WORK = 12
"""Between two settings of the labels so many arcs are looked at, in multiples of the entries."""


def supplies(instance: Instance, lambda_: float) -> NDArray[np.float64]:
    """What opening each node gains, shared pairs apart: float64 (nodes,), 0 for leaves."""
    price = instance.error + lambda_ * instance.steps
    inner = instance.left >= 0
    left, right = instance.left[inner], instance.right[inner]
    gain = np.zeros(instance.nodes)
    gain[inner] = price[inner] - price[left] - price[right] - lambda_ * instance.toll[inner]
    return gain


class Preflow:
    """A preflow on what is left of (IP).

    Args:
        instance: (IP).
        lambda_: λ.
        weight: float64 (nodes,), above 0: pairs are at first split in proportion to it.
        toll: float64 (nodes,): what the nodes' shared pairs take under these weights.
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
        """Set all labels anew; returns whether anything can still reach the sink."""
        from bench_budgetprune import _flow_kernels as kernels

        self.largest = kernels.label_all(
            *self.trees, *self.pairs, *self.instance.by_node, self.sent, self.up, self.room, self.sink,
            self.label, self.pair_label, self.queue, self.little,
        )  # fmt: skip
        return bool(((self.excess > self.little) & (self.label < kernels.FAR)).any())

    def push(self) -> None:
        """Push for a while."""
        from bench_budgetprune import _flow_kernels as kernels

        kernels.push(
            *self.trees, *self.pairs, *self.instance.by_node, self.sent, self.up, self.excess, self.room,
            self.sink, self.label, self.pair_label, self.little, WORK * self.instance.entries + 1000,
        )  # fmt: skip

    def tolls(self) -> tuple[NDArray[np.float64], float]:
        """The preflow as a dual solution: tolls float64 (nodes,), and what rounding takes from its bound."""
        from bench_budgetprune import _flow_kernels as kernels

        toll = self.fixed_toll.copy()
        return toll, kernels.sent_tolls(*self.pairs, self.price, self.sent, toll)

    def cut(self) -> NDArray[np.bool_]:
        """The best pruning of nodes beyond some label: bool (nodes,)."""
        levels = self.largest + 1
        level = np.minimum(self.label, np.int32(levels))
        return best_cut(self.instance, self.price, self.supply, level, levels)


def best_cut(
    instance: Instance, price: NDArray[np.float64], supply: NDArray[np.float64], level: NDArray[np.int32], levels: int
) -> NDArray[np.bool_]:
    """The best pruning that keeps the nodes of at least some level, as their parents are.

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
