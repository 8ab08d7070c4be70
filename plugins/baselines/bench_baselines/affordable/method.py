"""The method ``affordable-subset``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import Family, Method, Policy, Problem

if TYPE_CHECKING:
    from bench_baselines.affordable.models import Models
    from bench_baselines.affordable.policy import StackPolicy
    from bench_baselines.forward_selection.prices import MeanPrices

__all__ = ["AffordableSubset"]

_STEPS = 3
"""Number of additions without a lower loss after which forward selection ends."""
_LAZY_ABOVE = 16
"""With more features than this, forward selection recomputes a gain only if its last value would be the best."""

Subset = tuple[int, ...]
"""Features, ascending."""
_Weighted = tuple[Subset, str, float]
"""A set, the kind of its model, and the model's weight."""

_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class AffordableSubset(Method):
    """A stack of LightGBM and logistic regression on the best sets of features that a budget affords together.

    For every budget, several unions of sets are tried: the set left by eliminating features by validated gain per
    price, for each kind of model; the two sets left at half the budget; the most important features of LightGBM on all
    features; and the set of greedy forward selection with the linear model. The rest of a budget is used for further
    features. A group's price is paid once. The members of a union's stack are models of all these sets that the union
    contains; ensemble selection weights them by the loss (log loss, or squared error) on rows that they did not see.
    The stack of lowest loss is kept, including those for smaller budgets; every row acquires the features that its
    members read.

    Attributes:
        model: the members: ``lightgbm`` (stopped early by the validation part), ``logistic`` (l2 logistic regression;
            ridge for values), or ``stack``: both.
        budgets: shares of the price of all features, in (0, 1].
        n_estimators: most boosting rounds.
        patience: rounds without a lower validation loss after which boosting stops.
        max_leaf_nodes, learning_rate, min_samples_leaf: of LightGBM.
        C: of the logistic regression, as scikit-learn's.

    Source: Guyon et al., Gene selection for cancer classification using support vector machines, 2002 (elimination);
    Khuller, Moss, Naor, The budgeted maximum coverage problem, 1999 (gain per price); Wolpert, Stacked generalization,
    1992; Caruana et al., Ensemble selection from libraries of models, 2004.
    """

    version: ClassVar[int] = 2
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
        """Fit on the training part; the validation part stops boosting and, if it has many rows, also selects."""
        from bench_models.boosting import BoostedModel
        from bench_models.linear import ConstantPolicy

        from bench_baselines.affordable.models import Models
        from bench_baselines.forward_selection.prices import MeanPrices
        from bench_core import default_policy_first, validation_score

        models, prices = Models(self, problem), MeanPrices.of(problem)
        shares = {share * prices.full: share for share in sorted(set(self.budgets))}
        unions, library = self._sets(models, prices, list(shares))
        policies, scores, seen = [], [], set()
        stacks: list[tuple[float, float, tuple[_Weighted, ...]]] = []
        done: set[Subset] = set()
        for budget, share in shares.items():
            new = sorted(unions[budget] - done)
            stacks += [self._stack(models, prices, union, library) for union in new]
            done.update(new)
            if not stacks:
                continue
            loss, price, members = min(stacks)
            if members in seen:
                continue
            seen.add(members)
            policy = self._policy(models, members)
            rounds = [member.model.rounds for member in policy.members if isinstance(member.model, BoostedModel)]
            details = {
                "budget": share,
                "features": len(policy.features),
                "price": price,
                "loss": loss,
                "names": [problem.feature_names[feature] for feature in policy.features],
                "models": [
                    {"kind": kind, "weight": weight, "features": [problem.feature_names[f] for f in features]}
                    for features, kind, weight in members
                ],
                "rounds": max(rounds, default=0),
            }
            policies.append(replace(policy, label=f"budget={share:g}", details=details))
            scores.append(validation_score(problem, policies[-1].decide(problem.validation.rows())))
        if not policies:
            return Family([ConstantPolicy.learnt(problem)])
        return Family(default_policy_first(policies, scores))

    def _sets(
        self, models: Models, prices: MeanPrices, budgets: Sequence[float]
    ) -> tuple[dict[float, set[Subset]], set[Subset]]:
        """Return the sets that a stack may read for each budget, filled up to it; and the sets of all models."""
        from bench_baselines.affordable.search import affordable_in_order, eliminate
        from bench_baselines.forward_selection.search import select

        targets = sorted({*budgets, *(budget / 2 for budget in budgets)})
        paths = [dict(eliminate(partial(models.gains, kind=kind), prices, targets)) for kind in self.kinds]
        order = models.order(tuple(range(prices.features)))
        unions: dict[float, set[Subset]] = {}
        library = {features for path in paths for features in path.values()}
        for budget in budgets:
            halves = tuple(sorted({feature for path in paths for feature in path[budget / 2]}))
            starts = [(), halves]
            if "logistic" in self.kinds:
                loss = partial(models.loss_of, kind="logistic")
                starts.append(select(loss, prices, budget, _STEPS, _LAZY_ABOVE))
            filled = [affordable_in_order(order, prices, budget, start) for start in starts]
            unions[budget] = {one for one in (*(path[budget] for path in paths), *filled) if one}
            library |= {*starts, *filled}
        return unions, {one for one in library if one}

    def _stack(
        self, models: Models, prices: MeanPrices, union: Subset, library: set[Subset]
    ) -> tuple[float, float, tuple[_Weighted, ...]]:
        """Return the loss, the price and the members of the best stack of models that read parts of a set."""
        from bench_baselines.affordable.stacking import select_ensemble

        inside = sorted(one for one in library if set(one) <= set(union))
        offered = [(one, kind) for one in inside for kind in self.kinds]
        loss, weights = select_ensemble([models.shown(*one) for one in offered], models.loss)
        members = tuple((*offered[number], weight) for number, weight in weights.items())
        return loss, prices.of_set({feature for features, _, _ in members for feature in features}), members

    def _policy(self, models: Models, members: tuple[_Weighted, ...]) -> StackPolicy:
        from bench_baselines.affordable.policy import Member, StackPolicy

        fitted = tuple(Member(models.final(features, kind), features, weight) for features, kind, weight in members)
        return StackPolicy(fitted, models.problem.n_features, models.problem.n_classes > 0)

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        """Return a policy of this method with the same sets, rounds and weights, fitted on another training part.

        Args:
            policy: from `fit`.
            problem: the training part may hold rows that were validation rows.
        """
        from bench_models.boosting import BoostedModel

        from bench_baselines.affordable.models import Models
        from bench_baselines.affordable.policy import StackPolicy

        if not isinstance(policy, StackPolicy):
            return policy
        models, again = Models(self, problem), []
        for member in policy.members:
            rounds = member.model.rounds if isinstance(member.model, BoostedModel) else None
            kind = "logistic" if rounds is None else "lightgbm"
            again.append(replace(member, model=models.fit(member.features, kind, problem, rounds)))
        return replace(policy, members=tuple(again))
