"""The pages of single data sets, where a suite has too many for one page: GitHub does not show pages of a megabyte."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bench_analysis import Analysed, Grid
from bench_records import distinct

from bench_core.suites import Suite
from bench_leaderboard.render.curves import curve_section
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.figure_builder import file_slug
from bench_leaderboard.render.page_figures import figures_of
from bench_leaderboard.render.tables import dataset_section, heading, paper_numbers
from bench_leaderboard.render.templates import rendered

__all__ = ["MOST_ON_A_PAGE", "DatasetPage", "dataset_pages", "is_divided", "of_single_datasets", "render_dataset_page"]

MOST_ON_A_PAGE = 12
"""A suite with more tables than this, one for each data set and cost scheme, has a page for each data set."""
_RESERVED = (
    "answer", "budgets", "claims", "curves", "dynamic", "figures", "index", "provenance", "readme", "results", "timings"
)  # fmt: skip
"""Names of other pages in a suite's folder, here or on the site."""


@dataclass(frozen=True)
class DatasetPage:
    """A data set's page.

    Attributes:
        dataset: its name.
        file: the page's name in the suite's folder.
        grids: its tables, one for each cost scheme.
    """

    dataset: str
    file: str
    grids: tuple[Grid, ...]

    def headings(self, suite: Suite) -> list[str]:
        """Headings of its tables."""
        return [heading(suite, grid.dataset, grid.costs) for grid in self.grids]


def is_divided(analysed: Analysed) -> bool:
    """Whether data sets have pages of their own."""
    return len(analysed.tables) > MOST_ON_A_PAGE


def dataset_pages(analysed: Analysed) -> list[DatasetPage]:
    """The pages of single data sets, in the suite's order; empty where they all stand on the suite's page."""
    if not is_divided(analysed):
        return []
    stems = distinct(dict.fromkeys(grid.dataset for grid in analysed.tables), file_slug, _RESERVED)
    return [
        DatasetPage(dataset, f"{stem}.md", tuple(grid for grid in analysed.tables if grid.dataset == dataset))
        for dataset, stem in stems.items()
    ]


def of_single_datasets(figures: Collection[Figure], pages: Collection[DatasetPage], suite: Suite) -> list[Figure]:
    """The figures that stand on pages of data sets."""
    headings = {text for page in pages for text in page.headings(suite)}
    return [figure for figure in figures if figure.heading in headings]


def render_dataset_page(analysed: Analysed, page: DatasetPage) -> str:
    """A data set's page in Markdown, ending in a newline: tables, curves and figures."""
    suite, records = analysed.suite, analysed.records
    paper = paper_numbers(suite)
    figures = of_single_datasets(figures_of(analysed), [page], suite)
    text = rendered(
        "dataset_page",
        dataset=page.dataset,
        name=suite.name,
        title=suite.file.suite.title or suite.name,
        tables="".join(dataset_section(suite, records, grid, paper) for grid in page.grids),
        curves=curve_section(suite, figures, place="", with_rules=False),
        figures=[figure for figure in figures if figure.panel is None],
    )
    return text.rstrip() + "\n"
