"""Reduces (IP) if the state of some nodes is known.

Nodes fixed open form the top of their trees. The subtrees below them become separate trees, and every pair that one of
these nodes makes due is paid, so its other entries are free. Nodes fixed closed become leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance

__all__ = ["Reduced", "reduce"]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller instance.

    Attributes:
        instance: the reduced (IP).
        node: int64 (nodes,): the old number of each of its nodes.
        entry: int32 (entries,): the old number of each of its entries.
        error, cost: training error and cost of the fixed part.
    """

    instance: Instance
    node: NDArray[np.int64]
    entry: NDArray[np.int32]
    error: float
    cost: float

    def carry(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Duals over λ of the remaining entries, rescaled to sum to the prices: float64 (entries,)."""
        carried, starts = share[self.entry], self.instance.pair_start
        if not len(carried):
            return carried
        lengths = np.diff(starts)
        extra = (self.instance.price - np.add.reduceat(carried, starts[:-1])) / lengths
        return np.maximum(carried + np.repeat(extra, lengths), 0.0)


def reduce(instance: Instance, fixed: NDArray[np.int8]) -> Reduced:
    """Remove the fixed nodes.

    Args:
        instance: (IP).
        fixed: int8 (nodes,): 1 open, −1 closed, 0 undecided; ancestors of an open node are open, descendants of a
            closed one closed; leaves are −1.
    """
    from bench_budgetprune import _build_kernels as kernels

    parent = instance.parent
    above = np.where(parent < 0, 1, fixed[parent])
    # A node remains unless it is fixed open or below a leaf; a leaf that has become a root is decided.
    settled = (fixed < 0) & (above > 0)
    stays = (fixed == 0) | ((fixed < 0) & (above == 0))
    node = np.flatnonzero(stays)
    number = (np.cumsum(stays) - 1).astype(np.int32)
    inner = fixed[node] == 0
    toll = np.where(inner, instance.toll[node], 0.0)
    starts, nodes, price, old, due = kernels.reduce_pairs(
        instance.pair_start, instance.entry_node, instance.price, fixed, number, toll
    )
    opened = fixed > 0
    left = Instance(
        roots=np.flatnonzero(above[node] > 0),
        left=np.where(inner, number[instance.left[node]], -1).astype(np.int32),
        right=np.where(inner, number[instance.right[node]], -1).astype(np.int32),
        error=instance.error[node],
        steps=instance.steps[node],
        toll=toll,
        pair_start=starts,
        entry_node=nodes,
        price=price,
    )
    cost = due + instance.toll[opened].sum() + instance.steps[settled].sum()
    return Reduced(left, node, old, float(instance.error[settled].sum()), float(cost))
