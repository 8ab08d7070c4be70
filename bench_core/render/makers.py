"""From an entry of ``[[figures]]`` to its drawings: the numbers are gathered here, the drawing waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bench_core.analysis.assignments import stages_by_class, usage_of
from bench_core.analysis.base_models import spread_of
from bench_core.analysis.curves import Panel, cells_of, panel_of
from bench_core.analysis.quality import default_quality, quality_named
from bench_core.analysis.records import Records
from bench_core.analysis.selection import select
from bench_core.analysis.series import mean_series
from bench_core.analysis.summary import Row, summarise
from bench_core.canonical import sha256_text
from bench_core.figures_schema import FigureEntry
from bench_core.metrics import BUILT_IN, Metric, resolve_metric
from bench_core.render.drawing import Drawing, Ranking
from bench_core.render.figures.palette import Look, look_of
from bench_core.suite import Suite

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BARS", "MOST_DATASETS", "Maker"]

MOST_DATASETS = 60
"""A kind is drawn for so many pairs of data set and cost scheme at most, the suite's first."""

BARS = ("coverage", "conclusive-accuracy", "cost")
_TITLES = {
    "curve": "Trade-off curves",
    "bars": "Coverage, accuracy and cost",
    "stage-by-cost-class": "Stages by cost class",
    "history": "History",
    "feature-usage": "Feature usage",
    "base-models": "Base models run per row",
    "critical-difference": "Average ranks",
}


class Maker:
    """Makes drawings; what several of them need is computed once."""

    def __init__(self, suite: Suite, records: Records, rankings: Sequence[Ranking]) -> None:
        self.suite, self.records, self.rankings = suite, records, rankings
        self.looks: dict[str, Look] = {name: look_of(i) for i, name in enumerate(suite.method_names())}
        self._chosen: dict[tuple[str, str, str], pd.DataFrame] | None = None
        self._all: pd.DataFrame | None = None

    def make(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        """The drawings of one entry."""
        kinds: dict[str, Callable[[FigureEntry, str], list[Drawing]]] = {
            "curve": self._curves,
            "bars": self._bars,
            "stage-by-cost-class": self._stages,
            "history": self._history,
            "feature-usage": self._usage,
            "base-models": self._spread,
            "critical-difference": self._ranks,
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
    ) -> Drawing:  # fmt: skip
        """A drawing of one data set; ``draw`` is given the figure's title."""
        dataset, costs = place
        several = self.suite.has_several_costs(dataset)
        heading = f"{dataset} · {costs}" if several else dataset
        section = entry.title or _TITLES[entry.kind]
        file = f"{stem}-{_slug(dataset)}{f'-{_slug(costs)}' if several else ''}.svg"
        title = f"{heading}: {section[:1].lower()}{section[1:]}"
        return Drawing(entry.kind, file, section, heading, title, entry.note, partial(draw, title), panel)

    def _curves(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.cost_quality import cost_quality_figure

        cells = cells_of(self.records)
        made = []
        for place in self._places(entry):
            cell = cells.get(place)
            if cell is None:
                continue
            panel = self._panel(entry, place[0], cell)
            if panel is not None:
                known = self._metrics([panel.cost])[panel.cost]
                draw = partial(cost_quality_figure, panel, self.looks, known.title or known.name)
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

    def _bars(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.bars import bar_figure

        names = entry.metrics or list(BARS)
        metrics = self._metrics(names)
        chosen = self._selected()
        if chosen.empty:
            return []
        tables = summarise(chosen, self.suite, names)
        made = []
        for place in self._places(entry):
            wanted = self._methods(entry, place[0])
            rows: list[Row] = [row for row in tables[place] if row.method in wanted and row.means]
            shown = [metrics[name] for name in names if any(name in row.means for row in rows)]
            if shown:
                made.append(self._drawing(entry, stem, place, partial(bar_figure, rows, shown, self.looks)))
        return made

    def _stages(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.stages import stage_figure

        made = []
        for place in self._places(entry):
            found = [
                (method, stages_by_class(self.records, cell, entry.field))
                for method in self._methods(entry, place[0])
                if (cell := self._cell(*place, method)) is not None
            ]
            panels = [(method, stages) for method, stages in found if stages is not None]
            if panels:
                made.append(self._drawing(entry, stem, place, partial(stage_figure, panels)))
        return made

    def _usage(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.usage import usage_figure

        made = []
        for place in self._places(entry):
            found = [
                (method, usage_of(self.records, cell))
                for method in self._methods(entry, place[0])
                if (cell := self._cell(*place, method)) is not None
            ]
            panels = [(method, usage) for method, usage in found if usage is not None]
            if panels:
                made.append(self._drawing(entry, stem, place, partial(usage_figure, panels, self.looks)))
        return made

    def _spread(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.spread import spread_figure

        made = []
        for place in self._places(entry):
            found = [
                (method, spread_of(self.records, cell))
                for method in self._methods(entry, place[0])
                if (cell := self._cell(*place, method)) is not None
            ]
            panels = [(method, spread) for method, spread in found if spread is not None]
            if panels:
                made.append(self._drawing(entry, stem, place, partial(spread_figure, panels, self.looks)))
        return made

    def _history(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        """One figure for all data sets: a row each, a column per method."""
        from bench_core.render.figures.history import history_figure

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
        draw = partial(history_figure, panels, self.looks, section, entry.axis, entry.reference)
        return [
            Drawing(
                entry.kind, f"{stem}-{_slug(entry.series)}.svg", section, section, section, entry.note, draw
            )
        ]

    def _ranks(self, entry: FigureEntry, stem: str) -> list[Drawing]:
        from bench_core.render.figures.ranks import critical_difference_figure

        section = entry.title or _TITLES["critical-difference"]
        made = []
        for one in self.rankings:
            if len(one.names) > 1:
                title = f"{section}: {one.title}"
                draw = partial(critical_difference_figure, one.names, one.ranks, one.cd, title, one.note)
                made.append(
                    Drawing(
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
