"""Functions that checks share: fit a method on a case, decide under the contract, compare decisions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.facts import Task
from bench_core.contract.method import Family, Method, Policy, Problem, as_family
from bench_core.contract.readonly import HOW_TO_WRITE, frozen, is_write_refusal
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor
from bench_core.testing.problems import Case, make_case

__all__ = [
    "changed_rows",
    "decide",
    "fit",
    "fitted",
    "fresh_rows",
    "name_of",
    "paired",
    "policy_audit",
    "same_decisions",
    "some_policies",
]

MOST_POLICIES = 12
"""Checks that decide many times use at most this many policies of a family, evenly spaced."""

_KEPT = 16
_FITS: OrderedDict[tuple[type, str, str, str], tuple[Case, Family]] = OrderedDict()


def fit(method: Method, problem: Problem) -> Family:
    """Fit, and check that the result is a family of policies."""
    try:
        return as_family(method.fit(problem), type(method).__name__)
    except (TypeError, ValueError) as error:
        raise _explained(error, "fit") from error


def _explained(error: Exception, what: str) -> Exception:
    """Return the error; if it is a refusal to write to a read-only array, return one that says how to avoid it."""
    if is_write_refusal(error):
        return ContractError(f"{what} writes in place ({error}): {HOW_TO_WRITE}")
    return error


def agreement_of(problem: Problem) -> Agreement:
    """The comparison of decisions that a trial on this problem uses."""
    return Agreement(
        threshold=problem.threshold,
        ranked=problem.task == "ranking",
        scale=0.0 if problem.n_classes else float(np.std(problem.train.y)),
    )


def fitted(method: Method, task: Task, variant: str = "plain") -> tuple[Case, Family]:
    """A case and the method fitted on it. Cached: later calls with equal arguments return the same objects."""
    key = (type(method), repr(method), task, variant)
    if key in _FITS:
        _FITS.move_to_end(key)
        return _FITS[key]
    case = make_case(task, variant)
    pair = case, fit(method, case.problem)
    _FITS[key] = pair
    while len(_FITS) > _KEPT:
        _FITS.popitem(last=False)
    return pair


def some_policies(family: Family) -> list[tuple[str, Policy]]:
    """At most `MOST_POLICIES` policies with their names for messages, including the first and the last."""
    count = len(family.policies)
    chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_POLICIES)).round().astype(int))
    named = [(name_of(family, int(i)), family.policies[i]) for i in chosen]
    return named if family.reference is None else [*named, ("the reference policy", family.reference)]


def name_of(family: Family, index: int) -> str:
    """A policy's name in messages."""
    label = family.policies[index].label
    return f"policy {index}" + (f" ({label})" if label else "")


def fresh_rows(rows: Rows) -> Rows:
    """A copy of the rows, so that changes by a policy affect nothing else."""
    return rows.take(np.arange(len(rows)))


def decide(policy: Policy, rows: Rows, problem: Problem, name: str = "the policy") -> Decisions:
    """Decide on a read-only copy of the rows, then check and copy the decisions."""
    shown = Rows(
        frozen(rows.X),
        None if rows.sizes is None else frozen(rows.sizes),
        None if rows.query is None else frozen(rows.query),
    )
    try:
        decisions = policy.decide(shown)
    except (TypeError, ValueError) as error:
        raise _explained(error, f"{name}: decide") from error
    try:
        return Decisions.received(decisions, np.arange(len(rows)), problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{name}: {error}") from None


def same_decisions(a: Decisions, b: Decisions, what: str, problem: Problem, rows: Rows, *, exact: bool = False) -> None:
    """Demand the same decisions, row by row.

    Args:
        a, b: decisions on the same rows.
        what: the beginning of the error message.
        problem: the problem that the policy was fitted on; it determines the comparison
            (`bench_core.protocol.agreement`).
        rows: the rows, for their queries.
        exact: whether to compare bit for bit; otherwise floating-point numbers may differ by rounding.

    Raises:
        ContractError: they differ; the message has the number of rows that do, and the first one.
    """
    if len(a) != len(b):
        raise ContractError(f"{what}: {len(a)} decisions became {len(b)}")
    changed = agreement_of(problem).changed(a, b, rows.query)
    if exact:
        for name in ("score", "probabilities", "evaluation_cost"):
            x, y = getattr(a, name), getattr(b, name)
            if x is not None and y is not None:
                changed |= (x != y).any(axis=1) if x.ndim == 2 else x != y
    if changed.any():
        first = int(np.flatnonzero(changed)[0])
        fields = [name for name in _FIELDS if _differs(a, b, name, first)]
        raise ContractError(
            f"{what}: {int(changed.sum())} of {len(a)} rows were decided differently, row {first} first "
            f"({', '.join(fields) or 'some field'})"
        )


_FIELDS = ("acquired", "stage", "evaluations", "evaluation_cost", "score", "probabilities")


def _differs(a: Decisions, b: Decisions, name: str, row: int) -> bool:
    x, y = getattr(a, name), getattr(b, name)
    if x is None or y is None:
        return x is not y
    return not np.array_equal(x[row], y[row])


def policy_audit(
    policy: Policy, rows: Rows, problem: Problem, *, rounds: int = 5, seed: int = 0, name: str = "the policy"
) -> Decisions:
    """Audit one policy as the core does in a trial.

    Args:
        policy: the policy.
        rows: the rows to decide on.
        problem: the problem that the policy was fitted on; substitutes are drawn from its training rows.
        rounds: how many substitutions.
        seed: the seed of the audit.
        name: the policy's name in messages.

    Returns:
        The policy's decisions on the rows.

    Raises:
        AuditError: its decisions depend on features that it did not acquire.
        ContractError: its decisions are malformed.
    """
    decisions = decide(policy, rows, problem, name)
    auditor = Auditor.prepare(rows, problem.feature_of_column, problem.train.X, seed, rounds, agreement_of(problem))
    auditor.check(policy, decisions, problem.feature_names, name)
    return decisions


def paired(first: Family, second: Family, what: str) -> Sequence[tuple[str, Policy, Policy]]:
    """Pair the policies of two fits.

    Raises:
        ContractError: their numbers differ.
    """
    if len(first.policies) != len(second.policies):
        raise ContractError(f"{what}: {len(first.policies)} policies became {len(second.policies)}")
    if (first.reference is None) != (second.reference is None):
        raise ContractError(f"{what}: the family has a reference policy in only one of two fits")
    return [(name, a, b) for (name, a), (_, b) in zip(some_policies(first), some_policies(second), strict=True)]


def changed_rows(
    before: Decisions, after: Decisions, agreement: Agreement | None = None, query: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Rows on which two decisions differ. The default agreement has no threshold and no ranking.

    Returns:
        bool (rows,).
    """
    return (agreement or Agreement()).changed(before, after, query)
