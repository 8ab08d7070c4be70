"""The leaderboard's hooks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench_core import FinishedRun, RegisterSuiteSection, SectionRules, SuiteSection, SuiteSession, hookimpl

if TYPE_CHECKING:
    from bench_leaderboard.analysis.export import Committed

BENCH_CONTRACT_VERSION = 1


def _rules(key: str) -> SectionRules:
    from bench_leaderboard.sections import RULES

    return RULES[key]


@hookimpl
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """Further tables and figures, the paper's numbers and its claims."""
    for key in ("tables", "figures", "paper", "claims"):
        register(SuiteSection(key, partial(_rules, key)))


@hookimpl
def bench_known_trials(session: SuiteSession) -> Committed | None:
    """The trials of the suite's published export."""
    from bench_leaderboard.analysis.export import Committed

    return Committed(session.folder, session.suite.needed_metrics())


@hookimpl
def bench_run_finished(run: FinishedRun) -> str:
    """Write the suite's page, figures and export, unless they are what they would be."""
    from bench_leaderboard.publish import publish_run

    return str(publish_run(run))
