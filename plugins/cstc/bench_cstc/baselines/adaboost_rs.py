"""The method ``adaboost-rs``: AdaBoost's trees sampled on a budget (CSTC §6.3; Reyzin 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Interval, MinLen, Predicate
from numpy.typing import NDArray

from bench_core import Decisions, Family, Method, Policy, Problem, Rows, distinct
from bench_cstc.baselines.ranges import Count, Depth, Evaluation, PositiveWeight

if TYPE_CHECKING:
    from bench_models.answers import Answer
    from bench_models.targets import Target

    from bench_cstc.baselines.adaboost import Voters

__all__ = ["AdaBoostRS", "VotePolicy", "prefix_within", "sampling"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class AdaBoostRS(Method):
    """AdaBoost resampled on a budget: trees are drawn in proportion to weight / price until the budget is spent.

    Discrete AdaBoost learns trees h_t with weights α_t; its answer is the sign of Σ α_t h_t(x). To spend less, trees
    are drawn with replacement with probabilities p_t ∝ α_t / c_t, where c_t is the price of all features that h_t
    splits on, until the next draw's new features would exceed the budget. Features are paid once. A draw votes with α_t
    / p_t, so that the expected vote is AdaBoost's (or with 1, for ``votes = "equal"``).

    CSTC describes "the cost sensitive version of AdaboostRS … resamples decision trees, learned with AdaBoost,
    inversely proportional to a tree's feature cost" without details. Our choices: the weights of the votes; one sample
    for all rows of a trial, drawn from its seed (use 10 seeds for the paper's mean over 10 runs); free trees are drawn
    as if they had the price of the cheapest priced tree; a tree's evaluation price e_t is part of c_t. The sample for a
    smaller budget is the beginning of that for a larger one. The family's reference is AdaBoost with all trees.
    Probabilities come from Platt's sigmoid, fitted on a fifth of the training part, from which no tree learns. With
    folds, every fold's AdaBoost would draw other trees, whose votes have another scale. If there are fewer than 20
    rows, or the rest would lack a class, trees and sigmoid both use all rows.

    Attributes:
        n_estimators: rounds of AdaBoost, from 1.
        max_depth: maximum number of splits on a path of a tree, 1 to 12; Reyzin uses stumps. A deep tree has many
            features, so even one tree may cost as much as all.
        budgets: shares of the price of all features that AdaBoost reads, above 0 and at most 1; one policy each.
        draws: maximum number of draws, at least 1.
        votes: ``unbiased`` or ``equal``, see above.
        evaluation: e_t, the price of evaluating one tree, ≥ 0; ``scheme`` takes the cost scheme's.
        positive_weight: initial weight of positive rows, above 0; ``balanced``: their sum is half of the total.
        relevant_from: in a ranking, the lowest grade that counts as positive.
        include_empty_policy: whether the family has the empty policy; always if no budget pays for a draw.

    Source: Reyzin, Boosting on a budget: sampling for feature-efficient prediction, ICML 2011; AdaBoost: Freund,
    Schapire, A short introduction to boosting, 1999.
    """

    version: ClassVar[int] = 5
    takes_missing: ClassVar[bool] = True
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "ranking"})
    n_estimators: Count = 200
    max_depth: Depth = 1
    budgets: Annotated[tuple[_Share, ...], MinLen(1), Predicate(distinct)] = (
        *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
        *(0.6, 0.7, 0.8, 0.9, 1.0),
    )
    draws: Annotated[int, Interval(ge=1, le=10_000_000)] = 2000
    votes: Literal["unbiased", "equal"] = "unbiased"
    evaluation: Evaluation = "scheme"
    positive_weight: PositiveWeight = 1.0
    relevant_from: float = 1.0
    include_empty_policy: bool = False

    def fit(self, problem: Problem) -> Family:
        """Boost, draw and calibrate on the training part; the best on validation comes first.

        Raises:
            ValueError: grades are not numbers.
        """
        from bench_models.answers import best_first, constant, one_output
        from bench_models.columns import price_of_evaluation
        from bench_models.folds import taking

        from bench_cstc.baselines.adaboost import adaboost

        outputs = one_output(problem, self.positive_weight, self.relevant_from, "adaboost-rs")
        if not outputs.targets:
            return Family([constant(problem)], diagnostics={"trees": 0})
        learning, held = _divided(problem, outputs.targets[0])
        part, target = taking(problem, learning), outputs.targets[0].taking(learning)
        voters = adaboost(part, target.y, target.weights, self.n_estimators, self.max_depth)
        count = len(voters.alpha)
        diagnostics = {"trees": count, "last error": float(voters.errors[-1]) if count else 0.5}
        if not count:
            return Family([constant(problem)], diagnostics=diagnostics)
        price = price_of_evaluation(problem, self.evaluation)
        mean_cost = _mean_costs(problem)
        own = np.array([mean_cost(features) + price for features in voters.features_of])
        chance, say = sampling(voters.alpha, own, self.votes)
        drawn = problem.rng("draws").choice(count, size=self.draws, p=chance)
        X, y = problem.train.X[held], problem.train.y[held]

        def policy(chosen: Ints, weight: Floats, label: str, details: dict[str, Any]) -> VotePolicy:
            features = np.zeros(problem.n_features, dtype=bool)
            for t in chosen:
                features[voters.features_of[t]] = True
            (answer,) = outputs.fitted(y, mean_vote(voters.votes(X, chosen), weight)[None, None])
            details = {**details, "trees": len(chosen), "features": int(features.sum())}
            return VotePolicy(voters, chosen, weight, features, price * len(chosen), answer, label, details)

        full_price = mean_cost(np.unique(np.concatenate(voters.features_of)))
        policies: list[Policy] = [constant(problem)] if self.include_empty_policy else []
        for share in sorted(self.budgets):
            length = prefix_within(drawn, voters.features_of, mean_cost, share * full_price)
            if not length:
                continue
            chosen, counts = np.unique(drawn[:length], return_counts=True)
            weight = say[chosen] * counts
            details = {"budget": share * full_price, "share": share, "draws": length}
            policies.append(policy(chosen, weight / weight.sum(), f"budget={share:g}", details))
        everything = policy(np.arange(count), voters.alpha / voters.alpha.sum(), "AdaBoost", {})
        ordered = best_first(problem, policies or [constant(problem)])
        return Family(ordered, everything, {"error": voters.errors}, diagnostics)


def _divided(problem: Problem, target: Target) -> tuple[Ints, Ints]:
    """The rows from which trees learn, and those on which votes are calibrated: positions in the training part."""
    from bench_models.folds import folds, others

    held = folds(problem, 5)[0]
    learning = others(problem, held)
    if problem.n_classes and len(problem.train) >= 20 and len(np.unique(target.y[learning])) > 1:
        return learning, held
    every = np.arange(len(problem.train))
    return every, every


def sampling(alpha: Floats, prices: Floats, votes: str = "unbiased") -> tuple[Floats, Floats]:
    """Probabilities of being drawn, ∝ α / c, and the weights of a draw's vote.

    Args:
        alpha: float64 (trees,), above 0.
        prices: float64 (trees,), not negative; free trees count as the cheapest priced one.
        votes: ``unbiased``: α/p, so that the expected vote is Σ α h; ``equal``: 1.

    Returns:
        Two float64 (trees,).
    """
    priced = prices[prices > 0]
    floor = float(priced.min()) if len(priced) else 1.0
    ratio = alpha / np.maximum(prices, floor)
    chance = ratio / ratio.sum()
    return chance, alpha / chance if votes == "unbiased" else np.ones(len(alpha))


def prefix_within(drawn: Ints, features_of: list[Ints], price: Any, budget: float) -> int:
    """The number of draws, from the first on, that a budget pays for; a feature is paid once.

    Args:
        drawn: int64: trees in the order of drawing.
        features_of: per tree, its features.
        price: function from features to the price of acquiring them.
        budget: budget in the unit of the price.
    """
    seen: set[int] = set()
    for number, t in enumerate(drawn):
        more = seen | {int(f) for f in features_of[t]}
        if len(more) > len(seen) and price(np.array(sorted(more))) > budget * (1 + 1e-12):
            return number
        seen = more
    return len(drawn)


def _mean_costs(problem: Problem) -> Any:
    """A function from features to the price of these and their groups, averaged over the training rows."""
    sizes = problem.train.sizes if problem.costs.depends_on_size else None

    def price(features: Ints) -> float:
        acquired = np.zeros((1 if sizes is None else len(sizes), problem.n_features), dtype=bool)
        acquired[:, features] = True
        return float(problem.costs.bill(acquired, sizes).mean())

    return price


def mean_vote(votes: Floats, weight: Floats) -> Floats:
    """The weighted mean vote, in [−1, 1]; float64 (rows,).

    It has ten digits. With more, rounding errors, which differ between machines, would order rows with equal votes.

    Args:
        votes: float64 (rows, trees).
        weight: float64 (trees,), summing to 1.
    """
    out = np.zeros(len(votes))
    for column, share in zip(votes.T, weight, strict=True):
        out += share * column
    return np.round(out, 10)


@dataclass(frozen=True, eq=False)
class VotePolicy(Policy):
    """A policy that votes with some of the trees.

    Attributes:
        voters: all trees.
        chosen: int64: the trees that vote.
        weight: float64 (chosen,), summing to 1.
        features: bool (features,): the features that these trees read.
        price: sum of the e_t.
        answer: converts scores to decisions.
    """

    voters: Voters
    chosen: Ints
    weight: Floats
    features: NDArray[np.bool_]
    price: float
    answer: Answer
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def score(self, X: Floats) -> Floats:
        """The weighted mean vote, in [−1, 1]; float64 (rows,)."""
        return mean_vote(self.voters.votes(X, self.chosen), self.weight)

    def decide(self, rows: Rows) -> Decisions:
        """Decide every row by the votes."""
        n = len(rows)
        return self.answer(
            [self.score(rows.X)],
            np.tile(self.features, (n, 1)),
            np.ones(n, dtype=np.int64),
            np.full(n, float(len(self.chosen))),
            np.full(n, self.price),
        )

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features among those that the trees split on."""
        return self.features & ~known
