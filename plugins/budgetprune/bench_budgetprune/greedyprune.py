"""GreedyPrune: grow a forest, remove features greedily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from bench_models.forest.acquisition import price_units
from bench_models.forest.method import ForestMethod
from bench_models.tradeoff import evenly
from numpy.typing import NDArray

from bench_core import Family, Problem

__all__ = ["GreedyPrune"]


@dataclass(frozen=True)
class GreedyPrune(ForestMethod):
    """A random forest from which features are removed one after another, with all their tests.

    The family contains the unpruned forest and forests after removals, spread evenly over cost. Parameters of the
    forest are those of `ForestMethod`.

    Attributes:
        count: maximum number of policies; 0 keeps all steps.
        remove: what a step removes: ``feature``, or ``group``: all features of an acquisition group.

    Source: Nan, Wang, Saligrama, Pruning random forests for prediction on a budget, NIPS 2016, §5 (iii).
    """

    count: Annotated[int, Ge(0)] = 12
    remove: Literal["feature", "group"] = "group"

    def fit(self, problem: Problem) -> Family:
        from bench_budgetprune.greedy_steps import greedy_steps

        forest = self.grow(problem)
        X = problem.validation.X
        units = price_units(problem.costs, problem.validation.sizes)
        steps = greedy_steps(forest, forest.route(X, problem.threads), units, self._parts(problem))
        chosen = evenly([step.cost for step in steps], self.count)
        policies = [self.policy(problem, forest, steps[i].opened, f"removed={i}", {"removed": i}) for i in chosen]
        return Family(
            policies,
            history={
                "training_error": [step.error for step in steps],
                "validation_cost": [step.cost for step in steps],
            },
            diagnostics={"nodes": forest.nodes, "steps": len(steps) - 1},
        )

    def _parts(self, problem: Problem) -> NDArray[np.int64]:
        """The part that is removed with each feature: int64 (features,), numbered from 0."""
        own = np.arange(problem.n_features)
        groups = problem.costs.groups
        if self.remove == "feature" or groups is None:
            return own
        return np.unique(np.where(groups >= 0, problem.n_features + groups, own), return_inverse=True)[1]
