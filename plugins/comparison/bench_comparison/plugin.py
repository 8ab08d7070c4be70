"""The hooks of comparisons: a section of suites, parts of pages, a figure, and a table of every budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench_core import hookimpl
from bench_core.suites import RegisterSuiteSection, SectionRules, SuiteSection

if TYPE_CHECKING:
    import pandas as pd
    from bench_analysis import Analysed
    from bench_leaderboard import FrontPart, PagePart, RegisterFigure
    from bench_records import Records

    from bench_core.suites import Suite

BENCH_CONTRACT_VERSION = 1

ORDER = 10
"""Place of these parts on pages."""


def _rules() -> SectionRules:
    from bench_comparison.section import RULES

    return RULES


@hookimpl
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """The comparison at budgets."""
    register(SuiteSection("comparison", _rules))


@hookimpl(optionalhook=True)
def bench_register_figures(register: RegisterFigure) -> None:
    """Critical difference diagrams; quality by budget, with what dynamic acquisition adds."""
    register("critical-difference", "bench_comparison.figures:CriticalDifference")
    register("answer", "bench_comparison.figures:QualityByBudget")


@hookimpl(optionalhook=True)
def bench_page_parts(analysed: Analysed) -> PagePart:
    """Means and ranks over all data sets, and the comparison at budgets."""
    from bench_comparison.page import page_part

    return page_part(analysed, ORDER)


@hookimpl(optionalhook=True)
def bench_front_parts(described: Sequence[Mapping[str, Any]]) -> FrontPart:
    """Which method, at which budget."""
    from bench_comparison.render.front import front_part

    return front_part(described, ORDER)


@hookimpl(optionalhook=True)
def bench_budget_table(records: Records, suite: Suite) -> pd.DataFrame:
    """What every trial answers at every budget."""
    from bench_comparison.budget_table import budget_table

    return budget_table(records, suite)
