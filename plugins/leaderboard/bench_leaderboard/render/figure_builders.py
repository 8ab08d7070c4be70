"""From an entry of ``[[figures]]`` to its drawings: the numbers are gathered here, the drawing waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import BUILT_IN, Metric, Suite, resolve_metric, resolve_quantity, sha256_text
from bench_leaderboard.analysis.assignments import stages_by_class, usage_of
from bench_leaderboard.analysis.base_models import spread_of
from bench_leaderboard.analysis.curves import Panel, cells_of, panel_of
from bench_leaderboard.analysis.policies import by_policy
from bench_leaderboard.analysis.quality import default_quality, quality_named
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.selection import select
from bench_leaderboard.analysis.series import mean_series
from bench_leaderboard.analysis.summary import Row, summarise
from bench_leaderboard.analysis.trees import depth_by_price, trees_of
from bench_leaderboard.figures_schema import FigureEntry
from bench_leaderboard.render.figure import Figure, Ranking
from bench_leaderboard.render.figures.palette import Style, style_of
from bench_leaderboard.render.figures.scatter import Axis
from bench_leaderboard.render.tables import heading

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BARS", "MOST_DATASETS", "FigureBuilder"]

MOST_DATASETS = 60
"""A kind is drawn for so many pairs of data set and cost scheme at most, the suite's first."""

BARS = ("coverage", "conclusive-accuracy", "cost")
_TITLES = {
    "curve": "Trade-off curves",
    "bars": "Coverage, accuracy and cost",
    "stage-by-cost-class": "Stages by cost class",
    "history": "History",
    "feature-usage": "Feature usage",
    "tree": "Learned trees",
    "depth-by-price": "Features read, by depth and price",
    "base-models": "Base models run per row",
    "critical-difference": "Average ranks",
    "scatter": "Policies",
}


class FigureBuilder:
    """Makes drawings; what several of them need is computed once."""

    def __init__(self, suite: Suite, records: Records, rankings: Sequence[Ranking]) -> None:
        self.suite, self.records, self.rankings = suite, records, rankings
        self.styles: dict[str, Style] = {name: style_of(i) for i, name in enumerate(suite.method_names())}
        self._chosen: dict[tuple[str, str, str], pd.DataFrame] | None = None
        self._all: pd.DataFrame | None = None

    def make(self, entry: FigureEntry, stem: str) -> list[Figure]:
        """The drawings of one entry."""
        kinds: dict[str, Callable[[FigureEntry, str], list[Figure]]] = {
            "curve": self._curves,
            "bars": self._bars,
            "stage-by-cost-class": self._stages,
            "history": self._history,
            "feature-usage": self._usage,
            "tree": self._trees,
            "depth-by-price": self._depths,
            "base-models": self._spread,
            "critical-difference": self._ranks,
            "scatter": self._scatter,
        }
        return kinds[entry.kind](entry, stem)

    def _places(self, entry: FigureEntry) -> list[tuple[str, str]]:
        return [pair for pair in self.suite.grids if not entry.datasets or pair[0] in entry.datasets][
            :MOST_DATASETS
        ]

    def _methods(self, entry: FigureEntry, dataset: str) -> list[str]:
        return [m for m in self.suite.methods_on(dataset) if not entry.methods or m in entry.methods]

    def _drawing(
        self, entry: FigureEntry, stem: str, place: tuple[str, str], draw: Callable[[str], bytes],
        panel: Panel | None = None,
    ) -> Figure:  # fmt: skip
        """A drawing of one data set; ``draw`` is given the figure's title."""
        dataset, costs = place
        several = self.suite.has_several_costs(dataset)
        shown = heading(self.suite, dataset, costs)
        section = entry.title or _TITLES[entry.kind]
        file = f"{stem}-{_slug(dataset)}{f'-{_slug(costs)}' if several else ''}.svg"
        title = f"{shown}: {section[:1].lower()}{section[1:]}"
        return Figure(entry.kind, file, section, shown, title, entry.note, partial(draw, title), panel)

    def _curves(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.cost_quality import cost_quality_figure

        cells = cells_of(self.records)
        made = []
        for place in self._places(entry):
            cell = cells.get(place)
            if cell is None:
                continue
            panel = self._panel(entry, place[0], cell)
            if panel is not None:
                known = self._metrics([panel.cost])[panel.cost]
                draw = partial(cost_quality_figure, panel, self.styles, known.title or known.name, entry.hull)
                made.append(self._drawing(entry, stem, place, draw, panel))
        return made

    def _panel(self, entry: FigureEntry, dataset: str, cell: pd.DataFrame) -> Panel | None:
        quality = (
            quality_named(entry.quality, self._metrics([entry.quality]))
            if entry.quality
            else default_quality(self.suite, self.records, cell)
        )
        if quality is None:
            return None
        methods = self._methods(entry, dataset)
        return panel_of(self.records, cell, methods, quality, entry.cost, entry.reference or None)

    def _bars(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.bars import bar_figure

        names = entry.metrics or list(BARS)
        metrics = self._metrics(names)
        chosen = self._selected()
        if chosen.empty:
            return []
        tables = summarise(self.records, chosen, self.suite, names)
        made = []
        for place in self._places(entry):
            wanted = self._methods(entry, place[0])
            rows: list[Row] = [row for row in tables[place] if row.method in wanted and row.means]
            shown = [metrics[name] for name in names if any(name in row.means for row in rows)]
            if shown:
                made.append(self._drawing(entry, stem, place, partial(bar_figure, rows, shown, self.styles)))
        return made

    def _stages(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.stages import stage_figure

        field = entry.field or "chromosome"
        return self._by_method(entry, stem, partial(stages_by_class, field=field), stage_figure)

    def _usage(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.usage import usage_figure

        def draw(panels: Any, title: str) -> bytes:
            return usage_figure(panels, self.styles, title)

        return self._by_method(entry, stem, usage_of, draw)

    def _trees(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.tree import tree_figure

        return self._by_method(entry, stem, partial(trees_of, field=entry.field or "trees"), tree_figure)

    def _depths(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.depths import depth_figure

        return self._by_method(
            entry, stem, partial(depth_by_price, field=entry.field or "trees"), depth_figure
        )

    def _spread(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.spread import spread_figure

        def draw(panels: Any, title: str) -> bytes:
            return spread_figure(panels, self.styles, title)

        return self._by_method(entry, stem, spread_of, draw)

    def _by_method(
        self, entry: FigureEntry, stem: str, gather: Callable[..., Any], draw: Callable[[Any, str], bytes]
    ) -> list[Figure]:
        """A figure per data set, of what is gathered from each method's selected policies where there is something."""
        made = []
        for place in self._places(entry):
            found = [
                (method, gather(self.records, cell))
                for method in self._methods(entry, place[0])
                if (cell := self._cell(*place, method)) is not None
            ]
            panels = [(method, numbers) for method, numbers in found if numbers is not None]
            if panels:
                made.append(self._drawing(entry, stem, place, partial(draw, panels)))
        return made

    def _history(self, entry: FigureEntry, stem: str) -> list[Figure]:
        """One figure for all data sets: a row each, a column per method."""
        from bench_leaderboard.render.figures.history import history_figure

        panels = {}
        datasets = dict.fromkeys(dataset for dataset, _ in self._places(entry))
        for dataset in datasets:
            for method in self._methods(entry, dataset):
                infos = [
                    self.records.infos[name]
                    for (its_dataset, _, its_method), names in self.records.trials.items()
                    if (its_dataset, its_method) == (dataset, method)
                    for name in names
                ]
                series = mean_series(infos, entry.series, entry.reference)
                if series is not None:
                    panels[dataset, method] = series
        if not panels:
            return []
        section = entry.title or _TITLES["history"]
        draw = partial(history_figure, panels, self.styles, section, entry.axis, entry.reference)
        return [
            Figure(
                entry.kind, f"{stem}-{_slug(entry.series)}.svg", section, section, section, entry.note, draw
            )
        ]

    def _ranks(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.ranks import critical_difference_figure

        section = entry.title or _TITLES["critical-difference"]
        made = []
        for one in self.rankings:
            if len(one.names) > 1:
                title = f"{section}: {one.title}"
                draw = partial(critical_difference_figure, one.names, one.ranks, one.cd, title, one.note)
                made.append(
                    Figure(
                        entry.kind,
                        f"{stem}-{_slug(one.title)}.svg",
                        section,
                        one.title,
                        title,
                        entry.note,
                        draw,
                    )
                )
        return made

    def _scatter(self, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.scatter import Cloud, scatter_figure

        made = []
        for place in self._places(entry):
            clouds = []
            for k, (x, y) in enumerate(zip(entry.x, entry.y, strict=True)):
                points = {}
                for method in self._methods(entry, place[0]):
                    found = by_policy(self.records, place, method, [x, y])
                    if any(a.count and b.count for a, b in found.values()):
                        points[method] = [(label, a, b) for label, (a, b) in found.items()]
                title = entry.panels[k] if entry.panels else ""
                clouds.append(Cloud(title, self._axis(x, entry, 0), self._axis(y, entry, 1), points))
            if any(cloud.points for cloud in clouds):
                draw = partial(scatter_figure, clouds, self.styles, entry.scale)
                made.append(self._drawing(entry, stem, place, draw))
        return made

    def _axis(self, quantity: str, entry: FigureEntry, which: int) -> Axis:
        """How an axis is called and scaled: ``Accuracy on validation %``, ``actual cost``."""
        metric = resolve_quantity(quantity, self.suite.registry.metrics)
        part, _, rest = quantity.partition(".")
        said = f"{metric.title or metric.name} on {part}" if metric else rest.replace("_", " ")
        percent = metric.percent if metric else entry.percent
        name = entry.axes[which] if entry.axes else said
        return Axis(f"{name} %" if percent else name, 100.0 if percent else 1.0)

    def _metrics(self, names: Sequence[str]) -> dict[str, Metric]:
        known = {metric.name: metric for metric in BUILT_IN} | dict(self.suite.registry.metrics)
        return {name: resolve_metric(name, known) for name in names if name != "right-answers"}

    def _selected(self) -> pd.DataFrame:
        if self._all is None:
            self._all = select(self.records, self.suite)
        return self._all

    def _cell(self, dataset: str, costs: str, method: str) -> pd.DataFrame | None:
        """The selected policies of one method on one data set."""
        if self._chosen is None:
            frame = self._selected()
            self._chosen = {}
            if len(frame):
                for key, rows in frame.groupby(["dataset", "costs", "method"], sort=False).indices.items():
                    self._chosen[key] = frame.take(np.asarray(rows))  # type: ignore[index]
        return self._chosen.get((dataset, costs, method))


def _slug(name: str) -> str:
    """A name as part of a file's name: lower case, anything else but digits a hyphen; a hash if nothing is left."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return plain or sha256_text(name)[:8]
