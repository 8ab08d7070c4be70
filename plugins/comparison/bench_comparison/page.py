"""What comparisons add to a suite's page, and the files beside it."""

from __future__ import annotations

from typing import Any

from bench_analysis import Analysed
from bench_leaderboard import FigureEntry, MetricsEntry, PagePart, splits_so_far

from bench_comparison.findings import main_view
from bench_comparison.overall import overall_of
from bench_comparison.populations import comparison_of
from bench_comparison.question import answer_once, populations_once, scale_once
from bench_comparison.render.answer_page import render_answer
from bench_comparison.render.budgets import render_absolute, render_rows
from bench_comparison.render.cross_dataset import overall_sections

__all__ = ["page_part"]


def page_part(analysed: Analysed, order: int) -> PagePart:
    """Results over all data sets: the files of the suite's comparison, or else a table of means and ranks on the page.

    Means and ranks are over the data sets on which all methods have a result. A comparison at budgets counts every
    method on every data set, so the page links its files instead.

    Args:
        analysed: a suite and its records.
        order: place on the page.
    """
    data, files = _comparison(analysed)
    if data:
        name = analysed.suite.name
        links = f"[What each method loses at each budget]({name}/answer.md)"
        answered = main_view(data["losses"]) is not None
        figures = [FigureEntry(kind="answer")] if answered else []
        lines = ["## Over all data sets", "", links, ""]
        return PagePart(order, lines, figures, lead="answer", data=data, files=files)
    overall = overall_of(analysed)
    lines = [] if overall is None else overall_sections(analysed.suite, overall)
    ranked = overall is not None and bool(overall.comparisons)
    return PagePart(order, lines, [MetricsEntry(kind="critical-difference")] if ranked else [])


def _comparison(analysed: Analysed) -> tuple[dict[str, Any], dict[str, str]]:
    """The results of a suite's comparison at budgets, and its files; empty where the suite compares nothing."""
    suite, records = analysed.suite, analysed.records
    entry = comparison_of(suite)
    if entry is None or records.policies.empty:
        return {}, {}
    answer = answer_once(analysed)
    if answer is None:
        return {}, {}
    rows = ((grid.dataset, row.done, row.expected) for grid in analysed.tables for row in grid.rows)
    files = {
        "answer.md": render_answer(suite, answer, splits_so_far(rows)),
        "budgets.csv": render_rows(suite, records, entry, populations_once(analysed)),
    }
    if entry.absolute:
        files["absolute.csv"] = render_absolute(suite, records, entry)
    return {"losses": answer, "scale": scale_once(analysed)}, files
