"""Running a trial: fit, decide, audit, bill, judge."""

from __future__ import annotations

import copy
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import plain, sha256_text
from bench_core.contract.dataset import Dataset
from bench_core.contract.decisions import Decisions
from bench_core.contract.errors import ContractError, attempt
from bench_core.contract.method import Family, Policy, Problem, as_family, can_be_asked
from bench_core.contract.metric import Metric
from bench_core.contract.readonly import HOW_TO_WRITE, locked
from bench_core.plugins.descriptions import ConfiguredMethod
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor
from bench_core.protocol.bill import outcome_of
from bench_core.protocol.cap import at_caps, cut_at_caps
from bench_core.protocol.empty import empty_answer
from bench_core.protocol.prepare import Prepared, Shown
from bench_core.protocol.replay import ReplayAudit
from bench_core.run.failures import failed_record
from bench_core.run.record_file import RECORD_FORMAT
from bench_core.run.summary import Described, PolicyOutcome, describe, distribution, tables_of, usage_of
from bench_core.run.trial import Trial

__all__ = ["Conditions", "Solver", "TrialResult", "once_more_if_killed", "run_trial", "start_of_record"]


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial: the record, and the decisions that it was computed from (None if the trial failed).

    Attributes:
        written: names of shared arrays that the trial wrote to; the prepared data must not be used again.
    """

    record: dict[str, Any]
    outcomes: list[PolicyOutcome] | None
    rows: Mapping[str, NDArray[np.int64]] | None
    written: tuple[str, ...] = ()


class Solver:
    """Runs a trial's method in this process: it could manipulate the judge, and it answers the audit itself.

    Attributes:
        starting: seconds of the last fit that passed before the method was called: processes were started, kernels
            compiled.
    """

    starting = 0.0

    def fit(self, trial: Trial, problem: Problem) -> Family:
        """Fit. The policies decide in the process where they were fitted."""
        if isinstance(trial.estimator, ConfiguredMethod):
            raise ContractError(f"the plugin of method {trial.method_use!r} is not imported: load all plugins")
        return as_family(trial.estimator.fit(problem), type(trial.estimator).__name__)

    def copy(self) -> None:
        """Copy the policies for the audit, before they see a row to decide on."""

    def witness(self, policy: Policy) -> Policy:
        """Return the policy that answers the audit. Called when all policies have decided."""
        return policy

    def done(self) -> None:
        """End the processes of the trial; the policies are no longer needed."""

    def busy(self) -> float:
        """Processor seconds used so far by the process that fits and decides, all threads."""
        return time.process_time()


@dataclass(frozen=True)
class Conditions:
    """The conditions of a run, besides the trial.

    Attributes:
        provenance: kept in the record: versions, processor, date.
        threads: how many threads the method may use.
        audit_seed: the seed of the audit, from the record of a failed one, to repeat it. By default a secret seed is
            drawn when all policies have decided.
    """

    provenance: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    audit_seed: int | None = None


def run_trial(
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    conditions: Conditions | None = None,
    solver: Solver | None = None,
) -> TrialResult:
    """Fit, decide, audit, bill and judge. Any exception of a plugin except `KeyboardInterrupt` gives a failed record.

    Args:
        trial: the trial.
        dataset: its data set.
        prepared: from `prepare`.
        metrics: the metrics to compute, by name.
        conditions: threads, the audit's seed, and the record's provenance.
        solver: runs the method; by default in this process.
    """
    conditions = conditions or Conditions()
    running = _Running(trial, dataset, prepared, metrics, conditions, solver or Solver())
    clock, record = running.clock, running.record
    filled, written = attempt(running.fill), prepared.written()
    if isinstance(filled, BaseException):  # sys.exit() in a method is its trial's failure, not the run's end
        return TrialResult(failed_record(record, filled, clock.step, clock.seconds), None, None, tuple(written))
    if written:
        failure = ContractError(f"{', '.join(written)} was written to: {HOW_TO_WRITE}")
        return TrialResult(failed_record(record, failure, "fit or decide", clock.seconds), None, None, tuple(written))
    outcomes, deciding = filled
    record["timings"] = {**clock.seconds, **deciding}
    return TrialResult(record, outcomes, {part: getattr(prepared.split, part) for part in ("validation", "test")})


def start_of_record(trial: Trial, content: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The first fields of every record."""
    identity = trial.identity(content)
    return {"format": RECORD_FORMAT, "name": sha256_text(identity), "trial": identity, "provenance": provenance}


@dataclass
class _Running:
    """A running trial and its record."""

    trial: Trial
    dataset: Dataset
    prepared: Prepared
    metrics: Mapping[str, Metric]
    conditions: Conditions
    solver: Solver

    def __post_init__(self) -> None:
        given, seed = self.conditions.provenance, self.conditions.audit_seed
        provenance = {**given, **({} if seed is None else {"audit_seed": seed})}
        self.clock = _Clock(self.solver.busy)
        self.record = start_of_record(self.trial, self.dataset.content, provenance)
        self.threshold = self.trial.threshold if self.trial.reject else None

    def fill(self) -> tuple[list[PolicyOutcome], dict[str, Any]]:
        """Run the trial and fill its record; return the outcomes, and the seconds of deciding."""
        record, prepared, clock, audit_seed = self.record, self.prepared, self.clock, self.conditions.audit_seed
        problem = _handed(prepared.problem, threshold=self.trial.threshold, threads=self.conditions.threads)
        with clock("fit"):
            family = self.solver.fit(self.trial, problem)
        clock.seconds["fit"] += problem.work.reused - self.solver.starting
        described = [describe(number, policy) for number, policy in enumerate(family.policies)]
        outcomes, deciding = self._judge(family, described)
        with clock("audit"):
            record["audit_seed"] = secrets.randbits(63) if audit_seed is None else audit_seed
            self._audit(family, described, outcomes)
            del record["audit_seed"]  # only a failed audit keeps it
        self.solver.done()
        with clock("metrics"):
            record |= tables_of(described, outcomes, empty_answer(prepared.problem), self.metrics)
            record["usage"] = usage_of(outcomes)
            tested = [judged.outcome for judged in outcomes if judged.part == "test"]
            if spread := distribution([outcome.decisions for outcome in tested], tested[0].reference):
                record["evaluations"] = spread
        record |= {"status": "ok", "task": self.dataset.task, "features": list(self.dataset.feature_names)}
        record |= {"history": plain(dict(family.history)), "diagnostics": plain(dict(family.diagnostics))}
        record["costs"] = prepared.problem.costs.as_plain()
        record["rows"] = {part: len(getattr(prepared.split, part)) for part in ("train", "validation", "test")}
        return outcomes, deciding

    def _judge(self, family: Family, described: list[Described]) -> tuple[list[PolicyOutcome], dict[str, Any]]:
        """Every policy's outcomes, and the processor seconds that each took to decide on the test rows.

        The seconds are of all threads, without waiting. Every policy decides on the validation rows first.
        """
        problem, clock = self.prepared.problem, self.clock
        parts = {"validation": problem.validation, "test": self.prepared.test}
        full = {part: locked(problem.costs.total(len(rows), rows.sizes)) for part, rows in parts.items()}
        with clock("audit"):
            self.solver.copy()

        caps = self.trial.caps if problem.n_classes else ()
        with clock("caps"):
            cuts = cut_at_caps(family.policies, caps, problem, self.prepared.shown)

        def decided(policy: Policy, part: str, name: str) -> Decisions:
            shown = self.prepared.shown[part]
            with clock("decide"):
                decisions = policy.decide(copy.copy(shown.rows))  # a new object over the shared arrays
            return _received(decisions, shown, problem, name)

        reference: dict[str, Decisions] = {}
        deciding: dict[str, Any] = {"decide_per_policy": []}
        if family.reference is not None:
            for part in self.prepared.shown:
                reference[part] = decided(family.reference, part, "the reference policy")
            deciding["decide_reference"] = clock.busy
        judged = []
        for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
            for part, rows in parts.items():
                decisions = decided(policy, part, known.name)
                outcome = outcome_of(
                    decisions, rows, problem.costs, problem.task, threshold=self.threshold,
                    full=full[part], reference=reference.get(part), budget=known.budget,
                )  # fmt: skip
                outcome = at_caps(outcome, caps, cuts.get((number, part), {}))
                judged.append(PolicyOutcome(number, part, outcome))
            deciding["decide_per_policy"].append(clock.busy)
        return judged, deciding

    def _audit(self, family: Family, described: list[Described], judged: list[PolicyOutcome]) -> None:
        """Audit the policies when all have decided: on the test part, then on the validation part, the cheapest first.

        The policies share a witness. In this order, the witness does not see values that only dearer policies paid for
        before it answers for a cheaper one. A policy that can be asked step by step is replayed before it sees
        substitutes.

        Raises:
            AuditError: a policy's decisions depend on features that it did not acquire.
        """
        problem, seed = self.prepared.problem, self.record["audit_seed"]
        columns = problem.feature_of_column
        ranked = problem.task == "ranking" or self.prepared.test.query is not None
        agreement = Agreement(
            threshold=self.threshold,
            ranked=ranked or any(metric.order for metric in self.metrics.values()),
            scale=0.0 if self.dataset.classes else float(np.std(problem.train.y)),
        )
        for part, rows in (("test", self.prepared.test.rows()), ("validation", problem.validation.rows())):
            tested = [one.outcome for one in judged if one.part == part and len(rows)]
            auditor = Auditor.prepare(rows, columns, problem.train.X, seed, self.prepared.audit_rounds, agreement)
            replays = ReplayAudit.prepare(rows, columns, agreement, seed)
            paid = [(outcome.bill.sum(), outcome.decisions.acquired.sum()) for outcome in tested]
            for number in sorted(range(len(paid)), key=paid.__getitem__):
                witness, name = self.solver.witness(family.policies[number]), described[number].name
                if can_be_asked(witness):
                    replays.check(witness, number, tested[number].decisions, problem.feature_names, name)
                auditor.check(witness, tested[number].decisions, problem.feature_names, name)


def _received(decisions: Any, shown: Shown, problem: Problem, name: str) -> Decisions:
    """Check and copy the decisions on shown rows, in the part's order."""
    try:
        return Decisions.received(decisions, shown.place, problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{name}: {error}") from None


def _handed(problem: Problem, *, threshold: float | None, threads: int) -> Problem:
    """The problem of one trial: new objects over the shared arrays."""
    own = {name: copy.copy(getattr(problem, name)) for name in ("train", "validation", "costs")}
    return replace(problem, **own, threshold=threshold, threads=threads, work=problem.work.again())


class _Clock:
    """Seconds by step, summed over repeated steps.

    Attributes:
        busy: processor seconds of the process that fits and decides, all threads, in the last step ``decide``.
    """

    def __init__(self, busy: Callable[[], float]) -> None:
        self._busy_so_far = busy
        self.seconds: dict[str, float] = {}
        self.step = "start"
        self.busy = 0.0

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        self.step = step
        before, since = self._busy_so_far() if step == "decide" else 0.0, time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - since
            self.busy = self._busy_so_far() - before if step == "decide" else self.busy


def once_more_if_killed(run: Callable[[], TrialResult]) -> TrialResult:
    """Run a trial; run it a second time if another process killed its method."""
    result = run()
    return run() if result.record.get("error", {}).get("kind") == "killed" else result
