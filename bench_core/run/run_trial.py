"""Running a trial: fit, decide, audit, bill, judge; and the record of it."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.asking import can_be_asked
from bench_core.contract.canonical import plain, writable
from bench_core.contract.dataset import Dataset
from bench_core.contract.decisions import Decisions, Outcome, Rows
from bench_core.contract.errors import BenchError, ContractError
from bench_core.contract.method import Family, Policy, Problem, as_family
from bench_core.contract.metric import Metric, measure
from bench_core.contract.readonly import HOW_TO_WRITE, is_write_refusal, locked
from bench_core.plugins.listed import MethodSpec
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor
from bench_core.protocol.bill import outcome_of
from bench_core.protocol.prepare import Prepared, Shown
from bench_core.protocol.replay import ReplayAudit
from bench_core.run.distribution import distribution
from bench_core.run.trial import Trial

__all__ = [
    "RECORD_FORMAT", "Here", "Parties", "PolicyOutcome", "RemoteError", "TrialResult", "TrialStopped", "error_of",
    "failed_record", "run_trial",
]  # fmt: skip

RECORD_FORMAT = 2


@dataclass(frozen=True)
class PolicyOutcome:
    """One policy's outcome on one part."""

    policy: int
    part: str
    outcome: Outcome


@dataclass(frozen=True)
class TrialResult:
    """What a trial produced: the record, and the decisions it was computed from (None when it failed).

    Attributes:
        written: names of shared arrays that were written to: what was prepared must not be used again.
    """

    record: dict[str, Any]
    outcomes: list[PolicyOutcome] | None
    rows: Mapping[str, NDArray[np.int64]] | None
    written: tuple[str, ...] = ()


class Parties(Protocol):
    """Where a trial's method is run."""

    def fit(self, trial: Trial, problem: Problem) -> Family:
        """Fit; the family's policies decide wherever they are."""

    def copy(self) -> None:
        """Take copies of the policies for the audit; called before they see a row to decide on."""

    def witness(self, policy: Policy) -> Policy:
        """Who answers the audit for a policy; called when all policies have decided."""

    def busy(self) -> float:
        """Processor's seconds so far of who fits and decides, all threads."""


class Here:
    """In this process: a method can reach its judge, and who decided answers the audit."""

    def fit(self, trial: Trial, problem: Problem) -> Family:
        if isinstance(trial.estimator, MethodSpec):
            raise ContractError(f"the plugin of method {trial.method_use!r} is listed, not imported: load all plugins")
        return as_family(trial.estimator.fit(problem), type(trial.estimator).__name__)

    def copy(self) -> None:
        pass

    def witness(self, policy: Policy) -> Policy:
        return policy

    def busy(self) -> float:
        return time.process_time()


class TrialStopped(BaseException):
    """A method's process was ended, or ended by itself.

    ``kind`` is ``time``, ``crash``, ``killed`` (by another process: it may be tried again), ``exit`` or ``error``. No
    `Exception`: what handles a method's errors must not take it for one.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class RemoteError(Exception):
    """An error raised in another process, of a subclass that has its type's name.

    Attributes:
        known: whether it is one of the core's.
        trace: its traceback.
    """

    def __init__(self, message: str, known: bool, trace: str) -> None:
        super().__init__(message)
        self.known, self.trace = known, trace


def run_trial(
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    provenance: Mapping[str, Any],
    threads: int = 1,
    parties: Parties | None = None,
) -> TrialResult:
    """Fit, decide, audit, bill and judge. Whatever a plugin raises becomes a failed record.

    Args:
        trial: what to do.
        dataset: its data set.
        prepared: from `prepare`.
        metrics: what to compute, by name.
        provenance: kept in the record: versions, host, date.
        threads: how many threads the method may use.
        parties: where the method is run; in this process by default.
    """
    parties = parties or Here()
    clock = _Clock(parties.busy)
    name = trial.name(dataset.content)
    record: dict[str, Any] = {
        "format": RECORD_FORMAT,
        "name": name,
        "trial": trial.identity(dataset.content),
        "provenance": dict(provenance),
    }
    start = dict(record)
    try:
        outcomes, deciding = _filled(record, trial, dataset, prepared, metrics, threads, clock, parties)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() in a method is its trial's failure, not the run's end
        failed = failed_record(start, error, clock.step, clock.seconds)
        return TrialResult(failed, None, None, tuple(prepared.written()))
    written = prepared.written()
    if written:
        said = ContractError(f"{', '.join(written)} was written to: {HOW_TO_WRITE}")
        return TrialResult(failed_record(start, said, "fit or decide", clock.seconds), None, None, tuple(written))
    record["timings"] = {**clock.seconds, **deciding}
    rows = {part: getattr(prepared.split, part) for part in ("validation", "test")}
    return TrialResult(record, outcomes, rows)


def _filled(
    record: dict[str, Any],
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    threads: int,
    clock: _Clock,
    parties: Parties,
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Fill a record with what came of a trial; the outcomes, and seconds of deciding."""
    threshold = trial.threshold if trial.reject else None
    problem = _handed(prepared.problem, threshold=trial.threshold, threads=threads)
    with clock("fit"):
        family = parties.fit(trial, problem)
    clock.seconds["fit"] += problem.work.reused
    described = [_described(number, policy) for number, policy in enumerate(family.policies)]
    ranked = prepared.problem.task == "ranking" or prepared.test.query is not None
    agreement = Agreement(
        threshold=threshold,
        ranked=ranked or any(metric.order for metric in metrics.values()),
        scale=0.0 if dataset.classes else float(np.std(prepared.problem.train.y)),
    )
    auditor = replace(prepared.auditor, agreement=agreement)
    outcomes, deciding = _judge(family, described, prepared, auditor, threshold, clock, parties)
    with clock("metrics"):
        record["policies"] = _table(described, outcomes, metrics)
        record["usage"] = _usage(outcomes)
        tested = [judged.outcome for judged in outcomes if judged.part == "test"]
        spread = distribution([one.decisions for one in tested], tested[0].reference)
        if spread is not None:
            record["evaluations"] = spread
    record["status"] = "ok"
    record["task"] = dataset.task
    record["history"] = plain(dict(family.history))
    record["diagnostics"] = plain(dict(family.diagnostics))
    record["features"] = list(dataset.feature_names)
    record["costs"] = prepared.problem.costs.as_plain()
    record["rows"] = {part: len(getattr(prepared.split, part)) for part in ("train", "validation", "test")}
    return outcomes, deciding


@dataclass(frozen=True)
class _Described:
    """What a policy says of itself, read once."""

    said: str
    label: str
    details: Any
    budget: float | None


def _described(number: int, policy: Policy) -> _Described:
    """Read a policy's label, details and budget.

    Raises:
        ContractError: the budget is not a number from 0.
    """
    label, budget = writable(str(policy.label)), policy.budget
    said = f"policy {number}" + (f" ({label})" if label else "")
    if budget is not None:
        try:
            budget = float(budget)
        except (TypeError, ValueError):
            budget = float("nan")
        if not budget >= 0:
            raise ContractError(f"{said}: budget must be a number from 0, or None, not {policy.budget!r}")
    return _Described(said, label, plain(dict(policy.details)), budget)


def failed_record(
    record: dict[str, Any], error: BaseException, step: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The record of a trial that failed: what went wrong, in which step, and where."""
    kept = {key: record[key] for key in ("format", "name", "trial", "provenance")}
    said = error_of(error)
    if said["type"] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):  # their message alone says nothing
        said["message"] = f"{said['type']} was raised" + (f": {said['message']}" if said["message"] else "")
    refused = not said.pop("known") and is_write_refusal(said["message"])
    said["message"] = writable(" ".join(said["message"].split()) or said["type"])
    if refused:
        said["message"] += f": {HOW_TO_WRITE}"
    kind = {"MemoryError": "memory", "SystemExit": "exit"}.get(said["type"], getattr(error, "kind", "error"))
    return {**kept, "status": "failed", "error": {**said, "kind": kind, "step": step}, "timings": dict(seconds)}


def error_of(error: BaseException) -> dict[str, Any]:
    """An error as plain text: type, message, whether it is one of the core's, and else where it was raised."""
    if isinstance(error, RemoteError):
        return {"type": type(error).__name__, "message": str(error), "known": error.known, "traceback": error.trace}
    known = isinstance(error, BenchError | TrialStopped)
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    trace = "" if known else writable(_traceback(error))
    return {"type": type(error).__name__, "message": message, "known": known, "traceback": trace}


def _traceback(error: BaseException) -> str:
    """The traceback from the first frame on that is not the core's running of a trial."""
    here, at = str(Path(__file__).parent), error.__traceback__
    while at is not None and at.tb_next is not None and at.tb_frame.f_code.co_filename.startswith(here):
        at = at.tb_next
    return "".join(traceback.format_exception(error.with_traceback(at))[-12:])


def _judge(
    family: Family,
    described: list[_Described],
    prepared: Prepared,
    auditor: Auditor,
    threshold: float | None,
    clock: _Clock,
    parties: Parties,
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Every policy's outcomes, and the processor's seconds that each took to decide on the test rows.

    Of all threads, waiting left out, after the policy had decided on validation. All have decided before any is
    audited.
    """
    problem = prepared.problem
    parts = {"validation": problem.validation, "test": prepared.test}
    full = {part: locked(problem.costs.total(len(rows), rows.sizes)) for part, rows in parts.items()}
    with clock("audit"):
        parties.copy()

    def decided(policy: Policy, part: str, said: str) -> Decisions:
        shown = prepared.shown[part]
        with clock("decide"):
            given = policy.decide(_handed_rows(shown.rows))
        return _received(given, shown, problem, said)

    reference: dict[str, Decisions] = {}
    deciding: dict[str, Any] = {"decide_per_policy": []}
    if family.reference is not None:
        for part in prepared.shown:
            reference[part] = decided(family.reference, part, "the reference policy")
        deciding["decide_reference"] = clock.busy
    judged = []
    for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
        for part, rows in parts.items():
            decisions = decided(policy, part, known.said)
            outcome = outcome_of(
                decisions,
                rows,
                problem.costs,
                problem.task,
                threshold=threshold,
                full=full[part],
                reference=reference.get(part),
                budget=known.budget,
            )
            judged.append(PolicyOutcome(number, part, outcome))
        deciding["decide_per_policy"].append(clock.busy)
    with clock("audit"):
        _replay(family, described, judged, auditor, problem, parties)
        for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
            tested = judged[2 * number + 1].outcome.decisions
            auditor.check(parties.witness(policy), tested, problem.feature_names, known.said)
    return judged, deciding


def _replay(
    family: Family,
    described: list[_Described],
    judged: list[PolicyOutcome],
    auditor: Auditor,
    problem: Problem,
    parties: Parties,
) -> None:
    """Replay the policies that can be asked step by step, all of them before any is shown substitutes.

    Raises:
        AuditError: one does otherwise than on whole rows.
    """
    audit = None
    for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
        if not can_be_asked(policy):
            continue
        if audit is None:
            audit = ReplayAudit.prepare(auditor.rows, problem.feature_of_column, auditor.agreement, problem.seed)
        tested = judged[2 * number + 1].outcome.decisions
        audit.check(parties.witness(policy), number, tested, problem.feature_names, known.said)


def _received(given: Any, shown: Shown, problem: Problem, said: str) -> Decisions:
    """The core's own copy of decisions on shown rows, in the part's order."""
    try:
        return Decisions.received(given, shown.place, len(shown.place), problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{said}: {error}") from None


def _table(described: list[_Described], outcomes: list[PolicyOutcome], metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """The family by columns: label, details, budget, and each metric on validation and test."""
    columns: dict[str, Any] = {
        "label": [one.label for one in described],
        "details": [one.details for one in described],
        "budget": plain([one.budget for one in described]),
        "validation": {},
        "test": {},
    }
    for judged in outcomes:
        for name, value in measure(judged.outcome, metrics).items():
            columns[judged.part].setdefault(metrics[name].key, []).append(plain(value))
    return columns


_MOST_USAGE = 6000
"""Numbers of usage kept per record: the first policies of a family come first."""


def _usage(outcomes: list[PolicyOutcome]) -> list[list[list[float]] | None]:
    """Per policy, per exit stage, per feature: share of test rows that left there with the feature acquired.

    None for the later policies of families that would need more than `_MOST_USAGE` numbers.
    """
    kept: list[list[list[float]] | None] = []
    left = _MOST_USAGE
    for judged in outcomes:
        if judged.part != "test":
            continue
        acquired, stage = judged.outcome.decisions.acquired, judged.outcome.decisions.stage
        stages = 1 if stage is None else int(stage.max(initial=1))
        left -= stages * acquired.shape[1]
        if left < 0 or not len(acquired):
            kept.append(None)
        elif stage is None:
            kept.append([np.round(acquired.mean(axis=0), 6).tolist()])
        else:
            shares = [acquired[stage == s].sum(axis=0) / len(acquired) for s in range(1, stages + 1)]
            kept.append(np.round(np.stack(shares), 6).tolist())
    return kept


def _handed(problem: Problem, *, threshold: float | None, threads: int) -> Problem:
    """The problem of one trial: objects of its own over the shared arrays."""
    fields = {name: getattr(problem, name) for name in Problem.__dataclass_fields__}
    for name in ("train", "validation", "costs"):
        fields[name] = copy.copy(fields[name])
    return Problem(**{**fields, "threshold": threshold, "threads": threads, "work": problem.work.again()})


def _handed_rows(rows: Rows) -> Rows:
    """Rows of one call: an object of its own over the shared arrays."""
    return Rows(rows.X, rows.sizes, rows.query)


class _Clock:
    """Seconds by step, summed over the times a step was entered.

    Attributes:
        busy: processor's seconds of who fits and decides, all threads, in the step ``decide`` when it was entered last.
    """

    def __init__(self, busy: Callable[[], float]) -> None:
        self._busy_so_far = busy
        self.seconds: dict[str, float] = {}
        self.step = "start"
        self.busy = 0.0
        self._since = self._busy_since = 0.0

    def __call__(self, step: str) -> _Clock:
        self.step = step
        return self

    def __enter__(self) -> None:
        self._since = time.perf_counter()
        if self.step == "decide":
            self._busy_since = self._busy_so_far()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._since
        if self.step == "decide":
            self.busy = self._busy_so_far() - self._busy_since
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + spent
