"""Checks of `Policy.decide`: it is honest, treats rows independently, and does not change the policy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.facts import Task
from bench_core.contract.method import Method, Policy, Problem, can_be_asked
from bench_core.protocol.audit import copied, restored
from bench_core.protocol.replay import replay
from bench_core.testing.fitting import (
    decide,
    fit,
    fitted,
    fresh_rows,
    name_of,
    paired,
    policy_audit,
    same_decisions,
    some_policies,
)
from bench_core.testing.problems import make_case


def check_shapes(method: Method, task: Task) -> None:
    """Every policy gives decisions of the right shapes, with finite numbers and proper probabilities."""
    case, family = fitted(method, task)
    for i, policy in enumerate(family.policies):
        decide(policy, case.rows, case.problem, name_of(family, i))
    if family.reference is not None:
        decide(family.reference, case.rows, case.problem, "the reference policy")


def check_audit(method: Method, task: Task) -> None:
    """No policy reads what it has not acquired: five rounds of substitution on every policy."""
    case, family = fitted(method, task)
    for i, policy in enumerate(family.policies):
        policy_audit(policy, case.rows, case.problem, name=name_of(family, i))
    if family.reference is not None:
        policy_audit(family.reference, case.rows, case.problem, name="the reference policy")


def check_bill(method: Method, task: Task) -> None:
    """The bill of every policy is finite, and within the price of all features and the policy's budget."""
    case, family = fitted(method, task)
    bill_is_sound(case.problem, case.rows, [(name_of(family, i), p) for i, p in enumerate(family.policies)])


def bill_is_sound(problem: Problem, rows: Rows, policies: list[tuple[str, Policy]]) -> None:
    """Charge policies as the core does, and check the bills."""
    full = problem.costs.total(len(rows), rows.sizes)
    for name, policy in policies:
        decisions = decide(policy, rows, problem, name)
        bill = problem.costs.bill(decisions.acquired, rows.sizes)
        if not np.isfinite(bill).all() or (bill < 0).any() or (bill > full * (1 + 1e-12)).any():
            raise ContractError(f"{name}: the bill is not within 0 and the price of all features")
        if policy.budget is not None:
            over = int((bill > policy.budget * (1 + 1e-9)).sum())
            if over:
                raise ContractError(
                    f"{name} promises a budget of {policy.budget:g} and exceeds it on {over} of {len(bill)} "
                    f"rows (dearest: {bill.max():g})"
                )


def check_one_row(method: Method, task: Task) -> None:
    """A batch of one row works, and gets the same answer as in a larger batch unless the policy decides by query."""
    case, family = fitted(method, task)
    for name, policy in some_policies(family):
        together = decide(policy, case.rows, case.problem, name)
        for row in (0, len(case.rows) - 1):
            alone = decide(policy, case.rows.take(np.array([row])), case.problem, f"{name}, one row")
            if policy.decision_scope == "row":
                same_decisions(
                    together.take(np.array([row])),
                    alone,
                    f"{name}, row {row} decided alone",
                    case.problem,
                    case.rows.take(np.array([row])),
                )


def check_no_rows(method: Method, task: Task) -> None:
    """A batch without rows gives empty decisions of the right shapes."""
    case, family = fitted(method, task)
    for name, policy in some_policies(family):
        decide(policy, case.rows.take(np.arange(0)), case.problem, f"{name}, no rows")


def check_row_order(method: Method, task: Task) -> None:
    """The order of the rows does not change a row's answer."""
    case, family = fitted(method, task)
    order = np.random.default_rng(5).permutation(len(case.rows))
    for name, policy in some_policies(family):
        straight = decide(policy, case.rows, case.problem, name).take(order)
        shuffled = decide(policy, case.rows.take(order), case.problem, name)
        same_decisions(straight, shuffled, f"{name}, rows in another order", case.problem, case.rows.take(order))


def check_batch_size(method: Method, task: Task) -> None:
    """The other rows of a batch do not change a row's answer."""
    case, family = fitted(method, task)
    rows = len(case.rows)
    for name, policy in some_policies(family):
        together = decide(policy, case.rows, case.problem, name)
        if policy.decision_scope == "query":
            for query in np.unique(_queries(case.rows)):
                batch = np.flatnonzero(_queries(case.rows) == query)
                part = decide(policy, case.rows.take(batch), case.problem, name)
                same_decisions(
                    together.take(batch),
                    part,
                    f"{name}, query {query} decided alone",
                    case.problem,
                    case.rows.take(batch),
                )
            continue
        for size in (7, rows // 2):
            for start in range(0, rows, size):
                batch = np.arange(start, min(start + size, rows))
                part = decide(policy, case.rows.take(batch), case.problem, name)
                same_decisions(
                    together.take(batch),
                    part,
                    f"{name}, rows in batches of {size}",
                    case.problem,
                    case.rows.take(batch),
                )


def _queries(rows: Rows) -> NDArray[np.int64]:
    """Query ids; if there are none, all rows are one query."""
    return np.zeros(len(rows), dtype=np.int64) if rows.query is None else rows.query


def check_no_trace(method: Method, task: Task) -> None:
    """Deciding leaves no trace: an answer depends neither on earlier decisions nor on being asked again.

    A policy that remembers its answers would pass any audit. So paid values are changed here as well, and the expected
    answers come from a policy that has never seen the rows.
    """
    case = make_case(task)
    asked, unasked = fit(method, case.problem), fit(method, make_case(task).problem)
    rows = case.rows
    for name, old, new in paired(asked, unasked, "fitted twice"):
        first = decide(old, rows, case.problem, name)
        unpaid_changed = _changed(rows, first, case.problem, paid=False)
        paid_changed = _changed(rows, first, case.problem, paid=True)
        second = decide(old, paid_changed, case.problem, name)
        same_decisions(
            first, decide(old, rows, case.problem, name), f"{name}, asked again after other rows", case.problem, rows
        )
        # The fresh policy gets both changed tables in its first batch.
        both = Rows(
            np.concatenate([paid_changed.X, unpaid_changed.X]),
            None if rows.sizes is None else np.concatenate([rows.sizes, rows.sizes]),
            # New query ids in the second half, so that changed rows share no query with unchanged ones.
            np.concatenate([_queries(rows), _queries(rows) + _queries(rows).max(initial=0) + 1]),
        )
        fresh = decide(new, both, case.problem, name)
        half = np.arange(len(rows))
        same_decisions(
            fresh.take(half),
            second,
            f"{name} remembers earlier rows: paid values changed, a fresh policy differs",
            case.problem,
            rows,
        )
        same_decisions(
            first,
            fresh.take(half + len(rows)),
            f"{name} recognises the audit: unpaid values changed, a fresh policy differs",
            case.problem,
            rows,
        )


def _changed(rows: Rows, decisions: Decisions, problem: Problem, *, paid: bool) -> Rows:
    """The rows with every unpaid value, or half of the paid values, replaced by those of another row."""
    rng = np.random.default_rng(11)
    X = np.array(rows.X)
    for feature in range(problem.n_features):
        columns = problem.columns_of(feature)
        chosen = decisions.acquired[:, feature]
        chosen = chosen & (rng.random(len(rows)) < 0.5) if paid else ~chosen
        donors = rng.permutation(len(rows))
        for column in columns:
            X[chosen, column] = rows.X[donors[chosen], column]
    return rows.having(X)


def check_pickling(method: Method, task: Task) -> None:
    """A policy can be pickled, and its copy, which answers the audit, gives the same answers, bit for bit."""
    case, family = fitted(method, task)
    named = some_policies(family)
    copies = restored(copied([policy for _, policy in named]))
    for (name, policy), copy in zip(named, copies, strict=True):
        asked, again = (decide(each, case.rows, case.problem, name) for each in (policy, copy))
        same_decisions(asked, again, f"{name}, pickled and restored", case.problem, case.rows, exact=True)


def check_rows_unchanged(method: Method, task: Task) -> None:
    """Decide does not change the rows."""
    case, family = fitted(method, task)
    for name, policy in some_policies(family):
        rows = fresh_rows(case.rows)
        policy.decide(rows)
        if not np.array_equal(rows.X, case.rows.X, equal_nan=True):
            raise ContractError(f"{name}: decide changed rows.X in place; work on a copy")


def check_next_features(method: Method, task: Task) -> None:
    """A policy that is asked step by step and sees only requested features gives the answers and bills of decide."""
    case, family = fitted(method, task)
    for name, policy in some_policies(family):
        if can_be_asked(policy):
            asked_as_decided(policy, case.rows, case.problem, name)


def asked_as_decided(policy: Policy, rows: Rows, problem: Problem, name: str) -> None:
    """Replay a policy with several placeholders.

    Raises:
        ContractError: answers or bills differ from those of `Policy.decide`.
    """
    decisions = decide(policy, rows, problem, name)
    for placeholder in (0.0, 1e3, -7.25):
        try:
            asked = replay(policy, rows, problem.feature_of_column, placeholder=placeholder)
        except ContractError as error:
            raise ContractError(f"{name}, asked step by step: {error}") from None
        subject = f"{name}, asked step by step with {placeholder:g} in place of unknown values"
        same_decisions(decisions, asked.decisions, subject, problem, rows, exact=True)
        more = (asked.known != decisions.acquired).any(axis=1)
        if more.any():
            row = int(np.flatnonzero(more)[0])
            raise ContractError(
                f"{subject}: {int(more.sum())} of {len(more)} rows acquired other features than decide says, row {row} "
                f"first: {np.flatnonzero(asked.known[row]).tolist()} for "
                f"{np.flatnonzero(decisions.acquired[row]).tolist()}"
            )
