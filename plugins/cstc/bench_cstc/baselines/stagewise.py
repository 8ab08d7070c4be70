"""The method ``stagewise``: stage-wise regression, one policy per number of boosting iterations (CSTC §6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Family, Method, Policy, Problem, Rows
from bench_cstc.baselines.ranges import Count, Depth, Evaluation, Positive, PositiveWeight, Prefixes

if TYPE_CHECKING:
    from bench_models.answers import Answer, Scorer
    from bench_models.sums import Additive
    from bench_models.targets import Target

__all__ = ["PrefixPolicy", "Stagewise"]


@dataclass(frozen=True)
class Stagewise(Method):
    """Stage-wise regression: gradient boosting of limited-depth CART trees, one policy per number of trees.

    The loss is squared (Friedman 2001). The targets are values, grades, or ±1 for two classes; with more classes, each
    is fitted against the rest. Probabilities come from Platt's sigmoid, fitted out of fold on the training part and
    normalised over classes.
    Training ignores prices: "the curve is simply a function of boosting iterations" (CSTC §6.2). The trees are the
    columns of ``cstc`` with ``features = "boosted"`` and the same parameters. A row acquires every feature that the
    policy's trees split on, as F in CSTC's Eq. 20, and pays e_t for each tree.

    Attributes:
        n_estimators: boosting iterations, at least 1; LightGBM stops earlier if no node can be split.
        max_depth: maximum number of splits on a path of a tree, 1 to 12.
        learning_rate: above 0.
        evaluation: e_t, the price of evaluating one tree, ≥ 0; ``scheme`` takes the cost scheme's price.
        positive_weight: weight of rows of the positive class (of every class against the rest; of grades above 0 in a
            ranking), above 0; ``balanced`` gives both classes the same total weight.
        prefixes: numbers of iterations to keep as policies; ``geometric`` is 1, 2, 4, … and all; ``all`` is each.
        include_empty_policy: whether the family contains the policy that reads nothing; always if there is no other.

    Source: Friedman, Greedy function approximation, Annals of Statistics 2001; CSTC §5, §6.2.
    """

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    n_estimators: Count = 300
    max_depth: Depth = 4
    learning_rate: Positive = 0.1
    evaluation: Evaluation = "scheme"
    positive_weight: PositiveWeight = 1.0
    prefixes: Prefixes = "geometric"
    include_empty_policy: bool = True

    def fit(self, problem: Problem) -> Family:
        """Boost and calibrate on the training part; rank the prefixes on validation. The best comes first.

        Raises:
            ValueError: targets are not numbers, or `positive_weight` is given for a regression.
        """
        from bench_models.answers import best_first, constant, several_outputs
        from bench_models.columns import Boosting, price_of_evaluation
        from bench_models.sums import boost_outputs, kept_prefixes

        outputs = several_outputs(problem, self.positive_weight)
        policies: list[Policy] = [constant(problem)] if self.include_empty_policy or not outputs.targets else []
        if not outputs.targets:
            return Family(policies, diagnostics={"trees": 0})
        price = price_of_evaluation(problem, self.evaluation)
        how = Boosting(self.n_estimators, self.max_depth, self.learning_rate, price)
        sums = boost_outputs(problem, outputs.targets, how)
        rounds = max(boosting.count for boosting in sums)
        lengths = kept_prefixes(self.prefixes, rounds)

        def learn(part: Problem, target: Target) -> Scorer:
            (boosting,) = boost_outputs(part, [target], how)
            return lambda rows: boosting.partial(rows.X, np.minimum(lengths, boosting.count)).T

        for cut, answer in zip(lengths, outputs.answers(problem, len(lengths), learn), strict=True):
            features = np.any([boosting.used[min(cut, boosting.count)] for boosting in sums], axis=0)
            details = {"trees": cut, "features": int(features.sum())}
            policies.append(PrefixPolicy(sums, cut, answer, label=f"trees={cut}", details=details))
        if not policies:
            policies = [constant(problem)]
        return Family(best_first(problem, policies), diagnostics={"trees": rounds})


@dataclass(frozen=True, eq=False)
class PrefixPolicy(Policy):
    """The first rounds of a boosting, or of one boosting per class.

    Attributes:
        sums: the boostings.
        rounds: number of trees of each boosting that are run; all if it has fewer.
        answer: converts scores to decisions.
    """

    sums: tuple[Additive, ...]
    rounds: int
    answer: Answer
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        """Decide every row by the same trees."""
        n = len(rows)
        cuts, used = self._cuts(), self._used()
        cost = sum(float(boosting.evaluation[cut]) for boosting, cut in zip(self.sums, cuts, strict=True))
        scores = [boosting.partial(rows.X, [cut])[:, 0] for boosting, cut in zip(self.sums, cuts, strict=True)]
        return self.answer(
            scores, np.tile(used, (n, 1)), np.ones(n, dtype=np.int64), np.full(n, float(sum(cuts))), np.full(n, cost)
        )

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features among those that the trees split on."""
        return self._used() & ~known

    def _cuts(self) -> list[int]:
        """The number of trees of each boosting that are run."""
        return [min(self.rounds, boosting.count) for boosting in self.sums]

    def _used(self) -> NDArray[np.bool_]:
        """The features that the trees split on: bool (features,)."""
        used = [boosting.used[cut] for boosting, cut in zip(self.sums, self._cuts(), strict=True)]
        return np.asarray(np.any(used, axis=0))
