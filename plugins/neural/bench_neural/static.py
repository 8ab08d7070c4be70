"""Methods with the same order of features for all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from bench_core import Family, Problem
from bench_neural.settings import Count, Neural, Points, Sequential

__all__ = ["CAE", "MaskStatic"]


@dataclass(frozen=True)
class MaskStatic(Neural):
    """Static order by permutation importance per price (PT-S); a network for partial inputs answers.

    Attributes:
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        repeats: permutations of each feature.

    Source: Breiman, Random forests, Machine Learning 45, 2001; as a baseline in Covert et al., ICML 2023.
    """

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    budgets: Points = ()
    count: Count = 10
    repeats: Annotated[int, Ge(1)] = 5

    def fit(self, problem: Problem) -> Family:
        """Train the predictor, and order the features on the fold that stopped its training."""
        from bench_neural.families import budget_points, family
        from bench_neural.importance import importance_order, permutation_importance
        from bench_neural.policy import OrderPolicy

        prepared, _, predictor = self.trained(problem)
        common, view, fold = self._answers(problem, prepared, predictor), prepared.view, prepared.fold
        rng = problem.rng("neural", "importance")
        importance = permutation_importance(
            view, common["predictor"], fold.values, fold.target, problem.n_classes, rng, self.repeats
        )
        order = importance_order(view, importance)
        points = budget_points(problem, view.units, self.budgets, self.count)
        return family(problem, lambda point: OrderPolicy(**common, order=order, **point), points, {})


@dataclass(frozen=True)
class CAE(Sequential):
    """Static order by a concrete autoencoder's selectors; the network trained with them answers.

    Attributes:
        updates: number of updates of the selectors.
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        first_temperature, last_temperature: temperatures of the Concrete distribution, falling geometrically.

    Source: Balın, Abid, Zou, Concrete autoencoders: differentiable feature selection and reconstruction, ICML 2019.
    """

    version: ClassVar[int] = 2
    updates: Annotated[int, Ge(1)] = 1500
    budgets: Points = ()
    count: Count = 10
    first_temperature: Annotated[float, Gt(0)] = 10.0
    last_temperature: Annotated[float, Gt(0)] = 0.01

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the selectors."""
        from bench_neural.cae import train_cae
        from bench_neural.families import budget_points, family
        from bench_neural.policy import OrderPolicy

        prepared, setting, predictor = self.trained(problem)
        units = prepared.view.units
        temperatures = self.first_temperature, self.last_temperature
        f, order = train_cae(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), temperatures
        )
        common = self._fields(problem, prepared, f, predictor)
        points = budget_points(problem, units, self.budgets, self.count)
        return family(problem, lambda point: OrderPolicy(**common, order=order, **point), points, {})
