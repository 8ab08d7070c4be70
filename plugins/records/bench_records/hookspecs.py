"""The hooks of this plugin, which other plugins implement: tables that ``bench export`` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite
    from bench_records.records import Records

__all__ = ["bench_budget_table"]

hookspec = pluggy.HookspecMarker("budgetbench")


@hookspec(firstresult=True)
def bench_budget_table(records: Records, suite: Suite) -> pd.DataFrame | None:
    """The table of ``bench export --budgets``: a row per trial and budget.

    Implement it with ``@hookimpl(optionalhook=True)``. The first answer that is not None counts.
    """
