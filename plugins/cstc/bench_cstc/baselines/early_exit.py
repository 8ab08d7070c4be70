"""The method ``early-exit``: stage-wise regression that stops scoring unpromising documents (CSTC §6.2, Fig. 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, MinLen, Predicate
from numpy.typing import NDArray

from bench_core import DataFacts, Decisions, Family, Method, Part, Policy, Problem, Rows, distinct, next_of_stages
from bench_cstc.baselines.ranges import Count, Depth, Evaluation, Positive, PositiveWeight, Prefixes

if TYPE_CHECKING:
    from bench_models.answers import Answer, Scorer
    from bench_models.sums import Additive
    from bench_models.targets import Target

__all__ = ["EarlyExit", "ExitPolicy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class EarlyExit(Method):
    """Early exits by proximity threshold: boosted trees; documents far behind the k-th best leave.

    The trees are those of ``stagewise``. There are m sentinels between them. At the i-th sentinel, a document leaves if
    its score so far is at least ``s · (m − i)/(m − 1)`` below the k-th best of its query (CSTC §6.2: m = 300, k = 5).
    It keeps its score and pays for the trees that it has passed. The family has one policy for every s and every kept
    number of iterations; the sentinels do not depend on that number.

    In the paper the k-th best is that of the document's query (``against = "query"``), which needs rows with query ids
    (``Rows.query``). If rows are decided one by one, ``against = "training"`` takes the median, over the training
    queries with at least k documents, of their k-th best score at that sentinel. This is our approximation. Without
    query ids, the training part counts as one query.

    Attributes:
        s: proximity thresholds s ≥ 0 in units of the target (grades; two classes are −1 and 1).
        n_estimators, max_depth, learning_rate, evaluation, positive_weight: as for ``stagewise``.
        exits: number of sentinels m, at least 1, at most the number of trees.
        k: number of documents shown per query, at least 1.
        against: ``training`` or ``query``, see above.
        removed: rank of a document that left: ``below``: behind all that left later; ``as-scored``: by its last score.
        prefixes: numbers of iterations after which scoring ends; ``geometric``, ``all``, or numbers from 1.
        include_empty_policy: whether the family contains the policy that reads nothing.

    Source: Cambazoglu et al., Early exit optimizations for additive machine learned ranking systems, WSDM 2010.
    """

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    tasks: ClassVar[frozenset[str]] = frozenset({"ranking", "binary"})
    s: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1), Predicate(distinct)] = (0.2, 0.3, 0.5)
    n_estimators: Count = 300
    max_depth: Depth = 4
    learning_rate: Positive = 0.1
    evaluation: Evaluation = "scheme"
    positive_weight: PositiveWeight = 1.0
    exits: Count = 300
    k: Count = 5
    against: Literal["training", "query"] = "training"
    removed: Literal["below", "as-scored"] = "below"
    prefixes: Prefixes = "geometric"
    include_empty_policy: bool = False

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: rows without queries (``query``), or a reason of every method."""
        if self.against == "query" and not data.queries:
            return 'against = "query" needs rows that belong to queries; "training" decides every row on its own'
        return super().inapplicable(data)

    def fit(self, problem: Problem) -> Family:
        """Boost, learn the k-th best scores, calibrate out of fold. The best on validation comes first.

        Raises:
            ValueError: targets are not numbers.
        """
        from bench_models.answers import best_first, constant, several_outputs
        from bench_models.columns import Boosting, price_of_evaluation
        from bench_models.sums import boost_outputs, kept_prefixes

        from bench_cstc.baselines.exits import sentinels

        outputs = several_outputs(problem, self.positive_weight)
        if not outputs.targets:
            return Family([constant(problem)], diagnostics={"trees": 0})
        price = price_of_evaluation(problem, self.evaluation)
        how = Boosting(self.n_estimators, self.max_depth, self.learning_rate, price)
        sums = boost_outputs(problem, outputs.targets, how)[0]
        cuts = kept_prefixes(self.prefixes, sums.count)
        rules = self._rules(problem, sums, cuts)
        policies: list[Policy] = [constant(problem)] if self.include_empty_policy or not sums.count else []

        def learn(part: Problem, target: Target) -> Scorer:
            (boosting,) = boost_outputs(part, [target], how)
            if not boosting.count:
                return lambda rows: np.zeros((len(rules), len(rows)))
            fold_rules = self._rules(part, boosting, cuts)

            def scores(rows: Part) -> Floats:
                running = boosting.partial(rows.X, [*range(boosting.count + 1)])
                return np.array([rule.scores(running[:, rule.stops], rows.query)[0] for rule in fold_rules])

            return scores

        answers = outputs.answers(problem, len(rules), learn)
        for (s, cut), rule, answer in zip(product(self.s, cuts), rules, answers, strict=True):
            policies.append(
                ExitPolicy(
                    sums,
                    rule,
                    answer,
                    self.removed == "below",
                    label=f"s={s:g}, trees={cut}",
                    details={"s": s, "trees": cut, "sentinels": len(rule.stops) - 1},
                    decision_scope="query" if self.against == "query" else "row",
                )
            )
        diagnostics = {"trees": sums.count, "sentinels": len(sentinels(sums.count, self.exits))}
        return Family(best_first(problem, policies), diagnostics=diagnostics)

    def _rules(self, problem: Problem, sums: Additive, cuts: Sequence[int]) -> list[Rule]:
        """A rule for every s and every number of trees; a boosting with fewer trees stops after all of them."""
        from bench_cstc.baselines.exits import sentinels, thresholds

        at = sentinels(sums.count, self.exits)
        levels = self._levels(problem, sums, at)
        rules = []
        for s, cut in product(self.s, np.minimum(cuts, sums.count)):
            stops = np.append(at[at < cut], cut)
            rules.append(Rule(stops, levels[: len(stops)], thresholds(s, len(at))[: len(stops)], self.k, self.against))
        return rules

    def _levels(self, problem: Problem, sums: Additive, at: Ints) -> Floats:
        """Median over training queries of the k-th best score at each sentinel; −inf when no query has k rows."""
        from bench_cstc.baselines.exits import kth_best

        if self.against == "query":
            return np.full(len(at), -np.inf)
        partial = sums.partial(problem.train.X, at)
        query = problem.train.query
        ids = np.zeros(len(partial), dtype=np.int64) if query is None else query
        best = []
        for query_id in np.unique(ids):
            rows = partial[ids == query_id]
            if len(rows) >= self.k:
                best.append(kth_best(rows, self.k))
        return np.median(np.array(best), axis=0) if best else np.full(len(at), -np.inf)


@dataclass(frozen=True, eq=False)
class Rule:
    """The rule of exits.

    Attributes:
        stops: int64 (sentinels,): numbers of trees; at the last one all rows leave.
        levels, limits: float64 (sentinels,): reference scores and thresholds.
        k, against: as in the method.
    """

    stops: Ints
    levels: Floats
    limits: Floats
    k: int
    against: str

    def scores(self, partial: Floats, query: NDArray[Any] | None) -> tuple[Floats, Ints]:
        """Each row's score when it leaves, and the number of the sentinel at which it leaves, from 0; (rows,) each.

        Args:
            partial: float64 (rows, sentinels): scores at the stops.
            query: (rows,): query ids, or None.

        Raises:
            ValueError: the rule needs queries, and the rows have no query ids.
        """
        from bench_cstc.baselines.exits import exit_by_level, exit_by_query

        if self.against == "training":
            leave = exit_by_level(partial, self.levels, self.limits)
        elif query is not None:
            leave = exit_by_query(partial, query, self.k, self.limits)
        else:
            raise ValueError(
                'against = "query" needs rows with query ids, and these have none;  '
                'against = "training" decides every row on its own'
            )
        return partial[np.arange(len(partial)), leave], leave


@dataclass(frozen=True, eq=False)
class ExitPolicy(Policy):
    """The policy of one threshold and one number of iterations.

    Attributes:
        sums: the boosting.
        rule: the rule of exits.
        answer: converts scores to decisions.
        below: whether rows that leave early are ranked behind those that leave later.
        decision_scope: the rows that an answer may depend on; see `Policy`.
    """

    sums: Additive
    rule: Rule
    answer: Answer
    below: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    decision_scope: Literal["row", "query"] = "row"

    def decide(self, rows: Rows) -> Decisions:
        """Score every row until it leaves."""
        stops = self.rule.stops
        score, leave = self.rule.scores(self.sums.partial(rows.X, stops), rows.query)
        run = stops[leave]
        rank = score
        if self.below:
            # More than the difference of any two scores.
            step = 1.0 + 2.0 * float(np.abs(self.sums.trees.leaf_values).max(axis=1, initial=0.0).sum())
            rank = score - step * (len(stops) - 1 - leave)
        return self.answer(
            [score], self.sums.used[run], leave + 1, run.astype(np.float64), self.sums.evaluation[run], rank
        )

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features that the trees up to each row's next sentinel split on."""
        stops = self.rule.stops
        _, leave = self.rule.scores(self.sums.partial(rows.X, stops), rows.query)
        return next_of_stages(self.sums.used[stops], leave, known)
