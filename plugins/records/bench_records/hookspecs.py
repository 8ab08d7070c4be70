"""The hooks of this plugin: the table of ``bench export --budgets``, and the parts of records that are published."""

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

    Implement it with ``@hookimpl(optionalhook=True)``. The first result that is not None is used.
    """


@hookspec
def bench_shown_names(suite: Suite) -> Collection[str]:  # type: ignore[empty-body]
    """Return the names of the details of a fit that the suite's page shows. Other details are not published.

    Names are those of series in the history and of details of policies, and the keys ``usage`` and ``evaluations``.
    Implement it with ``@hookimpl(optionalhook=True)``.

    Example::

        @hookimpl(optionalhook=True)
        def bench_shown_names(suite):
            return [claim.series for claim in suite.section("claims")]
    """
