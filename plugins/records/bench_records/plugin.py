"""The entry point of this plugin: it adds hooks, and reports the trials that a suite's export holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

from bench_core import hookimpl

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession
    from bench_records.committed import Committed

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Add the hook specifications of `bench_records.hookspecs`."""
    from bench_records import hookspecs

    manager.add_hookspecs(hookspecs)


@hookimpl
def bench_known_trials(session: SuiteSession) -> Committed | None:
    """Return the trials of the suite's published export."""
    from bench_records.committed import Committed

    return Committed(session.folder, session.suite.needed_metrics())
