"""The hooks of this plugin: tables that ``bench export`` writes, and what of a record is published."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite
    from bench_records.records import Records

__all__ = ["bench_budget_table", "bench_shown_names"]

hookspec = pluggy.HookspecMarker("budgetbench")


@hookspec(firstresult=True)
def bench_budget_table(records: Records, suite: Suite) -> pd.DataFrame | None:
    """The table of ``bench export --budgets``: a row per trial and budget.

    Implement it with ``@hookimpl(optionalhook=True)``. The first answer that is not None counts.
    """


@hookspec
def bench_shown_names(suite: Suite) -> Collection[str]:  # type: ignore[empty-body]
    """What the suite's page shows of a fit beside the numbers of its policies: only this is published.

    Names of series of the history, of details of policies, and of the keys ``usage`` and ``evaluations`` of records.
    Implement it with ``@hookimpl(optionalhook=True)``.

    Example::

        @hookimpl(optionalhook=True)
        def bench_shown_names(suite):
            return [claim.series for claim in suite.section("claims")]
    """
