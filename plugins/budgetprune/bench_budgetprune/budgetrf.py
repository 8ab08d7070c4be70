"""BudgetRF: a forest stopped at impurity thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Interval
from bench_models.forest.flat import FlatForest
from bench_models.forest.method import ForestMethod, split_prices
from bench_models.forest.policy import ForestPolicy
from bench_models.forest.spread import mean_cost, spread_over_cost
from numpy.typing import NDArray

from bench_core import Family, Problem

__all__ = ["BudgetRF", "node_impurity", "stopped"]


def node_impurity(forest: FlatForest, measure: Literal["entropy", "gini", "pairs"]) -> NDArray[np.float64]:
    """Impurity of each node, as a share of the greatest impurity.

    Args:
        forest: the trees.
        measure: ``entropy`` and ``gini``: divided by the impurity of equally frequent classes; ``pairs``: the number of
            pairs of in-bag rows of different classes, divided by that of the root (0 if the root is pure).

    Returns:
        float64 (nodes,), within 0 and 1.
    """
    p = forest.distribution
    if measure == "entropy":
        entropy = -np.sum(p * np.log2(p, where=p > 0, out=np.zeros_like(p)), axis=1)
        return np.asarray(entropy / np.log2(max(forest.classes, 2)))
    if measure == "gini":
        worst = 1.0 - 1.0 / max(forest.classes, 2)
        return np.asarray((1.0 - np.sum(p * p, axis=1)) / worst)
    pairs = forest.weight**2 - np.sum(forest.counts**2, axis=1)
    root = pairs[forest.offsets[:-1]][forest.tree]
    return np.asarray(np.divide(pairs, root, where=root > 0, out=np.zeros_like(pairs)))


def stopped(forest: FlatForest, impurity: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """The nodes that are split when splitting stops at impurity ≤ threshold; bool (nodes,)."""
    opened = forest.inner & (impurity > threshold)
    level = np.flatnonzero(forest.parent < 0)
    while len(level):  # a node below one that is not split does not exist
        opened[level] &= np.where(forest.parent[level] < 0, True, opened[forest.parent[level]])
        level = level[forest.inner[level]]
        level = np.concatenate([forest.left[level], forest.right[level]])
    return np.asarray(opened)


@dataclass(frozen=True)
class BudgetRF(ForestMethod):
    """A random forest in which nodes of low impurity are not split.

    A node's split depends only on its rows and its place in the tree, so one fully grown forest contains the forests of
    all thresholds. With criterion ``pairs`` or `cost_weighted`, the splits are those of BudgetRF. The family has one
    policy per threshold, in ascending order; with `also_unweighted`, those of a second forest follow.

    Attributes:
        thresholds: shares of the greatest impurity, 0 to 1 (see `node_impurity`); if empty, `count` are chosen by
            `spacing`.
        spacing: ``threshold``: 0, then even steps (``entropy``, ``gini``) or geometric ones from `least` (``pairs``);
            ``cost``: even steps of the mean cost of a validation row, from the unpruned forest to the empty one.
        count: number of thresholds chosen if `thresholds` is empty; of two forests, each has half of them.
        least: the smallest threshold above 0 for ``pairs``.
        also_unweighted: with `cost_weighted`, whether a second forest is grown whose splits ignore prices: it buys more
            and, where everything may be bought, is often more accurate. Not where all prices are equal, because its
            splits would be the same.

    Source: Nan, Wang, Saligrama, Feature-budgeted random forest, ICML 2015; as the baseline of BUDGETPRUNE §5.
    """

    thresholds: list[Annotated[float, Interval(ge=0, le=1)]] = field(default_factory=list)
    count: Annotated[int, Ge(1)] = 12
    least: Annotated[float, Interval(gt=0, lt=1)] = 1e-7
    spacing: Literal["threshold", "cost"] = field(default="threshold", metadata={"omit_default": True})
    also_unweighted: bool = field(default=False, metadata={"omit_default": True})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.also_unweighted and not self.cost_weighted:
            raise ValueError("also_unweighted adds a second forest to one with cost_weighted = true")

    def grid(self) -> list[float]:
        """The thresholds, ascending."""
        if self.thresholds:
            return sorted(set(self.thresholds))
        if self.criterion == "pairs":
            return [0.0, *(float(x) for x in np.geomspace(self.least, 0.9, self.count - 1))]
        return [float(x) for x in np.linspace(0.0, 0.9, self.count)]

    def fit(self, problem: Problem) -> Family:
        growers = [self]
        if self.also_unweighted and np.ptp(split_prices(problem)) > 0:
            growers = [replace(self, count=-(-self.count // 2), also_unweighted=False)]
            growers.append(replace(growers[0], cost_weighted=False))
        forests = [grower.grow(problem) for grower in growers]
        policies = [
            policy
            for grower, forest in zip(growers, forests, strict=True)
            for policy in grower._policies(problem, forest, "" if grower is growers[0] else ", unweighted")
        ]
        return Family(policies, diagnostics={"nodes": sum(forest.nodes for forest in forests)})

    def _policies(self, problem: Problem, forest: FlatForest, suffix: str) -> list[ForestPolicy]:
        """One policy per threshold; a suffix of their labels."""
        impurity = node_impurity(forest, self.criterion)
        return [
            self.policy(
                problem, forest, stopped(forest, impurity, threshold),
                f"threshold={threshold:.4g}{suffix}", {"threshold": threshold},
            )
            for threshold in self._thresholds(problem, forest, impurity)
        ]  # fmt: skip

    def _thresholds(self, problem: Problem, forest: FlatForest, impurity: NDArray[np.float64]) -> list[float]:
        if self.thresholds or self.spacing == "threshold":
            return self.grid()
        # Between the impurities of two nodes, nothing changes.
        values = [0.0, *(float(x) for x in np.unique(impurity[forest.inner]) if x > 0)]
        return spread_over_cost(
            values, lambda threshold: mean_cost(problem, forest, stopped(forest, impurity, threshold)), self.count
        )
