"""The method: grow a forest, prune every tree by cost-complexity, for every α."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge
from bench_models.forest.method import ForestMethod
from bench_models.forest.spread import mean_cost, spread_over_cost

from bench_core import Family, Problem

__all__ = ["CostComplexityPruning"]


@dataclass(frozen=True)
class CostComplexityPruning(ForestMethod):
    """A random forest whose trees are pruned by cost-complexity, all with the same α. Source: BUDGETPRUNE §5.

    The family is one policy per α, rising. Feature prices are not looked at. Parameters of the forest are those
    of `ForestMethod`.

    Attributes:
        alphas: the α; empty takes `count` of them, see `spacing`.
        spacing: ``leaves``: α that leave numbers of leaves in geometric steps; ``cost``: α from the whole forest to
            none, in even steps of the mean cost of a validation row.
        count: see `alphas`.
        risk: ``impurity``: the forest's criterion, as scikit-learn's pruning path does (gini for ``pairs``);
            ``error``: training errors, Breiman's.
    """

    alphas: list[Annotated[float, Ge(0)]] = field(default_factory=list)
    count: Annotated[int, Ge(1)] = 12
    risk: Literal["impurity", "error"] = "impurity"
    spacing: Literal["leaves", "cost"] = field(default="leaves", metadata={"omit_default": True})

    def fit(self, problem: Problem) -> Family:
        from bench_ccp.pruning import alpha_grid, alpha_steps, prune, risk

        forest = self.grow(problem)
        criterion: Literal["entropy", "gini"] = "entropy" if self.criterion == "entropy" else "gini"
        risks = risk(forest, criterion if self.risk == "impurity" else "error")
        if self.alphas or self.spacing == "leaves":
            alphas = sorted(self.alphas) or alpha_grid(forest, risks, self.count)
        else:
            alphas = spread_over_cost(
                alpha_steps(forest, risks),
                lambda alpha: mean_cost(problem, forest, prune(forest, risks, alpha)),
                self.count,
            )
        policies = [
            self.policy(problem, forest, prune(forest, risks, alpha), f"alpha={alpha:.4g}", {"alpha": alpha})
            for alpha in alphas
        ]
        return Family(policies, diagnostics={"nodes": forest.nodes})
