"""A suite's page: a pure function of the suite and its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench_analysis import Analysed, grid_ends_of, optimism_of
from bench_records import Records, is_over_limit, outdated

from bench_leaderboard.parts import page_parts
from bench_leaderboard.render.curves import curve_section, figure_section
from bench_leaderboard.render.dataset_pages import DatasetPage, dataset_pages, of_single_datasets
from bench_leaderboard.render.extra_tables import extra_sections
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.markdown import table, text
from bench_leaderboard.render.page_figures import figures_of
from bench_leaderboard.render.provenance import provenance
from bench_leaderboard.render.splits import splits_so_far
from bench_leaderboard.render.tables import dataset_section, grid_table, heading, optimism_table, paper_numbers
from bench_leaderboard.render.templates import rendered

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["render_page"]

_SHOWN = 50
_COUNTS = ("done", "expected")


def render_page(analysed: Analysed) -> str:
    """The leaderboard page of a suite, in Markdown, ending in a newline."""
    suite, records, figures = analysed.suite, analysed.records, figures_of(analysed)
    own = dataset_pages(analysed)
    elsewhere = of_single_datasets(figures, own, suite)
    here = [figure for figure in figures if figure not in elsewhere]
    head, paper = suite.file.suite, paper_numbers(suite)
    page = rendered(
        "page",
        title=head.title or head.name,
        name=suite.name,
        lead=_lead(analysed, here),
        description=head.description,
        source=head.source,
        splits=splits_so_far((grid.dataset, row.done, row.expected) for grid in analysed.tables for row in grid.rows),
        outdated=sorted(outdated(suite, records).items()),
        least_coverage=f"{100 * suite.least_coverage:g}" if suite.least_coverage else "",
        without_column=_without_column(analysed),
        has_paper=bool(suite.section("paper")),
        parts="".join(f"{line}\n" for part in page_parts(analysed) for line in part.lines),
        datasets="" if own else "".join(dataset_section(suite, records, grid, paper) for grid in analysed.tables),
        pages=_listed_pages(analysed, own),
        curves=curve_section(suite, figures, with_figures=not own),
        figures=figure_section(suite, here),
        tables="".join(f"{line}\n" for line in extra_sections(suite, records)),
        grid_ends=grid_table(suite, grid_ends_of(records, analysed.cells)),
        optimism=optimism_table(optimism_of(analysed)),
        failed=_failures(suite, records),
        **provenance(suite, records, analysed.verified),
    )
    return page.rstrip() + "\n"


def _lead(analysed: Analysed, figures: Sequence[Figure]) -> Figure | None:
    """The picture at the top of the page: the first of a kind that a part names, or else the first of all."""
    kinds = {part.lead for part in page_parts(analysed)}
    return next((figure for figure in figures if figure.kind in kinds), figures[0] if figures else None)


def _without_column(analysed: Analysed) -> list[str]:
    """Titles of the suite's metrics that no table shows, because no row has a value or none has queries."""
    shown = {name for grid in analysed.tables for name in grid.columns}
    return [
        metric.title or name for name, metric in analysed.suite.metrics.items() if analysed.tables and name not in shown
    ]


def _listed_pages(analysed: Analysed, pages: Sequence[DatasetPage]) -> str:
    """The table of data sets with pages of their own; empty where there are none.

    Trials that will have no result, such as those that are not applicable, are not counted. Each count is followed by
    the number planned, unless every data set is complete.
    """
    suite, ended = analysed.suite, analysed.records.ended
    rows = []
    for page in pages:
        done, expected = (sum(getattr(row, key) for grid in page.grids for row in grid.rows) for key in _COUNTS)
        places = [(grid.dataset, grid.costs, row.method) for grid in page.grids for row in grid.rows]
        expected -= sum(sum(ended.get(place, {}).values()) for place in places)
        prices = ", ".join(text(grid.costs) for grid in page.grids)
        rows.append((f"[{text(page.dataset)}]({suite.name}/{page.file})", prices, done, expected))
    complete = all(done == expected for _, _, done, expected in rows)
    body = [[*cells, f"{done}" if complete else f"{done} of {expected}"] for *cells, done, expected in rows]
    return table(["Data set", "Cost schemes", "Trials run"], body, 2) if body else ""


def _failures(suite: Suite, records: Records) -> list[dict[str, Any]]:
    """Trials that have no result, and why, in two tables: those that failed, and those over the time limit."""
    frame = records.policies
    failed = frame[frame["status"] == "failed"] if len(frame) else frame
    if failed.empty:
        return []
    failed = failed.drop_duplicates(["name", "dataset", "costs", "method"])
    slow = failed["name"].map(lambda name: is_over_limit(records.infos[name])).astype(bool)
    groups = {"Failed trials": failed[~slow], "Over the time limit": failed[slow]}
    return [_listed(title, group, suite, records) for title, group in groups.items()]


def _listed(title: str, failed: pd.DataFrame, suite: Suite, records: Records) -> dict[str, Any]:
    rows = []
    for row in failed.head(_SHOWN).itertuples(index=False):
        where = heading(suite, str(row.dataset), str(row.costs))
        rows.append([text(row.method), text(where), str(row.seed), text(_why(records.infos[str(row.name)]))])
    return {"title": title, "rows": rows, "more": len(failed) - len(rows)}


def _why(info: dict[str, object]) -> str:
    error = info["error"]
    return f"{error['type']}: {error['message']}" if isinstance(error, dict) else str(error)
