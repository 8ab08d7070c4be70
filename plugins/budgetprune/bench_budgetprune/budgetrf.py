"""BudgetRF: a forest stopped at impurity thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Interval
from bench_models.forest.flat import FlatForest
from bench_models.forest.method import ForestMethod
from bench_models.forest.spread import mean_cost, spread_over_cost
from numpy.typing import NDArray

from bench_core import Family, Problem

__all__ = ["BudgetRF", "node_impurity", "stopped"]


def node_impurity(forest: FlatForest, measure: Literal["entropy", "gini", "pairs"]) -> NDArray[np.float64]:
    """How impure a node is, as a share of the worst its tree could be at the root.

    Args:
        forest: the trees.
        measure: ``entropy``: over the entropy of equally frequent classes; ``gini``: likewise; ``pairs``: the
            pairs of in-bag rows of different classes, over those of the root (a pure bag has none: 0).

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
    while len(level):  # a node below one that was not split does not exist
        opened[level] &= np.where(forest.parent[level] < 0, True, opened[forest.parent[level]])
        level = level[forest.inner[level]]
        level = np.concatenate([forest.left[level], forest.right[level]])
    return np.asarray(opened)


@dataclass(frozen=True)
class BudgetRF(ForestMethod):
    """A random forest whose nodes are not split once their impurity is low enough. Source: BUDGETPRUNE §5.

    The choice of a node's split depends on its own rows and its place only, so that one full forest holds the
    forests of all thresholds. With criterion ``pairs`` or `cost_weighted` its splits are BudgetRF's (ICML 2015).
    The family is one policy per threshold, rising.

    Attributes:
        thresholds: shares of the greatest impurity, 0 to 1 (see `node_impurity`); empty takes `count`, see `spacing`.
        spacing: ``threshold``: 0, then even steps (``entropy``, ``gini``) or geometric ones from `least` (``pairs``);
            ``cost``: from the whole forest to none, in even steps of the mean cost of a validation row.
        count: see `thresholds`.
        least: the least threshold above 0 for ``pairs``.
    """

    thresholds: list[Annotated[float, Interval(ge=0, le=1)]] = field(default_factory=list)
    count: Annotated[int, Ge(1)] = 12
    least: Annotated[float, Interval(gt=0, lt=1)] = 1e-7
    spacing: Literal["threshold", "cost"] = field(default="threshold", metadata={"omit_default": True})

    def grid(self) -> list[float]:
        """The thresholds, rising."""
        if self.thresholds:
            return sorted(set(self.thresholds))
        if self.criterion == "pairs":
            return [0.0, *(float(x) for x in np.geomspace(self.least, 0.9, self.count - 1))]
        return [float(x) for x in np.linspace(0.0, 0.9, self.count)]

    def fit(self, problem: Problem) -> Family:
        forest = self.grow(problem)
        impurity = node_impurity(forest, self.criterion)
        policies = [
            self.policy(
                problem, forest, stopped(forest, impurity, threshold),
                f"threshold={threshold:.4g}", {"threshold": threshold},
            )
            for threshold in self._thresholds(problem, forest, impurity)
        ]  # fmt: skip
        return Family(policies, diagnostics={"nodes": forest.nodes})

    def _thresholds(self, problem: Problem, forest: FlatForest, impurity: NDArray[np.float64]) -> list[float]:
        if self.thresholds or self.spacing == "threshold":
            return self.grid()
        # Between two nodes' impurities nothing changes.
        values = [0.0, *(float(x) for x in np.unique(impurity[forest.inner]) if x > 0)]
        return spread_over_cost(
            values, lambda threshold: mean_cost(problem, forest, stopped(forest, impurity, threshold)), self.count
        )
