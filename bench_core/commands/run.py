"""``bench run`` and ``bench plan``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench_core.commands import stamp
from bench_core.commands.leaderboard import publish
from bench_core.commands.session import SuiteSession
from bench_core.execute import Done, Options, Summary, execute
from bench_core.plan import Plan, Planned

__all__ = ["RunReport", "describe_plan", "other_code", "run_suite"]


@dataclass
class RunReport:
    """What a run did and left.

    Attributes:
        plan: what was asked for, as it was before.
        summary: what was computed.
        written: pages and exports that changed.
        earlier_failures: failed trials that were not tried again.
    """

    plan: Plan
    summary: Summary
    written: list[str]
    earlier_failures: int

    @property
    def exit_code(self) -> int:
        """0: all done; 1: a trial failed or data is missing."""
        return 1 if self.summary.failures or self.earlier_failures or self.plan.unavailable else 0


def run_suite(
    session: SuiteSession,
    options: Options,
    seeds: int | None,
    only: Mapping[str, list[str]],
    started: Callable[[Plan, int], None],
    progress: Callable[[Planned, Done], None],
) -> RunReport:
    """Run what is missing of a suite, then write its page and export.

    Args:
        session: the suite and its places.
        options: how to run.
        seeds: only the first so many seeds.
        only: filter by data set, method, costs.
        started: called with the plan and the number of trials to compute.
        progress: called after every trial.
    """
    session.store.sweep()
    plan = session.plan(seeds, only)
    todo = plan.to_run(options.retry_failed)
    started(plan, len(todo))
    metrics = tuple(session.suite.needed_metrics())
    summary = execute(
        plan, session.registry, session.store.path, session.context, metrics, options, session.cache, progress
    )
    whole = session.plan() if seeds is not None or only or summary.computed else plan
    written = [] if not summary.computed and stamp.holds(session, whole) else publish(session, whole)
    earlier = 0 if options.retry_failed else len({p.name for p in plan.planned if p.state == "failed"})
    return RunReport(plan, summary, [str(path) for path in written], earlier)


def describe_plan(session: SuiteSession, plan: Plan) -> tuple[list[list[str]], list[str]]:
    """A table (data set, method, trials, done, failed, missing) and the names of records from other code."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for planned in plan.planned:
        counter = counts.setdefault((planned.trial.dataset, planned.trial.method), Counter())
        counter[planned.state] += 1
    rows = [
        [dataset, method, str(count.total()), *(str(count[state]) for state in ("done", "failed", "missing"))]
        for (dataset, method), count in counts.items()
    ]
    return rows, other_code(session, plan)


def other_code(session: SuiteSession, plan: Plan) -> list[str]:
    """Methods whose stored records were made by other source code than is installed now."""
    stale: Counter[str] = Counter()
    exported = session.committed.records
    committed = {} if exported is None else exported.runs
    for planned in plan.planned:
        if planned.state != "done":
            continue
        record = session.store.read(planned.name) or committed.get(planned.name)
        plugin = session.registry.plugin_of("methods", planned.trial.method_use)
        made_by = (record or {}).get("provenance", {}).get("plugins", {}).get(plugin.name, {})
        if made_by.get("source") != plugin.source[:16]:
            stale[planned.trial.method] += 1
    return [f"{method}: {count} record(s) were made by other code" for method, count in stale.items()]
