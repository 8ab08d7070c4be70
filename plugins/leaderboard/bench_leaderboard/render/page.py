"""A suite's page: a pure function of the suite and its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_records import Records, is_over_limit, outdated

from bench_core import Suite
from bench_leaderboard.analysis.analysed import Analysed
from bench_leaderboard.analysis.grid_ends import grid_ends
from bench_leaderboard.parts import page_parts
from bench_leaderboard.render.curves import curve_section, figure_section
from bench_leaderboard.render.extra_tables import extra_sections
from bench_leaderboard.render.grid_ends import grid_section
from bench_leaderboard.render.markdown import table, text
from bench_leaderboard.render.page_figures import figures_of
from bench_leaderboard.render.provenance import provenance_section
from bench_leaderboard.render.tables import MARKS_READ, dataset_section, paper_numbers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["render_page"]

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


def render_page(analysed: Analysed) -> str:
    """The leaderboard page of a suite, in Markdown, ending in a newline."""
    suite, records, figures = analysed.suite, analysed.records, figures_of(analysed)
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
    for part in page_parts(analysed):
        parts += part.lines
    paper = paper_numbers(suite)
    for grid in analysed.tables:
        parts += dataset_section(suite, records, grid, paper)
    parts += curve_section(suite, figures)
    parts += figure_section(suite, figures)
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
