"""Replay: a policy is asked step by step, and sees only the values that it requested.

The audit shows with substitutes that unpaid values do not matter. In a replay they are not there at all. `ReplayAudit`
replays every policy of a trial that can be asked, on a few test rows, before this policy is shown substitutes. The
policies of a family are audited from the cheapest to the dearest. So the answering process has a value of these rows
only after the policy, or one that costs no more, has requested or paid for it. If there are enough rows, every policy
is asked about different rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import AuditError, ContractError
from bench_core.contract.method import Policy, can_be_asked
from bench_core.contract.readonly import locked
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.shuffle import shuffled

_ROWS, _ROUNDS = 32, 48
"""How many rows the audit replays, and the most steps. A row that requests more after these steps is not decided."""


@dataclass(frozen=True)
class Replay:
    """The result of asking a policy step by step.

    Attributes:
        decisions: its answers from the values that it was shown.
        bought_in: int64 (rows, features): the step, from 1, in which a feature was requested; 0: never.
        finished: int64: the rows that are decided, ascending; all of them, unless the number of steps is limited.
    """

    decisions: Decisions
    bought_in: NDArray[np.int64]
    finished: NDArray[np.int64]

    @property
    def known(self) -> NDArray[np.bool_]:
        """bool (rows, features): the requested features, which must be paid for."""
        return np.asarray(self.bought_in > 0)


def replay(
    policy: Policy,
    rows: Rows,
    feature_of_column: NDArray[np.int64],
    *,
    placeholder: float = 0.0,
    most_rounds: int | None = None,
) -> Replay:
    """Ask a policy step by step, starting without known features, until it requests no more; then let it decide.

    Args:
        policy: a policy that overrides `Policy.next_features`.
        rows: the rows with all values.
        feature_of_column: int64 (columns,): the feature of each column.
        placeholder: a finite number that replaces every unknown value; it must not matter.
        most_rounds: the most steps. A row that still requests features then is not decided.

    Raises:
        ContractError: the policy cannot be asked, requests a known feature, or uses a feature without requesting it.
    """
    if not can_be_asked(policy):
        raise ContractError(f"a {type(policy).__name__} cannot be asked step by step: it has no next_features")
    bought_in = np.zeros((len(rows), int(feature_of_column.max(initial=-1)) + 1), dtype=np.int64)
    # Rows of one query may wait for each other: they are asked together until none requests a feature.
    together = policy.decision_scope == "query"
    asked_rows = np.arange(len(rows))
    number = 0
    while len(asked_rows) and number != most_rounds:
        number += 1
        known = bought_in[asked_rows] > 0
        shown = _shown(rows.take(asked_rows), known, feature_of_column, placeholder)
        asked = checked_request(policy.next_features(shown, known.copy()), known)
        bought_in[asked_rows] += number * asked
        asks = asked.any(axis=1)
        asked_rows = asked_rows if together and asks.any() else asked_rows[asks]
    finished = np.setdiff1d(np.arange(len(rows)), asked_rows)
    known = bought_in[finished] > 0
    decisions = Decisions.exact(policy.decide(_shown(rows.take(finished), known, feature_of_column, placeholder)))
    if decisions.acquired.shape != known.shape:
        raise ContractError(f"decide gave acquired of shape {decisions.acquired.shape}, not {known.shape}")
    unpaid = decisions.acquired.astype(bool) & ~known
    if unpaid.any():
        row, feature = (int(at) for at in np.argwhere(unpaid)[0])
        raise ContractError(
            f"its last answer uses a feature that it did not ask for: row {int(finished[row])}, feature {feature} first"
        )
    return Replay(decisions, bought_in, finished)


@dataclass(frozen=True)
class ReplayAudit:
    """Replays policies on rows that they have decided on, and compares the answers.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,).
        agreement: compares two answers.
        order: int64 (rows,): the rows in the order in which they are given to policies.
    """

    rows: Rows
    feature_of_column: NDArray[np.int64]
    agreement: Agreement
    order: NDArray[np.int64]

    @classmethod
    def prepare(cls, rows: Rows, feature_of_column: NDArray[np.int64], agreement: Agreement, seed: int) -> ReplayAudit:
        """Shuffle the rows with the audit's seed, which policies must not know."""
        bits = np.random.PCG64(np.random.SeedSequence([seed, 0x4E91A]))
        return cls(rows, feature_of_column, agreement, shuffled(bits, len(rows), None)[0])

    def check(
        self, policy: Policy, number: int, decisions: Decisions, feature_names: tuple[str, ...], name: str
    ) -> None:
        """Ask a policy step by step, and compare with its decisions on complete rows.

        Args:
            policy: a policy that overrides `Policy.next_features`.
            number: the policy's number, from 0; it determines the rows.
            decisions: its decisions on all rows, in their order.
            feature_names: names for the message.
            name: the policy's name in the message.

        Raises:
            AuditError: it requests other features than it acquired, gives another answer, or fails.
        """
        chosen = self._chosen(number, policy.decision_scope == "query")
        rows, first = _renumbered(self.rows.take(chosen)), decisions.take(chosen)
        subject = f"{name}, asked step by step and shown only the features that it asked for,"
        try:
            asked = replay(policy, rows, self.feature_of_column, most_rounds=_ROUNDS)
            done = asked.finished
            again = Decisions.exact(asked.decisions, len(done))
        except ContractError as error:
            raise AuditError(f"{subject} behaves differently than on complete rows: {error}") from None
        except Exception as error:
            raise AuditError(f"{subject} failed: {type(error).__name__}: {error}") from error
        more = asked.known & ~first.acquired
        less = first.acquired[done] & ~asked.known[done]
        for table, what in ((more, "asks for more than it acquires"), (less, "acquires more than it asks for")):
            if table.any():
                feature = int(table.any(axis=0).argmax())
                count = int(table.any(axis=1).sum())
                raise AuditError(
                    f"{subject} {what} on complete rows: feature {feature_names[feature]!r} first "
                    f"({count} of {len(rows)} rows)"
                )
        changed = self.agreement.changed(first.take(done), again, None if rows.query is None else rows.query[done])
        if changed.any():
            raise AuditError(
                f"{subject} answers differently than on complete rows, on {int(changed.sum())} of {len(rows)} rows: it "
                "uses features that it does not ask for"
            )

    def _chosen(self, number: int, whole_queries: bool) -> NDArray[np.int64]:
        """The rows for a policy, int64: the next few in the order, or queries with about as many rows."""
        order = np.roll(self.order, -number * _ROWS)
        if not whole_queries:
            return order[:_ROWS]
        if self.rows.query is None:
            return np.arange(len(order))
        ids, first, sizes = np.unique(self.rows.query[order], return_index=True, return_counts=True)
        in_order = np.argsort(first)
        enough = int(np.searchsorted(np.cumsum(sizes[in_order]), _ROWS)) + 1
        return np.flatnonzero(np.isin(self.rows.query, ids[in_order[:enough]]))


def _renumbered(rows: Rows) -> Rows:
    """The rows with query ids from 0."""
    if rows.query is None:
        return rows
    return Rows(rows.X, rows.sizes, np.unique(rows.query, return_inverse=True)[1].reshape(-1).astype(np.int64))


def _shown(rows: Rows, known: NDArray[np.bool_], feature_of_column: NDArray[np.int64], placeholder: float) -> Rows:
    return rows.having(locked(np.where(known[:, feature_of_column], rows.X, placeholder)))


def checked_request(asked: Any, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the requested features as an array, bool (rows, features).

    Args:
        asked: the return value of ``next_features``.
        known: bool (rows, features): the features that were known before.

    Raises:
        ContractError: it has another type or shape, or requests a known feature.
    """
    table = np.asarray(asked)
    if table.dtype != np.bool_ or table.shape != known.shape:
        raise ContractError(f"next_features must give bool {known.shape}, not {table.dtype} {table.shape}")
    again = table & known
    if again.any():
        row, feature = (int(at) for at in np.argwhere(again)[0])
        raise ContractError(f"next_features asks for a feature that is known: row {row}, feature {feature}")
    return table
