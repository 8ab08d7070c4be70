"""Cut a policy at a cap: the most that a single row may cost, where a budget limits the mean over rows.

A row is asked step by step, as in `replay`. A step whose features do not all fit under the cap is not bought, and the row
ends. What it then answers is the policy's mean answer over background rows that fill in the features it did not buy: the
expectation of the answer, given what is known and features that are independent of it (the marginal expectation of
Štrumbelj and Kononenko, Explaining prediction models and individual predictions with feature contributions, 2014, §3).
Rows that stay under the cap are decided as without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Policy, can_be_asked

_FILLINGS = 32
_SLACK = 1e-9
"""A bill fits under a cap that it exceeds by this share of it: bills are sums of rounded prices."""


def background_of(X: NDArray[np.float64], feature_of_column: NDArray[np.int64], seed: int = 0) -> NDArray[np.float64]:
    """Return background rows, each feature's values from different training rows, so that no training row is stored.

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
    """A policy of which no row costs more than a cap. Prices of base models do not count towards it.

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
        if not can_be_asked(self.policy) or self.policy.decision_scope != "row":
            kind = type(self.policy).__name__
            raise ContractError(f"a {kind} cannot be cut at a cap: it is not asked step by step, row by row")

    def decide(self, rows: Rows) -> Decisions:
        """Decide as the policy does; cut the rows that would cost more than the cap."""
        decided = self.policy.decide(rows)
        over = np.flatnonzero(~self._fits(np.asarray(decided.acquired, dtype=bool), rows.sizes))
        if not len(over):
            return decided
        known = self._bought(rows.take(over))
        cut = self._answered(rows.take(over), known)
        columns: dict[str, Any] = {}
        for name, value in vars(decided).items():
            columns[name] = None if value is None else np.array(value)
            if value is not None:
                columns[name][over] = getattr(cut, name)
        return Decisions(**columns)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the policy's next step where all of it fits under the cap, bool (rows, features)."""
        wanted = np.array(self.policy.next_features(rows, known))
        wanted[~self._fits(known | wanted, rows.sizes)] = False
        return wanted

    def _fits(self, acquired: NDArray[np.bool_], sizes: NDArray[np.float64] | None) -> NDArray[np.bool_]:
        return np.asarray(self.costs.bill(acquired, sizes) <= self.cap * (1 + _SLACK))

    def _bought(self, rows: Rows) -> NDArray[np.bool_]:
        known = np.zeros((len(rows), self.costs.n_features), dtype=bool)
        asking = np.arange(len(rows))
        while len(asking):
            shown = np.where(known[np.ix_(asking, self.feature_of_column)], rows.X[asking], 0.0)
            wanted = self.next_features(rows.take(asking).having(shown), known[asking])
            known[asking] |= wanted
            asking = asking[wanted.any(axis=1)]
        return known

    def _answered(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Return the mean of the policy's answers over the background rows; what is acquired is what is known."""
        shown = known[:, self.feature_of_column]
        total: dict[str, Any] = {}
        stage = None
        for filling in self.background:  # one after the other: a mean over an axis may be rounded by the number of rows
            answer = self.policy.decide(rows.having(np.where(shown, rows.X, filling)))
            for name in ("probabilities", "score", "evaluations", "evaluation_cost"):
                value = getattr(answer, name)
                total[name] = None if value is None else total.get(name, 0.0) + value / len(self.background)
            if answer.stage is not None:  # the earliest stage that could have been reached
                stage = answer.stage if stage is None else np.minimum(stage, answer.stage)
        return Decisions(known, stage=stage, **total)
