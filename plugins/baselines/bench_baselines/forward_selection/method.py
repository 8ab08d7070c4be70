"""The method ``forward-selection``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import DataFacts, Family, Method, Policy, Problem

__all__ = ["ForwardSelection"]


_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class ForwardSelection(Method):
    """Greedy forward selection by gain per price within a budget: one fixed set of features per budget.

    For every budget, features are added one by one, each time the one with the greatest fall of the loss per price
    among those that still fit, until none fits (cost-benefit greedy). The set for the budget is the one of lowest loss
    among the sets of the search, the best single feature that fits, and all features if they fit. The loss is out of
    fold, on thirds of the training part. A group's price is paid once. Every row acquires the complete set.

    Attributes:
        model: the model of a set: ``logistic`` (l2 logistic regression; ridge for values and grades) or ``lightgbm``.
        budgets: shares of the price of all features, in (0, 1].
        C: inverse strength of the logistic regression's l2 penalty, as in scikit-learn.
        n_estimators, max_leaf_nodes, learning_rate, min_samples_leaf: parameters of LightGBM, also in the search.
        patience: number of consecutive additions without a new lowest loss after which the search for a budget ends; 0:
            never.
        lazy_above: with more features than this, a feature's gain is recomputed only if its last value would make it
            the best (lazy greedy); otherwise all gains are computed at every step.

    Source: Khuller, Moss, Naor, The budgeted maximum coverage problem, 1999 (greedy by gain per price, or the best
    single one); Min, Hu, Zhu, Feature selection with test cost constraint, 2014 (the problem); Minoux, Accelerated
    greedy algorithms, 1978 (lazy).
    """

    version: ClassVar[int] = 3
    takes_missing: ClassVar[bool] = True
    model: Literal["logistic", "lightgbm"] = "logistic"
    budgets: Annotated[tuple[_Share, ...], MinLen(1)] = (
        0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0,
    )  # fmt: skip
    C: Annotated[float, Gt(0)] = 1.0
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 100
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 15
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**17)] = 20
    patience: Annotated[int, Ge(0)] = 5
    lazy_above: Annotated[int, Ge(0)] = 16

    def inapplicable(self, data: DataFacts) -> str | None:
        """Reason not to run: those of every method, or missing values with logistic regression."""
        if data.missing and self.model == "logistic":
            return "model = 'logistic' takes no missing values; encode = 'impute' fills them, or model = 'lightgbm'"
        return super().inapplicable(data)

    @property
    def _trees(self) -> tuple[int, int, float, int]:
        return self.n_estimators, self.max_leaf_nodes, self.learning_rate, self.min_samples_leaf

    def fit(self, problem: Problem) -> Family:
        """Choose and fit sets on the training part; the validation part determines which policy comes first.

        Raises:
            ValueError: features have missing values with ``logistic``; the message names them.
        """
        from bench_models.prices import MeanPrices

        from bench_baselines.forward_selection.models import SubsetModels
        from bench_baselines.forward_selection.policy import SubsetPolicy
        from bench_baselines.forward_selection.search import select
        from bench_core import default_policy_first, validation_score

        models = SubsetModels(problem, self.model, self.C, self._trees)
        prices = MeanPrices.of(problem)
        policies, scores, seen = [], [], set()
        for share in sorted(set(self.budgets)):
            chosen = select(models.loss, prices, share * prices.full, self.patience, self.lazy_above)
            if chosen in seen:
                continue
            seen.add(chosen)
            details = {
                "features": len(chosen),
                "price": prices.of_set(chosen),
                "loss_out_of_fold": models.loss(chosen),
                "names": [problem.feature_names[feature] for feature in chosen],
            }
            policy = SubsetPolicy(
                models.fitted(chosen), problem.n_features, chosen, label=f"budget={share:g}",
                details={"budget": share, **details},
            )  # fmt: skip
            policies.append(policy)
            scores.append(validation_score(problem, policy.decide(problem.validation.rows())))
        return Family(default_policy_first(policies, scores), diagnostics={"sets_tried": models.tried})

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        """Return a policy of this method with the same set, its model fitted on another training part.

        Args:
            policy: from `fit`.
            problem: the training part may hold rows that were validation rows.
        """
        from bench_baselines.forward_selection.models import SubsetModels
        from bench_baselines.forward_selection.policy import SubsetPolicy

        if not isinstance(policy, SubsetPolicy):
            return policy
        return replace(policy, model=SubsetModels(problem, self.model, self.C, self._trees).fitted(policy.features))
