"""Running a suite, from its plan to the pages that plugins make from the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench_store import DAMAGED, left_marks

from bench_core.contract.errors import BenchError, ContractError, RequestError, StoreError
from bench_core.run.execute import Options, Summary, TrialStatus, execute
from bench_core.run.execute.worker import RUNNING
from bench_core.run.plan import OVER_LIMIT, Plan, Planned
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.stored import stored_records
from bench_core.run.suite import Suite

_ROUNDS = 4
"""How often damaged records are moved aside and computed again before the store is reported as faulty."""


@dataclass
class RunReport:
    """The report of a run.

    Attributes:
        plan: the plan before the run.
        summary: the trials that were computed.
        earlier_failures: number of trials that failed in earlier runs and were not run again.
        earlier_over_limit: number of trials over the time limit in earlier runs that were not run again.
        written: a line from each plugin that used the records.
        table: head and rows of a table of results, from a plugin, or else a short one.
        refused: why a plugin wrote nothing; empty if none refused.
        refused_code: the exit code for that: 2 if the request is invalid, 1 if a plugin or a metric failed.
    """

    plan: Plan
    summary: Summary
    earlier_failures: int = 0
    earlier_over_limit: int = 0
    written: tuple[str, ...] = ()
    table: tuple[list[str], list[list[str]]] | None = None
    refused: str = ""
    refused_code: int = 2

    @property
    def exit_code(self) -> int:
        """0: all done or over the time limit; 1: a trial or a metric failed, or data is missing; 2: refused."""
        if self.refused:
            return self.refused_code
        return 1 if self.summary.failures or self.earlier_failures or self.plan.unavailable else 0


@dataclass(frozen=True)
class FinishedRun:
    """A finished run, the argument of the hook `bench_run_finished`.

    Attributes:
        session: the suite and its folders.
        plan: the plan of the complete suite after the run.
        asked: the trials that the run was asked for (``--only``, ``--seeds``), with their states before the run.
        computed: how many trials were computed.
        options: options that plugins added to ``bench run``, by name.
    """

    session: SuiteSession
    plan: Plan
    asked: Plan
    computed: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """A plugin's result of a finished run.

    Attributes:
        line: the line that ``bench run`` prints, such as the path of a page.
        table: head and rows of a table of results, printed before the line; or None.
    """

    line: str
    table: tuple[list[str], list[list[str]]] | None = None


class DamagedRecordsError(BenchError):
    """Damaged records were found; the store names them (`Store.unreadable`)."""


def run_suite(
    session: SuiteSession,
    options: Options,
    seeds: int | None,
    only: Mapping[str, list[str]],
    started: Callable[[Plan, int], None],
    progress: Callable[[Planned, TrialStatus], None],
    notice: Callable[[str], None] = lambda line: None,
) -> RunReport:
    """Run the missing trials of a suite, then call the plugins that use the records.

    Damaged records are moved aside, and their trials are run again.

    Args:
        session: the suite and its folders.
        options: how to run it.
        seeds: see `bench_core.run.suite.Suite.trials`.
        only: see `bench_core.run.suite.Suite.trials`.
        started: called with the plan and the number of trials to compute.
        progress: called after every trial.
        notice: called with a line that users should see at once.

    Raises:
        StoreError: records in the store are damaged repeatedly.
    """
    session.store.sweep()
    crashed = _take_crashed(session.store.path)
    for trial in crashed.values():
        what = "it is skipped" if options.skip_crashed else "a trial without a record is run again"
        notice(f"an earlier run crashed in {trial}; {what}")
    options = replace(options, skipped=crashed if options.skip_crashed else ())
    metrics = tuple(session.suite.needed_metrics())
    if options.timeout is None:
        options = replace(options, timeout=session.suite.file.protocol.timeout)
    retried, retried_over_limit = options.retry_failed, options.retry_over_limit
    plan = session.plan(seeds, only)
    report = RunReport(plan, Summary())
    for _ in range(_ROUNDS):
        started(plan, len(plan.to_run(options.retry_failed, options.retry_over_limit)))
        now = execute(plan, session.cache, metrics, options, progress, notice)
        report.summary.computed += now.computed
        report.summary.kept += now.kept
        report.summary.failures += now.failures
        report.summary.over_limit += now.over_limit
        complete = session.plan() if seeds is not None or only or now.computed or now.kept else plan
        finished = FinishedRun(session, complete, plan, report.summary.computed, options.plugin_options)
        with suppress(DamagedRecordsError):
            _finish(finished, report)
        for line in session.warnings():
            notice(line)
        if not (moved := session.store.set_aside()):
            break
        notice(f"{len(moved)} record(s) were moved to {session.store.path / DAMAGED}; their trials are run again")
        report.plan.forget(moved - session.known.done)
        options = replace(options, retry_failed=False, retry_over_limit=False)
        plan = session.plan(seeds, only)
    else:
        raise StoreError(f"{session.store.path} damages what is written to it; see {session.store.path / DAMAGED}")
    states = Counter({planned.name: planned.state for planned in report.plan.planned}.values())
    report.earlier_failures = 0 if retried else states["failed"]
    report.earlier_over_limit = 0 if retried_over_limit else states[OVER_LIMIT]
    return report


def _take_crashed(store: Path) -> dict[str, str]:
    """Trials during which an earlier run crashed: name → description. The run's marks are removed."""
    crashed = {}
    for mark in left_marks(store / RUNNING):
        if mark.leader_is_gone:
            match mark.work:
                case [str(name), str(description)] if mark.running:
                    crashed[name] = description
            mark.remove()
    return crashed


def _finish(run: FinishedRun, report: RunReport) -> None:
    """Call the plugins; if none returns a table, make a short one.

    Raises:
        DamagedRecordsError: the trials of damaged records must be run again first.
    """
    report.written, report.table, report.refused = (), None, ""
    if not run.plan.planned:  # no data set can be used; the report gives the reasons
        return
    try:
        answers = run.session.registry.manager.hook.bench_run_finished(run=run)
        written = [answer if isinstance(answer, Written) else Written(str(answer)) for answer in answers]
        report.written = tuple(entry.line for entry in written)
        report.table = next((entry.table for entry in written if entry.table is not None), None)
        if report.table is None:
            report.table = summary_table(run.session.suite, run.plan, run.session.store)
    except (RequestError, ContractError) as error:
        report.refused, report.refused_code = str(error), 2 if isinstance(error, RequestError) else 1


def summary_table(suite: Suite, plan: Plan, store: Store) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a short table: metrics of each method's default policy on the test part, mean over seeds.

    The default policy is the first one of the family at the first point of the suite's grid.
    """
    values: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for planned, record in stored_records(plan, store, suite.needed_metrics()):
        trial = planned.trial
        seeds = values.setdefault((trial.dataset, trial.costs, trial.method), [])
        if record is not None and record["status"] == "ok" and trial.point == 0:
            seeds.append({name: column[0] for name, column in record["policies"]["test"].items()})
    rows = []
    for (dataset, costs, method), seeds in values.items():
        cells = []
        for name, metric in suite.metrics.items():
            known = [measured[name] for measured in seeds if measured.get(name) is not None]
            mean = sum(known) / len(known) if known else None
            cells.append("–" if mean is None else f"{100 * mean:.1f} %" if metric.percent else f"{mean:.4g}")
        rows.append([dataset, costs, method, *cells, str(len(seeds))])
    return ["data set", "costs", "method", *(m.title or name for name, m in suite.metrics.items()), "seeds"], rows


def inapplicable_lines(plan: Plan) -> list[str]:
    """A line for every method that is not applicable to some data sets, with their names and the reason."""
    datasets: dict[tuple[str, str], dict[str, None]] = {}
    for planned in plan.planned:
        if planned.state == "not applicable":
            datasets.setdefault((planned.trial.method, planned.reason), {})[planned.trial.dataset] = None
    return [f"not applicable: {method} on {', '.join(on)}: {why}" for (method, why), on in datasets.items()]
