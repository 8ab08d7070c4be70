"""The method ``affordable-subset``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import Family, Method, Policy, Problem

__all__ = ["AffordableSubset"]

_STEPS = 3
"""Features that forward selection adds without a lower loss before it ends."""

_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class AffordableSubset(Method):
    """LightGBM, logistic regression or their blend on the best set of features that a budget affords.

    For every budget, candidates are: the set that remains when features are eliminated by their validated gain per
    price, for each kind of model; the most important features of LightGBM on everything that fit, one after the other;
    and the set of greedy forward selection with the linear model. Elimination fills up what it leaves of a budget. A
    group's price is paid once. Of these and the candidates for smaller budgets, that of least validation loss (log
    loss, or squared error) is kept; every row acquires the whole set.

    Attributes:
        model: ``lightgbm`` (stopped early by the validation part), ``logistic`` (l2 logistic regression; ridge for
            values), or ``stack``: the weighted mean of both, with the weight of least validation loss.
        budgets: shares of the price of all features, in (0, 1].
        n_estimators: most boosting rounds.
        patience: rounds without a lower validation loss after which boosting stops.
        max_leaf_nodes, learning_rate, min_samples_leaf: of LightGBM.
        C: of the logistic regression, as scikit-learn's.

    Source: Guyon et al., Gene selection for cancer classification using support vector machines, 2002 (elimination);
    Khuller, Moss, Naor, The budgeted maximum coverage problem, 1999 (gain per price); Wolpert, Stacked generalization,
    1992.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    takes_missing: ClassVar[bool] = True
    model: Literal["lightgbm", "logistic", "stack"] = "stack"
    budgets: Annotated[tuple[_Share, ...], MinLen(1)] = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 400
    patience: Annotated[int, Ge(1)] = 20
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 15
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**17)] = 20
    C: Annotated[float, Gt(0)] = 1.0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of models that are fitted."""
        return ("lightgbm", "logistic") if self.model == "stack" else (self.model,)

    def fit(self, problem: Problem) -> Family:
        """Fit on the training part; the validation part stops, selects and blends."""
        from bench_models.linear import ConstantPolicy

        from bench_baselines.affordable.models import Models
        from bench_baselines.affordable.policy import BlendPolicy
        from bench_baselines.affordable.search import affordable_in_order, eliminate
        from bench_baselines.forward_selection.prices import MeanPrices
        from bench_baselines.forward_selection.search import select
        from bench_core import default_policy_first, validation_score

        models, prices = Models(self, problem), MeanPrices.of(problem)
        everything = tuple(range(prices.features))
        shares = {share * prices.full: share for share in sorted(set(self.budgets))}
        candidates: dict[float, dict[tuple[int, ...], None]] = {budget: {} for budget in shares}
        for kind in self.kinds:
            path = eliminate(partial(models.gains, kind=kind), prices, list(shares))
            for budget, features in path:
                candidates[budget][features] = None
        if "lightgbm" in self.kinds:
            order = models.order(everything)
            for budget, sets in candidates.items():
                sets[affordable_in_order(order, prices, budget)] = None
        if "logistic" in self.kinds:
            for budget, sets in candidates.items():
                sets[select(lambda features: models.loss_of(features, "logistic"), prices, budget, _STEPS)] = None
        policies, scores, seen = [], [], set()
        judged: dict[tuple[int, ...], tuple[float, BlendPolicy]] = {}
        for budget in sorted(candidates):
            judged |= {one: models.blend(one) for one in candidates[budget] if one and one not in judged}
            if not judged:
                continue
            features = min(judged, key=lambda one: (judged[one][0], prices.of_set(one), one))
            loss, policy = judged[features]
            if features in seen:
                continue
            seen.add(features)
            details = {
                "budget": shares[budget],
                "features": len(features),
                "price": prices.of_set(features),
                "validation_loss": loss,
                "weight": policy.weight,
                "rounds": 0 if policy.boosted is None else policy.boosted.rounds,
                "names": [problem.feature_names[feature] for feature in features],
            }
            policies.append(replace(policy, label=f"budget={shares[budget]:g}", details=details))
            scores.append(validation_score(problem, policies[-1].decide(problem.validation.rows())))
        if not policies:
            return Family([ConstantPolicy.learnt(problem)])
        return Family(default_policy_first(policies, scores))

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        """Return a policy of this method with the same set, rounds and weight, fitted on another training part.

        Args:
            policy: from `fit`.
            problem: the training part may hold rows that were validation rows.
        """
        from bench_baselines.affordable.models import Models
        from bench_baselines.affordable.policy import BlendPolicy

        if not isinstance(policy, BlendPolicy):
            return policy
        models, features = Models(self, problem), policy.features
        boosted = None if policy.boosted is None else models.boosted(features, policy.boosted.rounds)
        linear = None if policy.linear is None else models.linear(features)
        return replace(policy, boosted=boosted, linear=linear)
