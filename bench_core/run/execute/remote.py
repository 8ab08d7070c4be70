"""Policies in another process: their validated descriptions, and calls to them; errors of such a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bench_sandbox import CallError
from numpy.typing import NDArray

from bench_core.contract.canonical import plain, writable
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import BenchError
from bench_core.contract.method import Family, Policy
from bench_core.run.failures import RemoteError

__all__ = ["family_from", "remote_error"]

_ERRORS = f"{BenchError.__module__}.{BenchError.__qualname__}"

Decide = Callable[[int, Rows, NDArray[np.bool_] | None], Decisions]
Next = Callable[[int, Rows, NDArray[np.bool_]], NDArray[np.bool_]]


class RemotePolicy(Policy):
    """A policy in another process."""

    def __init__(self, number: int, description: dict[str, Any], decide: Decide, next_: Next) -> None:
        self.number, self._decide, self._next = number, decide, next_
        self.label = writable(_typed(description.get("label", ""), str, "text"))
        self.details = plain(_typed(description.get("details", {}), dict, "table"))
        budget = description.get("budget")
        self.budget = None if budget is None else float(_typed(budget, str, "text"))
        self.decision_scope = "query" if description.get("scope") == "query" else "row"

    def decide(self, rows: Rows) -> Decisions:
        return self._decide(self.number, rows, None)


class RemoteStepwisePolicy(RemotePolicy):
    """A policy in another process that can be asked feature by feature."""

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return self._next(self.number, rows, known)


class RemoteEarlyPolicy(RemoteStepwisePolicy):
    """A policy in another process that also answers from any set of known features."""

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        return self._decide(self.number, rows, known)


def family_from(answer: dict[str, Any], decide: Decide, next_: Next) -> Family:
    """Make a family from a solver's description.

    Args:
        answer: the description.
        decide, next_: call a policy by its number.

    Raises:
        ValueError: the description is invalid.
    """
    descriptions = answer.get("policies")
    if not isinstance(descriptions, list) or not descriptions:
        raise ValueError("it named no policies")
    policies: list[Policy] = []
    for number, description in enumerate(descriptions):
        kind: type[RemotePolicy] = RemoteEarlyPolicy if description.get("early") is True else RemoteStepwisePolicy
        if _typed(description, dict, "table").get("asks") is not True:
            kind = RemotePolicy
        policies.append(kind(number, description, decide, next_))
    reference = RemotePolicy(len(descriptions), {}, decide, next_) if answer.get("reference") is True else None
    history, diagnostics = (plain(_typed(answer.get(key, {}), dict, "table")) for key in ("history", "diagnostics"))
    return Family(policies, reference, history, diagnostics)


def _typed(value: Any, kind: type[Any], what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"it gave no {what} where one is needed")
    return value


def remote_error(error: CallError) -> RemoteError:
    """Convert an error of another process to a class with the name of its type."""
    kind: type[RemoteError] = type(writable(error.type), (RemoteError,), {})
    return kind(str(error), _ERRORS in error.bases, error.trace)
