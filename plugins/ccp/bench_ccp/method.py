"""The method ``ccp``: a random forest whose trees are pruned by cost complexity."""

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
    """A random forest whose trees are pruned by minimal cost-complexity pruning, all with the same α.

    The family has one policy per α, in ascending order. Pruning ignores feature prices. The parameters of the forest
    are those of `ForestMethod`.

    Attributes:
        alphas: complexity parameters α ≥ 0; when empty, ``count`` values are chosen as ``spacing`` says.
        spacing: how α is chosen: ``leaves`` makes the number of leaves fall in geometric steps; ``cost`` makes the
            mean cost of a validation row fall in even steps, from the unpruned forest to one that acquires nothing.
        count: number of α chosen when ``alphas`` is empty.
        risk: the risk R of a node: ``impurity`` is the forest's criterion, as in scikit-learn's pruning path (Gini
            where the criterion is ``pairs``); ``error`` is the training error, as in Breiman et al. 1984.

    Source: BUDGETPRUNE §5; Breiman, Friedman, Olshen, Stone 1984, §3.3.
    """

    alphas: list[Annotated[float, Ge(0)]] = field(default_factory=list)
    count: Annotated[int, Ge(1)] = 12
    risk: Literal["impurity", "error"] = "impurity"
    spacing: Literal["leaves", "cost"] = field(default="leaves", metadata={"omit_default": True})

    def fit(self, problem: Problem) -> Family:
        """Grow the forest on the training part and prune it at every α.

        The validation part is read only for ``spacing = "cost"``.

        Raises:
            RequestError: the task is regression.
        """
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
