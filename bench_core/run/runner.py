"""``bench run`` and ``bench plan``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from bench_core.commands import stamp
from bench_core.commands.leaderboard import WouldLoseError, publish
from bench_core.contract.errors import StoreError
from bench_core.run.execute import Done, Options, Summary, execute
from bench_core.run.execute.markers import take_crashed
from bench_core.run.plan import Plan, Planned
from bench_core.run.session import SuiteSession
from bench_core.run.store import DAMAGED

__all__ = ["PLAN_HEAD", "RunReport", "describe_plan", "inapplicable_lines", "other_code", "run_suite"]

PLAN_HEAD = ["data set", "method", "trials", "done", "failed", "missing", "not applicable"]

_ROUNDS = 4
"""How often damaged records are set aside and computed again before the disk is to blame."""


@dataclass
class RunReport:
    """What a run did and left.

    Attributes:
        plan: what was asked for, as it was before.
        summary: what was computed.
        written: pages and exports that changed.
        earlier_failures: failed trials that were not tried again.
        refused: why the pages were not written; empty when they were.
    """

    plan: Plan
    summary: Summary
    written: list[str]
    earlier_failures: int
    refused: str = ""

    @property
    def exit_code(self) -> int:
        """0: all done; 1: a trial failed or data is missing; 2: the pages were not written."""
        if self.refused:
            return 2
        return 1 if self.summary.failures or self.earlier_failures or self.plan.unavailable else 0


def run_suite(
    session: SuiteSession,
    options: Options,
    seeds: int | None,
    only: Mapping[str, list[str]],
    started: Callable[[Plan, int], None],
    progress: Callable[[Planned, Done], None],
    notice: Callable[[str], None] = lambda line: None,
    drop: Collection[str] = (),
) -> RunReport:
    """Run what is missing of a suite, then write its page and export.

    Records that are damaged are set aside, and their trials run again.

    Args:
        session: the suite and its places.
        options: how to run.
        seeds: only the first so many seeds.
        only: filter by data set, method, costs.
        started: called with the plan and the number of trials to compute.
        progress: called after every trial.
        notice: called with a line that people should see at once.
        drop: labels of data sets, costs and methods whose published records may be lost.
    """
    session.store.sweep()
    for said in take_crashed(session.store.path):
        notice(f"an earlier run died while it ran {said}; a trial without a record is run again")
    metrics = tuple(session.suite.needed_metrics())
    summary, retried = Summary(), options.retry_failed
    plan: Plan | None = None
    for _ in range(_ROUNDS):
        asked = session.plan(seeds, only)
        plan = plan or asked
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
        fresh = not summary.computed and stamp.holds(session, whole)
        records = None if fresh else session.records(whole)
        for line in session.warnings():
            notice(line)
        moved = session.store.set_aside()
        if not moved:
            break
        notice(
            f"{len(moved)} record(s) were moved to {session.store.path / DAMAGED}; their trials are run again"
        )
        plan.forget(moved - session.committed.done)
        options = replace(options, retry_failed=False)
    else:
        raise StoreError(
            f"{session.store.path} damages what is written to it; see {session.store.path / DAMAGED}"
        )
    earlier = 0 if retried else len({p.name for p in plan.planned if p.state == "failed"})
    report = RunReport(plan, summary, [], earlier)
    if records is not None:
        try:
            report.written = [str(path) for path in publish(session, whole, drop, records)]
        except WouldLoseError as error:
            report.refused = str(error)
    return report


def describe_plan(session: SuiteSession, plan: Plan) -> tuple[list[list[str]], list[str]]:
    """A table of counts by data set and method (`PLAN_HEAD`), and lines on records of other code.

    Trials whose stored records are damaged become missing in the plan.
    """
    stale = other_code(session, plan)
    plan.forget(session.store.unbelieved - session.committed.done)
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
    exported = session.committed.records
    committed = {} if exported is None else exported.runs
    for planned in plan.planned:
        if planned.state != "done":
            continue
        record = session.store.read(planned.name, decisions=False) or committed.get(planned.name)
        plugin = session.registry.plugin_of("methods", planned.trial.method_use)
        made_by = (record or {}).get("provenance", {}).get("plugins", {}).get(plugin.name, {})
        if made_by.get("source") != plugin.source[:16]:
            stale[planned.trial.method] += 1
    return [f"{method}: {count} record(s) were made by other code" for method, count in stale.items()]
