"""``bench plan``: counts of trials by data set and method, and records that were made by other code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bench_core.suites import OVER_LIMIT, Plan, SuiteSession

__all__ = ["PLAN_HEAD", "describe_plan", "plan_as_plain"]

PLAN_HEAD = ["data set", "method", "trials", "done", "failed", OVER_LIMIT, "missing", "not applicable"]


def describe_plan(session: SuiteSession, plan: Plan) -> tuple[list[list[str]], list[str]]:
    """A table of counts by data set and method (`PLAN_HEAD`), and lines on records that were made by other code.

    Trials whose stored records are damaged become missing in the plan.
    """
    stale = _other_code(session, plan)
    plan.forget(session.store.unreadable - session.known.done)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for planned in plan.planned:
        counts.setdefault((planned.trial.dataset, planned.trial.method), Counter())[planned.state] += 1
    rows = [
        [dataset, method, str(count.total()), *(str(count[state]) for state in PLAN_HEAD[3:])]
        for (dataset, method), count in counts.items()
    ]
    return rows, stale


def _other_code(session: SuiteSession, plan: Plan) -> list[str]:
    """A line for every method whose stored records were made by source code that differs from the installed one."""
    stale: Counter[str] = Counter()
    for planned in plan.planned:
        if planned.state != "done":
            continue
        record = session.store.read(planned.name, attachment=False)
        provenance = record["provenance"] if record else session.known.provenance(planned.name)
        plugin = session.registry.plugin_of("methods", planned.trial.method_use)
        if not plugin.made(provenance):
            stale[planned.trial.method] += 1
    return [f"{method}: {count} record(s) were made by other code" for method, count in stale.items()]


def plan_as_plain(
    plan: Plan, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> dict[str, Any]:
    """A plan as plain values: counts of trials by data set and method, and in total.

    Args:
        plan: the plan.
        head: the names of the table's columns; all but the first two are counts.
        rows: the table of `describe_plan`.
        notes: lines that the command prints below the table.
    """
    counts: list[dict[str, Any]] = [dict(zip(head, [*row[:2], *map(int, row[2:])], strict=True)) for row in rows]
    total = {key: sum(row[key] for row in counts) for key in head[2:]}
    return {
        "rows": counts, "total": total, "to compute": len(plan.to_run()), "notes": list(notes),
        "unavailable": dict(plan.unavailable),
    }  # fmt: skip
