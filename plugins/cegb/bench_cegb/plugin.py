"""The method ``cegb``: cost-efficient gradient boosting by LightGBM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval

from bench_core import Family, Lambdas, Method, Problem, RegisterMethod, hookimpl

__all__ = ["CEGB"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class CEGB(Method):
    """LightGBM trained with penalties on features (CEGB); each row pays for the features on its own paths.

    The family has one policy per λ; the first is the best on validation. Class probabilities are LightGBM's own
    (sigmoid or softmax), without calibration. Categories are treated as numbers. Missing values follow LightGBM's
    default direction.

    Attributes:
        n_estimators: boosting rounds, at least 1; more than two classes have one tree per class and round.
        max_leaf_nodes: most leaves of a tree, at least 2.
        max_depth: most splits on a path; −1 for no limit.
        learning_rate: factor applied to each tree's prediction, above 0.
        min_samples_leaf: fewest training rows of a leaf, at least 1; LightGBM's own default is 20.
        max_bins: most bins of a column, at least 2.
        lambdas: trade-offs λ ≥ 0 (``cegb_tradeoff``), each with its own forest; 0 ignores prices.
        unit: unit of λ. ``relative`` does not depend on the scale of prices and targets or on the number of rows: with
            λ = 1, acquiring all features for every row must gain what a perfect first tree gains. ``raw`` passes
            prices to LightGBM unscaled; a coupled penalty is then compared with a gain summed over all rows.
        penalty: ``coupled`` charges a feature's price once, when the forest first uses it; ``lazy`` charges it for
            every training row that reads it for the first time.
        shared: how prices are assigned to columns, because LightGBM's penalties are per column and have no groups.
            ``split`` divides a feature's price equally among its columns and a group's among its features; ``each``
            charges every column the full price of both. The core's bill is exact in either case.
        split_price: price of evaluating one split for one row, in the unit of the prices (``cegb_penalty_split``); it
            affects training only and is not billed.
        include_empty_policy: whether the family includes policies that acquire nothing (class frequencies, cost 0).
            One is included in any case when no other policy exists.
        ranking: the objective for ranking: ``lambdarank``, or ``pointwise``, regression on the grades.

    Source: Peter, Diego, Hamprecht, Nadler: Cost-efficient Gradient Boosting, NeurIPS 2017, as implemented in LightGBM
    (``cegb_tradeoff``, ``cegb_penalty_feature_coupled``, ``cegb_penalty_feature_lazy``, ``cegb_penalty_split``).
    """

    version: ClassVar[int] = 1
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 300
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 31
    max_depth: Literal[-1] | Annotated[int, Ge(1)] = -1
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**17)] = 20
    max_bins: Annotated[int, Interval(ge=2, le=2**17)] = 255
    lambdas: Lambdas = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 2.0)
    unit: Literal["relative", "raw"] = "relative"
    penalty: Literal["coupled", "lazy"] = "coupled"
    shared: Literal["split", "each"] = "split"
    split_price: Annotated[float, Ge(0)] = 0.0
    include_empty_policy: bool = True
    ranking: Literal["lambdarank", "pointwise"] = "lambdarank"

    def fit(self, problem: Problem) -> Family:
        """Train a forest for every λ on the training part; choose the default policy on the validation part.

        Raises:
            ValueError: lambdarank is used with grades that are not integers from 0 to 30.
        """
        from bench_models.boosting import objective_of, train

        from bench_cegb.forest import Forest
        from bench_cegb.penalties import gain_scale, penalties
        from bench_cegb.policy import ForestPolicy
        from bench_core import default_policy_first, validation_score

        objective = objective_of(problem, self.ranking)
        scale = gain_scale(problem, objective["objective"])
        charged = penalties(problem, self.penalty, self.shared, self.split_price, self.unit, scale)
        settings = {
            **objective,
            "num_leaves": self.max_leaf_nodes,
            "max_depth": self.max_depth,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_samples_leaf,
            "max_bin": self.max_bins,
        }
        part = problem.validation
        policies, validation_scores = [], []
        for value in self.lambdas:
            booster = train(problem, self.n_estimators, {**settings, **charged.parameters(self.penalty, value)})
            forest = Forest.from_dump(booster.dump_model())
            features = {int(problem.feature_of_column[column]) for column in forest.used()}
            policy = ForestPolicy(
                forest.additive(problem.feature_of_column, problem.n_features),
                classes=problem.n_classes > 0,
                label=f"lambda={value:g}",
                details={"lambda": value, "trees": forest.trees, "features": len(features)},
            )
            policies.append(policy)
            validation_scores.append(validation_score(problem, policy.decide(part.rows())))
        if not self.include_empty_policy and any(policy.details["features"] for policy in policies):
            remaining = [i for i, policy in enumerate(policies) if policy.details["features"]]
            policies, validation_scores = [policies[i] for i in remaining], [validation_scores[i] for i in remaining]
        diagnostics = {"objective": objective["objective"]}
        return Family(default_policy_first(policies, validation_scores), diagnostics=diagnostics)


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``cegb``."""
    register("cegb", CEGB)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.trees import AdditiveTrees, FlatTrees

    from bench_cegb.policy import ForestPolicy

    return [ForestPolicy, AdditiveTrees, FlatTrees]
