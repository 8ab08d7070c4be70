"""A suite's page: a pure function of the suite and its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from bench_records import Records, is_over_limit, outdated, select

from bench_core import Suite
from bench_leaderboard.analysis.cells import Cells
from bench_leaderboard.analysis.claims import check_claims
from bench_leaderboard.analysis.grid_ends import grid_ends
from bench_leaderboard.analysis.overall import Overall, overall
from bench_leaderboard.analysis.tables import Grid, grids
from bench_leaderboard.analysis.verdicts import Checked
from bench_leaderboard.render.claims import claims_section
from bench_leaderboard.render.cross_dataset import overall_sections
from bench_leaderboard.render.curves import curve_section, figure_section
from bench_leaderboard.render.extra_tables import extra_sections
from bench_leaderboard.render.figure import Figure, Ranking
from bench_leaderboard.render.grid_ends import grid_section
from bench_leaderboard.render.markdown import table, text
from bench_leaderboard.render.page_figures import figures_of
from bench_leaderboard.render.provenance import provenance_section
from bench_leaderboard.render.tables import MARKS_READ, dataset_section, paper_numbers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Analysed", "render_page"]

_READING = (
    "Every row is the policy that validation selected (the rule is in the column *Selected by*), evaluated on the "
    "test part: the mean over seeds, ± half the width of its 95 % interval. Random splits of the same rows overlap, "
    "so their results are more alike than those of new rows would be; the interval is wider for it, by the correction"
    " of Nadeau and Bengio (2003). Where the split is given there is nothing to correct: the interval is of the "
    "method's own randomness on these rows. Where ± would reach below 0 for what cannot be negative, or above 100 %, "
    "the interval stands in brackets, made on the scale of logarithms (of log-odds) with the same variance. What is "
    "undefined on a seed, as the accuracy of a policy that answers nothing, is counted and not averaged. Costs are "
    "what the core charged for the features a policy acquired, after the audit."
)


@dataclass
class Analysed:
    """A suite's records with what is computed of them once and used by several pages.

    Attributes:
        suite, records: what it is of.
        verified: see `bench_records.verified.read_verified`.
    """

    suite: Suite
    records: Records
    verified: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> Cells:
        """The selected policies' numbers."""
        return Cells(select(self.records, self.suite))

    @cached_property
    def tables(self) -> list[Grid]:
        """Every data set's table."""
        return grids(self.records, self.suite, self.cells)

    @cached_property
    def claims(self) -> list[Checked]:
        """Every claim with its verdict."""
        return check_claims(self.suite, self.records, self.cells)

    @cached_property
    def overall(self) -> Overall | None:
        """The table over all data sets; None when there is none to make."""
        return overall(self.tables, self.suite, self.cells)

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """Average ranks by every metric that is compared over data sets, for critical difference diagrams."""
        compared = self.overall.comparisons.values() if self.overall is not None else ()
        return tuple(
            Ranking(
                title=self.suite.metric(comparison.metric).title or comparison.metric,
                names=tuple(comparison.methods),
                ranks=tuple(comparison.ranks.tolist()),
                cd=comparison.difference,
                note=f"{comparison.datasets} data sets, Nemenyi's test at 5 %",
            )
            for comparison in compared
        )

    @cached_property
    def figures(self) -> list[Figure]:
        """The page's figures; not yet drawn."""
        return figures_of(self.suite, self.records, self.rankings)


def render_page(analysed: Analysed) -> str:
    """The leaderboard page of a suite, in Markdown, ending in a newline."""
    suite, records = analysed.suite, analysed.records
    head = suite.file.suite
    parts = [f"# {text(head.title or head.name)}", "", *_outdated(suite, records)]
    for paragraph in (head.description, f"Source: {head.source}" if head.source else ""):
        if paragraph:
            parts += [text(paragraph), ""]
    parts += [_READING, "", MARKS_READ, ""]
    if suite.least_coverage:
        least = f"{100 * suite.least_coverage:g} %"
        parts += [
            f"A policy that answers less than {least} of the validation rows is chosen by a metric only if all do.",
            "",
        ]
    if suite.section("paper"):
        parts += ["Beside our numbers stand the paper's: (paper …).", ""]
    parts += [f"[Timings]({suite.name}/timings.md) · [all suites](README.md)", ""]
    if analysed.overall is not None:
        parts += overall_sections(suite, analysed.overall)
    parts += claims_section(analysed.claims)
    paper = paper_numbers(suite)
    for grid in analysed.tables:
        parts += dataset_section(suite, records, grid, paper)
    parts += curve_section(suite, analysed.figures)
    parts += figure_section(suite, analysed.figures)
    parts += extra_sections(suite, records)
    parts += grid_section(suite, grid_ends(records, analysed.cells))
    parts += _failures(records)
    parts += provenance_section(suite, records, analysed.verified)
    return "\n".join(parts).rstrip() + "\n"


def _outdated(suite: Suite, records: Records) -> list[str]:
    """A warning at the top where records are of an earlier definition; they are shown until new ones are there."""
    counts = outdated(suite, records)
    if not counts:
        return []
    reasons = "; ".join(f"{text(method)}: {count} ({text(why)})" for (method, why), count in sorted(counts.items()))
    return [
        f"**{sum(counts.values())} records of this page are being recomputed.** They were made by an earlier "
        f"definition of what the suite asks for now: {reasons}.",
        "",
    ]


def _failures(records: Records) -> list[str]:
    frame = records.policies
    failed = frame[frame["status"] == "failed"] if len(frame) else frame
    if failed.empty:
        return []
    failed = failed.drop_duplicates(["name", "dataset", "costs", "method"])
    slow = failed["name"].map(lambda name: is_over_limit(records.infos[name])).astype(bool)
    lines = _listed("Failed trials", failed[~slow], records)
    return lines + _listed("Over the time limit", failed[slow], records)


def _listed(title: str, failed: pd.DataFrame, records: Records) -> list[str]:
    """A section with a row per trial that has no result, and why."""
    if failed.empty:
        return []
    body = [
        [text(row.method), text(row.dataset), str(row.seed), text(_why(records.infos[str(row.name)]))]
        for row in failed.head(50).itertuples(index=False)
    ]
    more = len(failed) - len(body)
    lines = [f"## {title}", "", table(["Method", "Data set", "Seed", "Why"], body), ""]
    return [*lines, f"And {more} more.", ""] if more > 0 else lines


def _why(info: dict[str, object]) -> str:
    error = info["error"]
    return f"{error['type']}: {error['message']}" if isinstance(error, dict) else str(error)
