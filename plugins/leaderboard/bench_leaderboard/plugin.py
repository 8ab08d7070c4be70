"""The leaderboard's hooks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pluggy

from bench_core import RegisterSuiteSection, SectionRules, SuiteSection, hookimpl
from bench_leaderboard.hookspecs import RegisterFigure

if TYPE_CHECKING:
    import pandas as pd
    from bench_records import Records

    from bench_core import FinishedRun, Suite, Written

BENCH_CONTRACT_VERSION = 1

_KINDS = "bench_leaderboard.render.figure_kinds"
FIGURES = {
    "curve": f"{_KINDS}:Curve",
    "bars": f"{_KINDS}:Bars",
    "history": f"{_KINDS}:History",
    "feature-usage": f"{_KINDS}:FeatureUsage",
    "critical-difference": f"{_KINDS}:CriticalDifference",
    "scatter": f"{_KINDS}:Scatter",
}


def _rules(key: str) -> SectionRules:
    from bench_leaderboard.sections import RULES

    return RULES[key]


@hookimpl
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """Further tables and figures, the paper's numbers and its claims, and the comparison at budgets."""
    for key in ("tables", "figures", "paper", "claims", "comparison"):
        register(SuiteSection(key, partial(_rules, key)))


@hookimpl
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Let other plugins register kinds of figures."""
    from bench_leaderboard import hookspecs

    manager.add_hookspecs(hookspecs)


@hookimpl
def bench_register_figures(register: RegisterFigure) -> None:
    """The kinds of figures that any suite can have."""
    for kind, place in FIGURES.items():
        register(kind, place)


@hookimpl(optionalhook=True)
def bench_budget_table(records: Records, suite: Suite) -> pd.DataFrame:
    """What every trial answers at every budget."""
    from bench_leaderboard.analysis.budget_table import budget_table

    return budget_table(records, suite)


@hookimpl
def bench_run_finished(run: FinishedRun) -> Written:
    """Write the suite's page, figures and export, unless they are what they would be."""
    from bench_core import Written
    from bench_leaderboard.commands.results import results_table
    from bench_leaderboard.publish import publish_run

    page = publish_run(run)
    return Written(str(page), results_table(run.session.folder))
