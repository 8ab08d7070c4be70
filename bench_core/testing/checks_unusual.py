"""Checks on unusual problems: a method must work, or refuse the problem with a message that says why."""

from __future__ import annotations

import numpy as np

from bench_core.contract.errors import AuditError, BenchError, ContractError
from bench_core.contract.facts import Task
from bench_core.contract.method import Method
from bench_core.testing.checks_decide import bill_is_sound
from bench_core.testing.fitting import decide, fitted, policy_audit, some_policies


def _works(method: Method, task: Task, variant: str) -> None:
    case, family = fitted(method, task, variant)
    policies = some_policies(family)
    for name, policy in policies:
        where = f"{variant}: {name}"
        policy_audit(policy, case.rows, case.problem, rounds=2, name=where)
        row = case.rows.take(np.array([0]))
        decide(policy, row, case.problem, f"{where}, one row")
    bill_is_sound(case.problem, case.rows, [(f"{variant}: {name}", policy) for name, policy in policies])


def _works_or_is_refused(method: Method, task: Task, variant: str, words: tuple[str, ...], hint: str) -> None:
    try:
        _works(method, task, variant)
    except (BenchError, ValueError) as error:
        broken = isinstance(error, ContractError | AuditError)
        if not broken and any(word in str(error).casefold() for word in words):
            return
        if broken:
            raise
        raise ContractError(
            f"{variant}: the method may refuse it, but its message must {hint}; it was {type(error).__name__}: {error}"
        ) from error


def check_zero_prices(method: Method, task: Task) -> None:
    """Works if every feature is free."""
    _works(method, task, "zero-prices")


def check_constant_features(method: Method, task: Task) -> None:
    """Works if some features are constant."""
    _works(method, task, "constant-features")


def check_one_hot(method: Method, task: Task) -> None:
    """Works if a feature has several columns, and pays for it once."""
    _works(method, task, "one-hot")


def check_groups(method: Method, task: Task) -> None:
    """Works with acquisition groups."""
    _works(method, task, "groups")


def check_one_feature(method: Method, task: Task) -> None:
    """Works with a single feature."""
    _works(method, task, "one-feature")


def check_tiny(method: Method, task: Task) -> None:
    """Works with six training rows."""
    _works(method, task, "tiny")


def check_item_sizes(method: Method, task: Task) -> None:
    """Works with prices that grow with item size, or says that it cannot."""
    _works_or_is_refused(method, task, "item-sizes", ("size",), "say that prices depend on item size")


def check_missing_values(method: Method, task: Task) -> None:
    """Works with missing values (NaN), or names a feature that has them; never returns NaN."""
    names = ("large", "counts")
    _works_or_is_refused(method, task, "missing-values", names, "name a feature with missing values")


def check_no_threshold(method: Method, task: Task) -> None:
    """Works without a confidence threshold, or says that it needs one (problem.need_threshold)."""
    _works_or_is_refused(method, task, "no-threshold", ("threshold",), "mention the threshold")


def check_missing_class(method: Method, task: Task) -> None:
    """Works if a class has no training row, or (with two classes only) refuses with a message about it."""
    if task == "binary":
        _works_or_is_refused(method, task, "missing-class", ("class",), "mention the missing class")
    else:
        _works(method, task, "missing-class")
