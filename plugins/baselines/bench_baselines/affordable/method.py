"""The method ``affordable-subset``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import Family, Method, Policy, Problem

if TYPE_CHECKING:
    from bench_models.boosting import BoostedModel
    from bench_models.prices import MeanPrices
    from numpy.typing import NDArray

    from bench_baselines.affordable.models import Models
    from bench_baselines.affordable.policy import Linear, StackPolicy
    from bench_baselines.forward_selection.search import Subset

__all__ = ["AffordableSubset"]

_STEPS = 3
"""Number of additions without a lower loss after which forward selection ends."""
_LAZY_ABOVE = 16
"""With more features than this, forward selection recomputes a gain only if its last value would be the best."""

_Kinds = tuple[str, ...]
_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class _Found:
    """A set of features, the kinds of models whose mean is its answer, and the losses of this on the judging rows."""

    features: Subset
    search: str
    kinds: _Kinds
    losses: NDArray[np.float64]

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(self.losses.mean())


@dataclass(frozen=True)
class AffordableSubset(Method):
    """LightGBM, logistic regression, or the mean of both, on the best features that a budget affords.

    For every budget, two sets are compared. The first has the features of greatest gain per price in LightGBM's trees
    on all features, as far as they fit the budget. The second is found by forward selection with the linear model, and
    filled up to the budget like the first. A group's price is paid once. A set's answer is that of LightGBM or of
    logistic regression, or the mean of both, whichever has the lowest loss: the squared error of values, or of
    probabilities (Brier score). Losses are measured out of fold on the training part, or on the validation part if that
    has many rows. One half of these rows serves to search the second set, the other half to compare. The second set is
    taken only if its loss is lower by more than one standard error of the difference, since on few rows smaller
    differences are noise.

    Attributes:
        model: ``lightgbm`` (only the first set), ``logistic`` (l2 logistic regression, ridge for values; only the
            second set, not filled), or ``stack``: as above.
        budgets: shares of the price of all features, in (0, 1].
        n_estimators: boosting rounds.
        max_leaf_nodes, learning_rate, min_samples_leaf: parameters of LightGBM's trees.
        row_share, column_share: the share of the rows, and of the columns, that each tree is grown on; at least two
            columns.
        C: inverse strength of the logistic regression's l2 penalty, as in scikit-learn.

    Source: Khuller, Moss, Naor, The budgeted maximum coverage problem, 1999 (gain per price); Brier, Verification of
    forecasts expressed in terms of probability, 1950; Breiman, Friedman, Olshen, Stone, Classification and regression
    trees, 1984, §3.4 (one standard error); Friedman, Stochastic gradient boosting, 2002 (shares of the rows).
    """

    version: ClassVar[int] = 6
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    takes_missing: ClassVar[bool] = True
    model: Literal["lightgbm", "logistic", "stack"] = "stack"
    budgets: Annotated[tuple[_Share, ...], MinLen(1)] = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 100
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 15
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Ge(1)] = 20
    row_share: _Share = 0.7
    column_share: _Share = 0.5
    C: Annotated[float, Gt(0)] = 1.0

    @property
    def kinds(self) -> _Kinds:
        """The kinds of models that are fitted."""
        return ("lightgbm", "logistic") if self.model == "stack" else (self.model,)

    def fit(self, problem: Problem) -> Family:
        """Fit on the training part. If the validation part has many rows, it compares the sets."""
        from bench_models.linear import ConstantPolicy
        from bench_models.prices import MeanPrices

        from bench_baselines.affordable.models import Models
        from bench_core import default_policy_first, validation_score

        models, prices, gains = Models(self, problem), MeanPrices.of(problem), self._gains(problem)
        policies, scores, seen = [], [], set()
        for share in sorted(set(self.budgets)):
            found = self._found(models, prices, gains, share * prices.full)
            if found is None or found.features in seen:
                continue
            seen.add(found.features)
            fitted = [models.fitted(found.features, kind) for kind in found.kinds]
            about = {"loss": found.loss, "search": found.search, "models": list(found.kinds)}
            policies.append(self._policy(problem, prices, share, found.features, fitted, about))
            scores.append(validation_score(problem, policies[-1].decide(problem.validation.rows())))
        if not policies:
            return Family([ConstantPolicy.learnt(problem)])
        return Family(default_policy_first(policies, scores))

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        """Return a policy fitted on another training part: a set found by gains is searched anew, any other is kept.

        Args:
            policy: from `fit`.
            problem: the training part may hold rows that were validation rows.
        """
        from bench_models.prices import MeanPrices

        from bench_baselines.affordable.models import fit_model
        from bench_baselines.affordable.policy import StackPolicy
        from bench_baselines.affordable.search import fill

        if not isinstance(policy, StackPolicy):
            return policy
        details, prices = policy.details, MeanPrices.of(problem)
        features, share = policy.features, details["budget"]
        if details["search"] == "gains":
            features = fill((), self._gains(problem), prices, share * prices.full)
        fitted = [fit_model(self, problem, features, kind) for kind in details["models"]]
        about = {name: details[name] for name in ("loss", "search", "models")}
        return self._policy(problem, prices, share, features, fitted, about)

    def _gains(self, problem: Problem) -> dict[int, float]:
        from bench_baselines.affordable.models import gains_of

        return gains_of(self, problem) if "lightgbm" in self.kinds else {}

    def _found(self, models: Models, prices: MeanPrices, gains: Mapping[int, float], budget: float) -> _Found | None:
        """Return the best set for a budget; None if no feature is affordable."""
        from bench_baselines.affordable.search import fill
        from bench_baselines.forward_selection.search import select

        sets = {"gains": fill((), gains, prices, budget)}
        if "logistic" in self.kinds:
            loss = partial(models.loss_of, kind="logistic")
            sets["forward"] = fill(select(loss, prices, budget, _STEPS, _LAZY_ABOVE), gains, prices, budget)
        found = [self._answering(models, one, search) for search, one in sets.items() if one]
        if len(found) == 2:
            lower = found[0].losses - found[1].losses
            if lower.mean() > lower.std() / np.sqrt(len(lower)):
                return found[1]
        return found[0] if found else None

    def _answering(self, models: Models, features: Subset, search: str) -> _Found:
        """Return a set with the models of lowest loss: those of one kind, or the mean of all."""
        kinds: list[_Kinds] = list(dict.fromkeys([*((kind,) for kind in self.kinds), self.kinds]))
        shown = [np.mean([models.shown(features, kind) for kind in one], axis=0) for one in kinds]
        found = [
            _Found(features, search, one, models.losses(answer, models.judging))
            for one, answer in zip(kinds, shown, strict=True)
        ]
        return min(found, key=lambda one: one.loss)

    def _policy(
        self, problem: Problem, prices: MeanPrices, share: float, features: Subset,
        fitted: Sequence[BoostedModel | Linear], about: Mapping[str, Any],
    ) -> StackPolicy:  # fmt: skip
        """Return the policy of a set and its fitted models; ``about`` is added to its details."""
        from bench_baselines.affordable.policy import Member, StackPolicy

        members = tuple(Member(model, features, 1 / len(fitted)) for model in fitted)
        details = {
            "budget": share,
            "features": len(features),
            "price": prices.of_set(features),
            "names": [problem.feature_names[feature] for feature in features],
            **about,
        }
        return StackPolicy(members, problem.n_features, problem.n_classes > 0, f"budget={share:g}", details)
