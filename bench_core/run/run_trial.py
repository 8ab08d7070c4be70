"""Running a trial: fit, decide, audit, bill, judge; and the record of it."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import plain, writable
from bench_core.contract.dataset import Dataset
from bench_core.contract.decisions import Decisions, Outcome, Rows
from bench_core.contract.errors import BenchError, ContractError
from bench_core.contract.method import Family, Policy, Problem, as_family
from bench_core.contract.metric import Metric, evaluate
from bench_core.contract.readonly import HOW_TO_WRITE, is_write_refusal, locked
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor
from bench_core.protocol.bill import outcome_of
from bench_core.protocol.prepare import Prepared, Shown
from bench_core.run.distribution import distribution
from bench_core.run.trial import Trial

__all__ = ["RECORD_FORMAT", "PolicyOutcome", "TrialResult", "failed_record", "run_trial"]

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


def run_trial(
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    provenance: Mapping[str, Any],
    threads: int = 1,
) -> TrialResult:
    """Fit, decide, audit, bill and judge. Whatever a plugin raises becomes a failed record.

    Args:
        trial: what to do.
        dataset: its data set.
        prepared: from `prepare`.
        metrics: what to compute, by name.
        provenance: kept in the record: versions, host, date.
        threads: how many threads the method may use.
    """
    clock = _Clock()
    name = trial.name(dataset.content)
    record: dict[str, Any] = {
        "format": RECORD_FORMAT,
        "name": name,
        "trial": trial.identity(dataset.content),
        "provenance": dict(provenance),
    }
    start = dict(record)
    try:
        outcomes, deciding = _filled(record, trial, dataset, prepared, metrics, threads, clock)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() in a method is its trial's failure, not the run's end
        failed = failed_record(start, error, clock.step, clock.seconds)
        return TrialResult(failed, None, None, tuple(prepared.written()))
    written = prepared.written()
    if written:
        said = ContractError(f"{', '.join(written)} was written to: {HOW_TO_WRITE}")
        return TrialResult(
            failed_record(start, said, "fit or decide", clock.seconds), None, None, tuple(written)
        )
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
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Fill a record with what came of a trial; the outcomes, and seconds of deciding."""
    threshold = trial.threshold if trial.reject else None
    problem = _handed(prepared.problem, threshold=trial.threshold, threads=threads)
    with clock("fit"):
        family = as_family(trial.estimator.fit(problem), type(trial.estimator).__name__)
    clock.seconds["fit"] += problem.work.reused
    described = [_described(number, policy) for number, policy in enumerate(family.policies)]
    ranked = prepared.problem.task == "ranking" or prepared.test.query is not None
    agreement = Agreement(
        threshold=threshold,
        ranked=ranked or any(metric.order for metric in metrics.values()),
        scale=0.0 if dataset.classes else float(np.std(prepared.problem.train.y)),
    )
    auditor = replace(prepared.auditor, agreement=agreement)
    outcomes, deciding = _judge(family, described, prepared, auditor, threshold, clock)
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
    known = isinstance(error, BenchError)
    where = "" if known else "".join(traceback.format_exception(error)[-12:])
    try:
        message, refused = " ".join(str(error).split()), not known and is_write_refusal(error)
    except Exception:
        message, refused = "its message cannot be read", False
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):  # their message alone says nothing
        message = f"{type(error).__name__} was raised{f': {message}' if message else ''}"
    message = writable(message or type(error).__name__)
    if refused:
        message = f"{message}: {HOW_TO_WRITE}"
    said = {"type": type(error).__name__, "message": message, "step": step, "traceback": writable(where)}
    return {**kept, "status": "failed", "error": said, "timings": dict(seconds)}


def _judge(
    family: Family,
    described: list[_Described],
    prepared: Prepared,
    auditor: Auditor,
    threshold: float | None,
    clock: _Clock,
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Every policy's outcomes, and the processor's seconds that each took to decide on the test rows.

    Of all threads, waiting left out, after the policy had decided on validation.
    """
    problem = prepared.problem
    parts = {"validation": problem.validation, "test": prepared.test}
    full = {part: locked(problem.costs.total(len(rows), rows.sizes)) for part, rows in parts.items()}
    reference: dict[str, Decisions] = {}
    deciding: dict[str, Any] = {"decide_per_policy": []}
    if family.reference is not None:
        for part, shown in prepared.shown.items():
            with clock("decide"):
                given = family.reference.decide(_handed_rows(shown.rows))
            reference[part] = _received(given, shown, problem, "the reference policy")
        deciding["decide_reference"] = clock.busy
    judged = []
    for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
        for part, rows in parts.items():
            shown = prepared.shown[part]
            with clock("decide"):
                given = policy.decide(_handed_rows(shown.rows))
            decisions = _received(given, shown, problem, known.said)
            if part == "test":
                deciding["decide_per_policy"].append(clock.busy)
                with clock("audit"):
                    auditor.check(policy, decisions, problem.feature_names, known.said)
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
    return judged, deciding


def _received(given: Any, shown: Shown, problem: Problem, said: str) -> Decisions:
    """The core's own copy of decisions on shown rows, in the part's order."""
    try:
        return Decisions.received(given, shown.place, len(shown.place), problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{said}: {error}") from None


def _table(
    described: list[_Described], outcomes: list[PolicyOutcome], metrics: Mapping[str, Metric]
) -> dict[str, Any]:
    """The family by columns: label, details, budget, and each metric on validation and test."""
    columns: dict[str, Any] = {
        "label": [one.label for one in described],
        "details": [one.details for one in described],
        "budget": plain([one.budget for one in described]),
        "validation": {},
        "test": {},
    }
    for judged in outcomes:
        for name, value in evaluate(judged.outcome, metrics).items():
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
        busy: processor's seconds of this process, all threads, in the step entered last.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.step = "start"
        self.busy = 0.0
        self._since = self._busy_since = 0.0

    def __call__(self, step: str) -> _Clock:
        self.step = step
        return self

    def __enter__(self) -> None:
        self._since, self._busy_since = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._since
        self.busy = time.process_time() - self._busy_since
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + spent
