"""Cut a policy at a cap, the greatest cost of a single row. (A budget, in contrast, limits the mean over rows.)

The policy is asked step by step, as in `replay`. If the features of a step do not all fit under the cap, none of them
is bought, and the purchases for this row end. A policy with `Policy.decide_known` then answers from the known features.
For any other policy, unknown features are filled in from background rows, and its answer is the mean over them. That
is the expected answer given the known features, with the unknown ones independent of them (the marginal expectation of
Štrumbelj and Kononenko, Explaining prediction models and individual predictions with feature contributions, 2014, §3).
Rows that stay under the cap are decided as without it.

A trial with caps (`cut_at_caps`) asks its policies before they decide on complete rows, lower caps first. So a process
that answers at a cap has seen only values of these rows that a policy of its family bought under this cap or a lower
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.decisions import Decisions, Outcome, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Policy, Problem, answers_early, can_be_asked
from bench_core.protocol.prepare import Shown
from bench_core.protocol.replay import checked_request

__all__ = ["Capped", "Cuts", "at_caps", "background_of", "cut_at_caps"]

_FILLINGS = 32
_MOST_VALUES = 4_000_000
"""The most values in one call when a policy answers for several background rows at once."""
_SLACK = 1e-9
"""A bill may exceed the cap by this share of it, since bills are sums of rounded prices."""
_MOST_CUT = 32
"""The most policies of a family that are cut; a larger family is cut at this many, evenly spaced."""

Cuts = Mapping[tuple[int, str], Mapping[int, NDArray[np.int64]]]
"""(policy, part) → cap → int64 (rows,): the class that a cut row gets; −1 for a row that stays under the cap."""


def background_of(X: NDArray[np.float64], feature_of_column: NDArray[np.int64], seed: int = 0) -> NDArray[np.float64]:
    """Return background rows. Features are drawn separately from the training rows, so that no complete row is stored.

    Args:
        X: float64 (rows, columns), encoded.
        feature_of_column: int64 (columns,).
        seed: seed of the random choice of rows.

    Returns:
        float64 (at most 32, columns).
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0xBAC6]))
    count = min(_FILLINGS, len(X))
    out = np.empty((count, X.shape[1]))
    for feature in np.unique(feature_of_column):
        columns = np.flatnonzero(feature_of_column == feature)
        out[:, columns] = X[np.ix_(rng.permutation(len(X))[:count], columns)]
    return out


@dataclass(frozen=True, eq=False)
class Capped(Policy):
    """A policy whose rows cost at most a cap. Prices of base models do not count.

    Attributes:
        policy: the policy; it can be asked step by step and decides row by row.
        cap: the most that the features of a row may cost.
        costs: the prices.
        background: float64 (fillings, columns), from `background_of` on the training part.
        feature_of_column: int64 (columns,).

    Raises:
        ContractError: the policy cannot be asked step by step, or decides by query.
    """

    policy: Policy
    cap: float
    costs: Costs
    background: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _can_be_cut(self.policy):
            kind = type(self.policy).__name__
            raise ContractError(
                f"a {kind} cannot be cut at a cap: it cannot be asked step by step, or decides by query"
            )

    def decide(self, rows: Rows) -> Decisions:
        """Decide as the policy does; cut the rows that would cost more than the cap."""
        decided = self.policy.decide(rows)
        over = np.flatnonzero(~self._fits(np.asarray(decided.acquired, dtype=bool), rows.sizes))
        if not len(over):
            return decided
        cut = self.answer(rows.take(over), self.buy(rows.take(over))[0])
        columns = {name: np.array(value) for name, value in vars(decided).items() if value is not None}
        for name, column in columns.items():
            column[over] = getattr(cut, name)
        return Decisions(**columns)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the policy's next step where all of it fits under the cap, bool (rows, features)."""
        return self._step(rows, known)[0]

    def _step(self, rows: Rows, known: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the next purchases, bool (rows, features), and which rows cannot afford theirs, bool (rows,)."""
        wanted = np.array(checked_request(self.policy.next_features(rows, known.copy()), known))
        over = ~self._fits(known | wanted, rows.sizes)
        wanted[over] = False
        return wanted, over

    def _fits(self, acquired: NDArray[np.bool_], sizes: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        return np.asarray(self.costs.bill(acquired, sizes) <= self.cap * (1 + _SLACK))

    def buy(self, rows: Rows, known: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Buy features step by step until no row requests more that fits under the cap.

        The policy sees the values of known features only.

        Args:
            rows: the rows.
            known: bool (rows, features): features bought before, under a lower cap.

        Returns:
            The known features, bool (rows, features), and the rows that request more, bool (rows,).
        """
        known = np.zeros((len(rows), self.costs.n_features), dtype=bool) if known is None else known.copy()
        asking = np.arange(len(rows))
        cut = np.zeros(len(rows), dtype=bool)
        while len(asking):
            shown = np.where(known[np.ix_(asking, self.feature_of_column)], rows.X[asking], 0.0)
            wanted, cut[asking] = self._step(rows.take(asking).having(shown), known[asking])
            known[asking] |= wanted
            asking = asking[wanted.any(axis=1)]
        return known, cut

    def answer(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Answer rows from their known features, which are the acquired ones. The policy sees no other value.

        Raises:
            ContractError: the answer of `Policy.decide_known` is no `Decisions`, or has other acquired features.
        """
        shown = known[:, self.feature_of_column]
        if answers_early(self.policy):
            early = Decisions.exact(self.policy.decide_known(rows.having(np.where(shown, rows.X, 0.0)), known.copy()))
            if not np.array_equal(early.acquired, known):
                raise ContractError("decide_known must give the known features as acquired, no more and no fewer")
            return early
        total: dict[str, Any] = {}
        stage = None
        at_once = max(1, _MOST_VALUES // max(rows.X.size, 1))
        for start in range(0, len(self.background), at_once):
            fillings = self.background[start : start + at_once]
            filled = np.concatenate([np.where(shown, rows.X, filling) for filling in fillings])
            together = self.policy.decide(rows.take(np.tile(np.arange(len(rows)), len(fillings))).having(filled))
            for part in np.split(np.arange(len(filled)), len(fillings)):
                answer = together.take(part)
                # Added one by one: the rounding of a mean over an axis can depend on the number of rows.
                for name in ("probabilities", "score", "evaluations", "evaluation_cost"):
                    value = getattr(answer, name)
                    total[name] = None if value is None else total.get(name, 0.0) + value / len(self.background)
                if answer.stage is not None:  # the earliest stage that could have been reached
                    stage = answer.stage if stage is None else np.minimum(stage, answer.stage)
        return Decisions(known, stage=stage, **total)


def _can_be_cut(policy: Policy) -> bool:
    return can_be_asked(policy) and policy.decision_scope == "row"


def cut_at_caps(policies: Sequence[Policy], caps: Sequence[int], problem: Problem, shown: Mapping[str, Shown]) -> Cuts:
    """Under each cap, ask every policy that can be asked row by row, and answer the rows that it cuts.

    Args:
        policies: the policies of a family.
        caps: ascending.
        problem: has the prices, and the training part from which unknown values are filled in.
        shown: the parts as policies see them.
    """
    asked = [number for number, policy in enumerate(policies) if caps and _can_be_cut(policy)]
    if len(asked) > _MOST_CUT:
        asked = [asked[place] for place in np.linspace(0, len(asked) - 1, _MOST_CUT).round().astype(int)]
    columns = problem.feature_of_column
    background = background_of(np.where(np.isnan(problem.train.X), 0.0, problem.train.X), columns, problem.seed)
    known: dict[tuple[int, str], NDArray[np.bool_] | None] = {}
    cuts: dict[tuple[int, str], dict[int, NDArray[np.int64]]] = {}
    for cap in caps:
        for number in asked:
            capped = Capped(policies[number], cap, problem.costs, background, columns)
            for part, seen in shown.items():
                bought, cut = capped.buy(seen.rows, known.get((number, part)))
                known[number, part] = bought
                labels = np.full(len(cut), -1, dtype=np.int64)
                over = np.flatnonzero(cut)
                if len(over):
                    answer = capped.answer(seen.rows.take(over), bought[over])
                    answer = Decisions.exact(answer).checked(len(over), problem.n_features, problem.n_classes)
                    if answer.probabilities is not None:
                        labels[over] = answer.probabilities.argmax(axis=1)
                cuts.setdefault((number, part), {})[cap] = labels[seen.place]
    return cuts


def at_caps(outcome: Outcome, caps: Sequence[int], cuts: Mapping[int, NDArray[np.int64]]) -> Outcome:
    """Add the label of every row at each cap: the cut answer if the row costs more than the cap, else its own answer.

    A cap is left out if rows are over it and the policy was not cut.

    Raises:
        ContractError: a policy that was cut buys more on complete rows than when it was asked step by step.
    """
    labels = {}
    for cap in caps:
        if (cut := cuts.get(cap)) is not None:
            if ((cut < 0) & (outcome.bill > cap * (1 + _SLACK))).any():
                raise ContractError(f"a row that costs more than the cap of {cap} on complete rows was not cut")
            labels[cap] = np.where(cut >= 0, cut, outcome.label)
        elif (outcome.bill <= cap * (1 + _SLACK)).all():
            labels[cap] = outcome.label
    return replace(outcome, at_caps=labels)
