"""The method ``cegb``: cost-efficient gradient boosting by LightGBM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval

from bench_core import Family, Lambdas, Method, Problem, RegisterMethod, hookimpl

if TYPE_CHECKING:
    from bench_cegb.forest import Forest
    from bench_cegb.policy import ForestPolicy

__all__ = ["CEGB"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class CEGB(Method):
    """LightGBM trained with penalties on features (CEGB); each row pays for the features on its own paths.

    The family has one policy per λ and kept prefix of its forest, thinned out by cost where the λ are automatic
    (`bench_core.spread_by_cost`); the first is the best on validation. Class probabilities are LightGBM's own
    (sigmoid or softmax), without calibration. Categories are treated as numbers. Missing values follow LightGBM's
    default direction.

    Attributes:
        n_estimators: boosting rounds, at least 1; more than two classes have one tree per class and round.
        max_leaf_nodes: most leaves of a tree, at least 2.
        max_depth: most splits on a path; −1 for no limit.
        learning_rate: factor applied to each tree's prediction, above 0.
        min_samples_leaf: fewest training rows of a leaf, at least 1; LightGBM's own default is 20.
        max_bins: most bins of a column, at least 2.
        lambdas: trade-offs λ ≥ 0 (``cegb_tradeoff``), each with its own forest; 0 ignores prices. ``auto``: from 0 to
            where nothing is bought, spread over what the forests cost (`bench_models.tradeoff`).
        count: maximum number of automatic λ.
        prefixes: how many rounds of a forest a policy has: ``geometric``: 1, 2, 4, … or all; ``all``: always all.
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

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 300
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 31
    max_depth: Literal[-1] | Annotated[int, Ge(1)] = -1
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**17)] = 20
    max_bins: Annotated[int, Interval(ge=2, le=2**17)] = 255
    lambdas: Literal["auto"] | Lambdas = "auto"
    count: Annotated[int, Ge(2)] = 16
    prefixes: Literal["geometric", "all"] = "geometric"
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
        from bench_models.tradeoff import grid_in_cost

        from bench_cegb.forest import Forest
        from bench_cegb.penalties import gain_scale, penalties
        from bench_core import default_policy_first, spread_by_cost, validation_score

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
        forests: dict[float, Forest] = {}

        def cost_at(value: float) -> float:
            """Train the forest of a λ, and return the mean cost of a training row."""
            booster = train(problem, self.n_estimators, {**settings, **charged.parameters(self.penalty, value)})
            forests[value] = forest = Forest.from_dump(booster.dump_model())
            _, acquired = forest.run(problem.train.X, problem.feature_of_column, problem.n_features)
            return float(problem.costs.bill(acquired, problem.train.sizes).mean())

        lambdas = grid_in_cost(cost_at, self.count) if self.lambdas == "auto" else self.lambdas
        policies = []
        for value in lambdas:
            if value not in forests:
                cost_at(value)
            policies += self._prefixes(problem, forests[value], value)
        if not self.include_empty_policy and any(policy.details["features"] for policy in policies):
            policies = [policy for policy in policies if policy.details["features"]]
        if self.lambdas == "auto":
            ordered = spread_by_cost(problem, policies)
        else:
            rows = problem.validation.rows()
            ordered = default_policy_first(policies, [validation_score(problem, p.decide(rows)) for p in policies])
        return Family(ordered, diagnostics={"objective": objective["objective"], "lambdas": list(lambdas)})

    def _prefixes(self, problem: Problem, forest: Forest, value: float) -> list[ForestPolicy]:
        """The policies of one forest."""
        from bench_cegb.policy import ForestPolicy

        rounds = forest.trees // max(forest.outputs, 1)
        kept = {rounds}
        if self.prefixes == "geometric":
            kept |= {2**i for i in range(rounds.bit_length()) if 2**i < rounds}
        policies = []
        for count in sorted(kept):
            head = forest.head(count * forest.outputs)
            features = {int(problem.feature_of_column[column]) for column in head.used()}
            policies.append(
                ForestPolicy(
                    head.additive(problem.feature_of_column, problem.n_features),
                    classes=problem.n_classes > 0,
                    label=f"lambda={value:g}, rounds={count}",
                    details={"lambda": value, "trees": head.trees, "features": len(features)},
                )
            )
        return policies


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
