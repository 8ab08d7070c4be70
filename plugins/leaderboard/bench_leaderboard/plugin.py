"""The leaderboard's hooks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pluggy

from bench_core import hookimpl
from bench_core.suites import RegisterSuiteSection, SectionRules, SuiteSection
from bench_leaderboard.hookspecs import RegisterFigure

if TYPE_CHECKING:
    from bench_analysis import Analysed

    from bench_core.suites import FinishedRun, Suite, Written
    from bench_leaderboard.parts import PagePart

BENCH_CONTRACT_VERSION = 1

_KINDS = "bench_leaderboard.render.figure_kinds"
FIGURES = {
    "curve": f"{_KINDS}:Curve",
    "bars": f"{_KINDS}:Bars",
    "history": f"{_KINDS}:History",
    "feature-usage": f"{_KINDS}:FeatureUsage",
    "scatter": f"{_KINDS}:Scatter",
}


def _rules(key: str) -> SectionRules:
    from bench_leaderboard.sections import RULES

    return RULES[key]


@hookimpl
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """Further tables and figures, the paper's numbers, and why grids end where they do."""
    for key in ("tables", "figures", "paper", "grid_ends"):
        register(SuiteSection(key, partial(_rules, key)))


@hookimpl
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Let other plugins register kinds of figures and add to pages."""
    from bench_leaderboard import hookspecs

    manager.add_hookspecs(hookspecs)


@hookimpl
def bench_register_figures(register: RegisterFigure) -> None:
    """The kinds of figures that any suite can have."""
    for kind, place in FIGURES.items():
        register(kind, place)


@hookimpl(optionalhook=True)
def bench_shown_names(suite: Suite) -> set[str]:
    """The names in entries of tables and figures."""
    from bench_leaderboard.render.page_figures import shown_by_figures
    from bench_leaderboard.texts import texts_in

    return {*texts_in(suite.section("tables")), *shown_by_figures(suite)}


@hookimpl
def bench_page_parts(analysed: Analysed) -> PagePart | None:
    """Accuracy under hard budgets, where the suite has some."""
    from bench_leaderboard.render.caps import caps_part

    return caps_part(analysed)


@hookimpl
def bench_run_finished(run: FinishedRun) -> Written:
    """Write the suite's page, figures and export, unless they are current."""
    from bench_core.suites import Written
    from bench_leaderboard.other_code import other_code
    from bench_leaderboard.publish import publish_run
    from bench_leaderboard.render.results import results_table

    page, other = publish_run(run), other_code(run)
    asked = {(p.trial.dataset, p.trial.costs, p.trial.method) for p in run.asked.planned}
    return Written(f"{page}; {other}" if other else str(page), results_table(run.session.folder, asked))
