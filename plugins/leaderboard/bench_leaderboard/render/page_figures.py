"""What a suite's page shows as figures.

Listing the drawings is cheap and needs no matplotlib, so a page links exactly the files that are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench_core import Suite
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.figures_schema import FigureEntry
from bench_leaderboard.render.figure import Figure, Ranking
from bench_leaderboard.render.figure_builders import BARS, FigureBuilder

__all__ = ["Figure", "Ranking", "figures_of"]


def figures_of(
    suite: Suite, records: Records, rankings: Sequence[Ranking] = (), kinds: Sequence[str] = ()
) -> list[Figure]:
    """Every figure of a suite's page, in order. Remembered with the records, for the page and the files to share.

    Args:
        rankings: drawn where the suite has a ``critical-difference`` entry, or at the end.
        kinds: only these; all when empty.
    """
    kept = records.__dict__.get("_drawings")
    if kept is None or kept[0] is not suite or kept[1] != tuple(rankings):
        kept = (suite, tuple(rankings), _apart(_made(suite, records, rankings)))
        records.__dict__["_drawings"] = kept
    made: list[Figure] = kept[2]
    return [one for one in made if not kinds or one.kind in kinds]


def _made(suite: Suite, records: Records, rankings: Sequence[Ranking]) -> list[Figure]:
    maker = FigureBuilder(suite, records, rankings)
    entries = _entries(suite, bool(rankings))
    made: list[Figure] = []
    for number, entry in enumerate(entries):
        same = [other for other in entries[:number] if other.kind == entry.kind]
        made += maker.make(entry, f"{entry.kind}{len(same) + 1}" if same else entry.kind)
    return made


def _apart(made: list[Figure]) -> list[Figure]:
    """The drawings with names of files that differ, also where file names know no case."""
    taken: set[str] = set()
    kept = []
    for one in made:
        file, again = one.file, 1
        while file in taken:
            again += 1
            file = f"{one.file.removesuffix('.svg')}-{again}.svg"
        taken.add(file)
        kept.append(replace(one, file=file))
    return kept


def _entries(suite: Suite, ranked: bool) -> list[FigureEntry]:
    """The suite's figures, after those that every page has unless the suite asks for that kind itself."""
    said: list[FigureEntry] = list(suite.section("figures"))
    kinds = {entry.kind for entry in said}
    entries = list(said)
    if "bars" not in kinds and all(name in suite.metrics for name in BARS):
        entries.insert(0, FigureEntry(kind="bars", metrics=list(BARS)))
    if "curve" not in kinds:
        entries.insert(0, FigureEntry(kind="curve"))
    if ranked and "critical-difference" not in kinds:
        entries.append(FigureEntry(kind="critical-difference"))
    return entries
