"""Running a suite from its plan to what plugins make of the records; and describing a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from bench_core.contract.errors import BenchError, RequestError, StoreError
from bench_core.run.execute import Options, Summary, TrialStatus, execute
from bench_core.run.execute.markers import take_crashed
from bench_core.run.plan import Plan, Planned
from bench_core.run.session import SuiteSession
from bench_core.run.store import DAMAGED, Store
from bench_core.run.stored import stored_records
from bench_core.run.suite import Suite

__all__ = [
    "PLAN_HEAD",
    "DamagedRecordsError",
    "FinishedRun",
    "RunReport",
    "describe_plan",
    "inapplicable_lines",
    "other_code",
    "run_suite",
    "summary_table",
]

PLAN_HEAD = ["data set", "method", "trials", "done", "failed", "missing", "not applicable"]

_ROUNDS = 4
"""How often damaged records are set aside and computed again before the disk is to blame."""


@dataclass
class RunReport:
    """What a run did and left.

    Attributes:
        plan: what was asked for, as it was before.
        summary: what was computed.
        earlier_failures: failed trials that were not tried again.
        made: a line of each plugin that made something of the records.
        table: head and rows of a short table, where no plugin did.
        refused: why a plugin wrote nothing; empty when none refused.
    """

    plan: Plan
    summary: Summary
    earlier_failures: int
    made: tuple[str, ...] = ()
    table: tuple[list[str], list[list[str]]] | None = None
    refused: str = ""

    @property
    def exit_code(self) -> int:
        """0: all done; 1: a trial failed or data is missing; 2: a plugin refused to write."""
        if self.refused:
            return 2
        return 1 if self.summary.failures or self.earlier_failures or self.plan.unavailable else 0


@dataclass(frozen=True)
class FinishedRun:
    """A run whose trials are done, as `bench_run_finished` is given it.

    Attributes:
        session: the suite and its places.
        plan: the whole suite's, as it is now.
        computed: how many trials were computed.
        options: options that plugins added to ``bench run``, by name.
    """

    session: SuiteSession
    plan: Plan
    computed: int
    options: Mapping[str, Any]


class DamagedRecordsError(BenchError):
    """Records that were read are damaged; the store names them (`Store.unbelieved`)."""


def run_suite(
    session: SuiteSession,
    options: Options,
    seeds: int | None,
    only: Mapping[str, list[str]],
    started: Callable[[Plan, int], None],
    progress: Callable[[Planned, TrialStatus], None],
    notice: Callable[[str], None] = lambda line: None,
    plugin_options: Mapping[str, Any] | None = None,
) -> RunReport:
    """Run what is missing of a suite, then let the plugins make of the records what they do.

    Records that are damaged are set aside, and their trials run again.

    Args:
        session: the suite and its places.
        options: how to run.
        seeds: only the first so many seeds.
        only: filter by data set, method, costs.
        started: called with the plan and the number of trials to compute.
        progress: called after every trial.
        notice: called with a line that people should see at once.
        plugin_options: options that plugins added to the command, by name.

    Raises:
        StoreError: what is written to the store is damaged again and again.
    """
    session.store.sweep()
    for trial in take_crashed(session.store.path):
        notice(f"an earlier run died while it ran {trial}; a trial without a record is run again")
    metrics = tuple(session.suite.needed_metrics())
    summary, retried = Summary(), options.retry_failed
    report: RunReport | None = None
    for _ in range(_ROUNDS):
        asked = session.plan(seeds, only)
        if report is None:
            report = RunReport(asked, summary, 0)
        started(asked, len(asked.to_run(options.retry_failed)))
        now = execute(
            asked,
            session.registry,
            session.store.path,
            session.context,
            metrics,
            options,
            session.cache,
            progress,
        )
        summary.computed += now.computed
        summary.failures += now.failures
        whole = session.plan() if seeds is not None or only or now.computed else asked
        finished = FinishedRun(session, whole, summary.computed, plugin_options or {})
        with suppress(DamagedRecordsError):
            _finish(finished, report)
        for line in session.warnings():
            notice(line)
        moved = session.store.set_aside()
        if not moved:
            break
        notice(
            f"{len(moved)} record(s) were moved to {session.store.path / DAMAGED}; their trials are run again"
        )
        report.plan.forget(moved - session.known.done)
        options = replace(options, retry_failed=False)
    else:
        raise StoreError(
            f"{session.store.path} damages what is written to it; see {session.store.path / DAMAGED}"
        )
    failed = {planned.name for planned in report.plan.planned if planned.state == "failed"}
    report.earlier_failures = 0 if retried else len(failed)
    return report


def _finish(run: FinishedRun, report: RunReport) -> None:
    """Call the plugins; where none makes anything of the records, tabulate them.

    Raises:
        DamagedRecordsError: the trials of damaged records have to be run again first.
    """
    report.made, report.table, report.refused = (), None, ""
    try:
        report.made = tuple(run.session.registry.manager.hook.bench_run_finished(run=run))
    except RequestError as error:
        report.refused = str(error)
        return
    if not report.made:
        report.table = summary_table(run.session.suite, run.plan, run.session.store)
    if run.session.store.unbelieved:
        raise DamagedRecordsError("damaged records were read")


def summary_table(suite: Suite, plan: Plan, store: Store) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a short table: what each method's default policy does on the test part, mean over seeds.

    The default policy is the first of a family, at the first point of the suite's grid.
    """
    values: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for planned, record in stored_records(plan, store, suite.needed_metrics()):
        trial = planned.trial
        found = values.setdefault((trial.dataset, trial.costs, trial.method), [])
        if record is not None and record["status"] == "ok" and trial.point == 0:
            found.append({name: column[0] for name, column in record["policies"]["test"].items()})
    rows = []
    for (dataset, costs, method), found in values.items():
        cells = []
        for name, metric in suite.metrics.items():
            known = [one[name] for one in found if one.get(name) is not None]
            mean = sum(known) / len(known) if known else None
            cells.append("–" if mean is None else f"{100 * mean:.1f} %" if metric.percent else f"{mean:.4g}")
        rows.append([dataset, costs, method, *cells, str(len(found))])
    heads = [metric.title or name for name, metric in suite.metrics.items()]
    return ["data set", "costs", "method", *heads, "seeds"], rows


def describe_plan(session: SuiteSession, plan: Plan) -> tuple[list[list[str]], list[str]]:
    """A table of counts by data set and method (`PLAN_HEAD`), and lines on records of other code.

    Trials whose stored records are damaged become missing in the plan.
    """
    stale = other_code(session, plan)
    plan.forget(session.store.unbelieved - session.known.done)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for planned in plan.planned:
        counter = counts.setdefault((planned.trial.dataset, planned.trial.method), Counter())
        counter[planned.state] += 1
    rows = [
        [dataset, method, str(count.total()), *(str(count[state]) for state in PLAN_HEAD[3:])]
        for (dataset, method), count in counts.items()
    ]
    return rows, stale


def inapplicable_lines(plan: Plan) -> list[str]:
    """A line for every method that cannot be tried on a data set, and why."""
    lines = {f"not applicable: {m} on {d}: {why}": None for (d, _, m), why in plan.inapplicable().items()}
    return list(lines)


def other_code(session: SuiteSession, plan: Plan) -> list[str]:
    """Methods whose stored records were made by other source code than is installed now."""
    stale: Counter[str] = Counter()
    for planned in plan.planned:
        if planned.state != "done":
            continue
        record = session.store.read(planned.name, decisions=False)
        provenance = record["provenance"] if record else session.known.provenance(planned.name)
        plugin = session.registry.plugin_of("methods", planned.trial.method_use)
        made_by = provenance.get("plugins", {}).get(plugin.name, {})
        if made_by.get("source") != plugin.source[:16]:
            stale[planned.trial.method] += 1
    return [f"{method}: {count} record(s) were made by other code" for method, count in stale.items()]
