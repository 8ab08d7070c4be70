"""The kinds of figures ``critical-difference`` and ``answer``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from bench_analysis import Analysed
from bench_leaderboard import Figure, FigureBuilder, FigureEntry, FigureKind, MetricsEntry, file_slug, needed_metrics

from bench_comparison.findings import main_view
from bench_comparison.overall import overall_of
from bench_comparison.question import answer_once
from bench_core import Metric
from bench_core.suites import Suite

__all__ = ["CriticalDifference", "QualityByBudget", "Ranking", "rankings_of"]


@dataclass(frozen=True)
class Ranking:
    """Average ranks over data sets, for a critical difference diagram.

    Attributes:
        title: what is ranked.
        names, ranks: methods and their average ranks, 1 for the best.
        cd: Nemenyi's critical difference.
        note: a line below the diagram: the number of data sets, the level.
    """

    title: str
    names: tuple[str, ...]
    ranks: tuple[float, ...]
    cd: float
    note: str = ""


def rankings_of(analysed: Analysed, metrics: Collection[str] = ()) -> list[Ranking]:
    """Return the average ranks by every metric that is compared over data sets, or by those of the given names."""
    found = overall_of(analysed)
    return [
        Ranking(
            title=analysed.suite.metric(comparison.metric).title or comparison.metric,
            names=tuple(comparison.methods),
            ranks=tuple(comparison.ranks.tolist()),
            cd=comparison.difference,
            note=f"{comparison.datasets} data sets, Nemenyi's test at 5 %",
        )
        for comparison in (found.comparisons.values() if found is not None else ())
        if not metrics or comparison.metric in metrics
    ]


class CriticalDifference(FigureKind):
    """Average ranks of all compared methods over all compared data sets."""

    title = "Average ranks"
    entry = MetricsEntry

    def check(self, suite: Suite, entry: MetricsEntry, where: str) -> Mapping[str, Metric]:
        return needed_metrics([("metrics", name) for name in entry.metrics], where, suite.registry.metrics)

    def build(self, builder: FigureBuilder, entry: MetricsEntry, stem: str) -> list[Figure]:
        from bench_comparison.render.ranks import critical_difference_figure

        section = entry.title or self.title
        figures = []
        for ranking in rankings_of(builder.analysed, entry.metrics):
            if len(ranking.names) > 1:
                title = f"{section}: {ranking.title}"
                draw = partial(
                    critical_difference_figure, ranking.names, ranking.ranks, ranking.cd, title, ranking.note
                )
                file = f"{stem}-{file_slug(ranking.title)}.svg"
                figures.append(Figure(entry.kind, file, section, ranking.title, title, entry.note, draw))
        return figures


class QualityByBudget(FigureKind):
    """Quality by budget, a line per kind of method; and dynamic acquisition against the best fixed subset."""

    title = "Quality by budget"

    def build(self, builder: FigureBuilder, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_comparison.render.duel import duel_figure
        from bench_comparison.render.lines import lines_figure

        answer = answer_once(builder.analysed)
        view = None if answer is None else main_view(answer)
        if answer is None or view is None:
            return []
        section = entry.title or self.title
        drawn = {
            f"{stem}.svg": ("Quality by budget", partial(lines_figure, answer, view)),
            f"{stem}-dynamic.svg": ("Row by row, or a fixed subset?", partial(duel_figure, view)),
        }
        return [
            Figure(entry.kind, file, section, heading, heading, entry.note, draw)
            for file, (heading, draw) in drawn.items()
            if view["dynamic"] or file == f"{stem}.svg"
        ]
