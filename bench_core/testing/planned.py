"""Checks that are planned, and their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench_core.contract.errors import BenchError, DataUnavailable, did_you_mean
from bench_core.contract.facts import Task

__all__ = ["TASKS", "CheckResult", "PlannedCheck", "labels_of", "reason_of", "refuse_unknown", "run_all"]

TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression", "ranking")


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        check: the check's name.
        task: the task that it was run on; empty for a check without a task.
        outcome: ``passed``, ``failed`` or ``skipped``.
        message: the error, or why it was skipped.
        seconds: how long it took.
    """

    check: str
    task: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class PlannedCheck:
    """A check that is to be run.

    Attributes:
        check: the check's name.
        task: the task that it is run on; empty for a check without a task.
        run: runs the check, and raises an error if it fails.
        reason: why it is left out; empty if it is run.
    """

    check: str
    task: str
    run: Callable[[], None]
    reason: str

    @property
    def id(self) -> str:
        """The check's part of a test id, such as ``audit-binary``."""
        return f"{self.check}-{self.task}" if self.task else self.check


def reason_of(skip: Mapping[str, str], check: str, task: str) -> str:
    """Return why a check is left out; empty if it is not. ``skip`` names a check, or a check and a task."""
    return skip.get(f"{check}-{task}", skip.get(check, ""))


def refuse_unknown(skip: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise ValueError if ``skip`` names a check that does not exist."""
    ids = [*names, *(f"{name}-{task}" for name in names for task in TASKS)]
    for name in skip:
        if name not in ids:
            raise ValueError(f"skip names {name!r}, which is no check; {did_you_mean(name, ids)}")


def run_all(checks: Iterator[PlannedCheck]) -> list[CheckResult]:
    """Run checks one after the other; a check that raises an error has failed."""
    results = []
    for planned in checks:
        if planned.reason:
            results.append(CheckResult(planned.check, planned.task, "skipped", planned.reason))
            continue
        start = time.perf_counter()
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        message = ""
        try:
            planned.run()
        except DataUnavailable as error:
            outcome, message = "skipped", str(error)
        except BenchError as error:
            outcome, message = "failed", str(error)
        except (Exception, SystemExit) as error:
            outcome, message = "failed", f"{type(error).__name__}: {error}"
        results.append(CheckResult(planned.check, planned.task, outcome, message, time.perf_counter() - start))
    return results


def labels_of(things: Sequence[Any]) -> list[str]:
    """Labels for test ids: empty for a single object; else class names, numbered if they are equal."""
    if len(things) == 1:
        return [""]
    names = [type(thing).__name__ for thing in things]
    return [f"-{name}{i if names.count(name) > 1 else ''}" for i, name in enumerate(names)]
