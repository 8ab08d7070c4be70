"""Checks of `Method.fit`: it is deterministic, does not use global state, and does not change the problem."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from bench_core.contract.canonical import canonical_json, plain
from bench_core.contract.dataset import Part
from bench_core.contract.errors import ContractError
from bench_core.contract.facts import Task
from bench_core.contract.method import Method
from bench_core.testing.fitting import decide, fit, fitted, paired, same_decisions, some_policies
from bench_core.testing.problems import make_case


def check_family(method: Method, task: Task) -> None:
    """Fit returns policies, and their labels and details can be written to a record."""
    _, family = fitted(method, task)
    recorded = {"history": family.history, "diagnostics": family.diagnostics}
    for i, policy in enumerate(family.policies):
        recorded[f"policies[{i}].details"] = policy.details
        if not isinstance(policy.label, str):
            raise ContractError(f"policies[{i}].label must be a text, not {policy.label!r}")
        if policy.budget is not None and not policy.budget >= 0:
            raise ContractError(f"policies[{i}].budget must not be negative, it is {policy.budget}")
    for name, value in recorded.items():
        try:
            canonical_json(plain(value))
        except (TypeError, ValueError) as error:
            raise ContractError(f"{name} cannot be kept in a record: {error}") from None


def check_determinism(method: Method, task: Task) -> None:
    """Two fits on the same problem decide the same, bit for bit."""
    case = make_case(task)
    _, first = fitted(method, task)
    second = fit(method, make_case(task).problem)
    for name, a, b in paired(first, second, "fitted twice under one seed"):
        same_decisions(
            decide(a, case.rows, case.problem, name),
            decide(b, case.rows, case.problem, name),
            f"{name}, fitted twice under one seed",
            case.problem,
            case.rows,
            exact=True,
        )


def check_global_random_state(method: Method, task: Task) -> None:
    """The global random states of NumPy and Python are neither used nor changed; draw from problem.rng()."""
    case, first = fitted(method, task)
    # Fit and decide once before the states are read: a library that is imported on first use may draw from them.
    before = [decide(p, case.rows, case.problem, name) for name, p in some_policies(first)]
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        # Tests often set 0 or 1: with an unusual seed, this fit has another state than the first.
        np.random.seed(90210)  # noqa: NPY002
        random.seed(90210)
        at = _global_state()
        second = fit(method, make_case(task).problem)
        after = [decide(p, case.rows, case.problem, name) for name, p in some_policies(second)]
        if _global_state() != at:
            raise ContractError("fit or decide draws from the global random state; use problem.rng()")
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
    for (name, _, _), a, b in zip(paired(first, second, "under another global seed"), before, after, strict=True):
        same_decisions(a, b, f"{name}, under another global seed", case.problem, case.rows, exact=True)


def _global_state() -> str:
    kind, keys, position, *gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    return repr((kind, np.asarray(keys).tobytes(), position, gauss, random.getstate()))


def check_threads(method: Method, task: Task) -> None:
    """Decisions do not depend on the number of threads."""
    case, first = fitted(method, task)
    second = fit(method, replace(make_case(task).problem, threads=2))
    for name, a, b in paired(first, second, "with two threads instead of one"):
        same_decisions(
            decide(a, case.rows, case.problem, name),
            decide(b, case.rows, case.problem, name),
            f"{name}, with two threads instead of one",
            case.problem,
            case.rows,
        )


def check_problem_unchanged(method: Method, task: Task) -> None:
    """Fit does not change any array of the problem."""
    problem, untouched = make_case(task).problem, make_case(task).problem
    # Writable arrays, so that the message can name the changed one.
    problem = replace(
        problem,
        train=_writable(problem.train),
        validation=_writable(problem.validation),
        feature_of_column=np.array(problem.feature_of_column),
    )
    fit(method, problem)
    for part in ("train", "validation"):
        for name in ("X", "y", "sizes", "query"):
            now, before = getattr(getattr(problem, part), name), getattr(getattr(untouched, part), name)
            if before is not None and not np.array_equal(now, before):
                raise ContractError(f"fit changed problem.{part}.{name} in place; work on a copy")
    if problem.costs.as_plain() != untouched.costs.as_plain():
        raise ContractError("fit changed problem.costs in place; work on a copy")
    if not np.array_equal(problem.feature_of_column, untouched.feature_of_column):
        raise ContractError("fit changed problem.feature_of_column in place; work on a copy")


def _writable(part: Part) -> Part:
    return Part(
        np.array(part.X),
        np.array(part.y),
        None if part.sizes is None else np.array(part.sizes),
        None if part.query is None else np.array(part.query),
    )
