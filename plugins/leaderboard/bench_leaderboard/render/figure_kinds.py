"""The kinds of figures that any suite can have. Kinds that belong to a paper's method are in its plugin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from bench_analysis import (
    Panel,
    Row,
    by_policy,
    cells_of,
    default_quality,
    leading,
    mean_series,
    panel_of,
    quality_named,
    quantity_metric,
    summarise,
    usage_of,
)
from pydantic import model_validator

from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import Suite
from bench_leaderboard.render.curves import MANY_LINES, MOST_LINES
from bench_leaderboard.render.figure import Figure, FigureEntry, needed_metrics, needed_quantities
from bench_leaderboard.render.figure_builder import FigureBuilder, FigureKind, file_slug
from bench_leaderboard.render.figures.scatter import Axis

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BARS", "Bars", "Curve", "FeatureUsage", "History", "Scatter"]

BARS = ("coverage", "conclusive-accuracy", "cost")


class CurveEntry(FigureEntry):
    """``kind = "curve"``: cost–quality curves. Every page has one per data set, unless the suite has an entry.

    Attributes:
        quality: a metric, or ``right-answers`` (coverage × conclusive accuracy); the data set's default when empty.
        cost: ``cost``, or another metric such as ``mean-base-models``.
        hull: also draws, dashed, the hull of each curve, which is what choosing between two policies at random would
            give. Its corners are chosen on validation.
        reference: the method that is the full model.
    """

    quality: str = ""
    cost: str = "cost"
    hull: bool = False
    reference: str = ""


class Curve(FigureKind):
    """Quality over cost, a curve per method; of more than 24 methods, the 12 that lead at most budgets."""

    title = "Trade-off curves"
    entry = CurveEntry

    def check(self, suite: Suite, entry: CurveEntry, where: str) -> Mapping[str, Metric]:
        known = suite.method_names()
        if entry.reference and entry.reference not in known:
            hint = did_you_mean(entry.reference, known)
            raise RequestError(f"{where}.reference: there is no method {entry.reference!r}; {hint}")
        names = [("cost", entry.cost), *([("quality", entry.quality)] if entry.quality else [])]
        return needed_metrics(names, where, suite.registry.metrics)

    def build(self, builder: FigureBuilder, entry: CurveEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.cost_quality import cost_quality_figure

        cells = cells_of(builder.records)
        figures = []
        for place in builder.places(entry):
            cell = cells.get(place)
            panel = None if cell is None else self._panel(builder, entry, place[0], cell)
            if panel is not None:
                known = builder.metrics([panel.cost])[panel.cost]
                title = known.title or known.name
                drawn = leading(panel, MOST_LINES) if len(panel.curves) > MANY_LINES else panel
                draw = partial(cost_quality_figure, drawn, builder.styles, title, entry.hull)
                figures.append(builder.figure(self, entry, stem, place, draw, panel))
        return figures

    @staticmethod
    def _panel(builder: FigureBuilder, entry: CurveEntry, dataset: str, cell: pd.DataFrame) -> Panel | None:
        quality = (
            quality_named(entry.quality, builder.metrics([entry.quality]))
            if entry.quality
            else default_quality(builder.suite, builder.records, cell)
        )
        if quality is None:
            return None
        methods = builder.methods(entry, dataset)
        return panel_of(builder.records, cell, methods, quality, entry.cost, entry.reference or None, builder.suite)


class MetricsEntry(FigureEntry):
    """``kind = "bars"`` and ``kind = "critical-difference"``.

    Attributes:
        metrics: a group of bars for each, or a ranking by each.
    """

    metrics: list[str] = []


class Bars(FigureKind):
    """Means with intervals.

    Every page has it where coverage, conclusive accuracy and cost are among the metrics and some answer is refused,
    unless the suite has an entry.
    """

    title = "Coverage, accuracy and cost"
    entry = MetricsEntry

    def check(self, suite: Suite, entry: MetricsEntry, where: str) -> Mapping[str, Metric]:
        return needed_metrics([("metrics", name) for name in entry.metrics], where, suite.registry.metrics)

    def build(self, builder: FigureBuilder, entry: MetricsEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.bars import bar_figure

        names = entry.metrics or list(BARS)
        metrics = builder.metrics(names)
        if builder.selected.empty:
            return []
        tables = summarise(builder.records, builder.selected, builder.suite, names)
        figures = []
        for place in builder.places(entry):
            wanted = builder.methods(entry, place[0])
            rows: list[Row] = [row for row in tables[place] if row.method in wanted and row.means]
            if names == list(BARS) and all(
                row.means["coverage"].value == 1.0 for row in rows if "coverage" in row.means
            ):
                continue
            shown = [metrics[name] for name in names if any(name in row.means for row in rows)]
            if shown:
                draw = partial(bar_figure, rows, shown, builder.styles)
                figures.append(builder.figure(self, entry, stem, place, draw))
        return figures


class FeatureUsage(FigureKind):
    """How often each feature is acquired."""

    title = "Feature usage"
    reads = ("usage",)

    def build(self, builder: FigureBuilder, entry: FigureEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.usage import usage_figure

        return builder.by_method(self, entry, stem, usage_of, partial(usage_figure, styles=builder.styles))


class HistoryEntry(FigureEntry):
    """``kind = "history"``: a series of the fit.

    Attributes:
        series: its name.
        axis: what its index counts, such as ``generation``.
        reference: a diagnostic that is drawn as a horizontal line.
    """

    series: str = ""
    axis: str = "step"
    reference: str = ""

    @model_validator(mode="after")
    def _names_a_series(self) -> HistoryEntry:
        if not self.series:
            raise ValueError("a history figure needs the name of a series")
        return self


class History(FigureKind):
    """A series of the fit: one figure for all data sets, a row each, a column per method."""

    title = "History"
    entry = HistoryEntry

    def build(self, builder: FigureBuilder, entry: HistoryEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.history import history_figure

        records = builder.records
        panels = {}
        for dataset in dict.fromkeys(dataset for dataset, _ in builder.places(entry)):
            for method in builder.methods(entry, dataset):
                infos = [
                    records.infos[name]
                    for (its_dataset, _, its_method), names in records.trials.items()
                    if (its_dataset, its_method) == (dataset, method)
                    for name in names
                ]
                drawn_from = builder.suite.drawn_from(dataset)
                series = mean_series(infos, entry.series, entry.reference, drawn_from=drawn_from)
                if series is not None:
                    panels[dataset, method] = series
        if not panels:
            return []
        section = entry.title or self.title
        draw = partial(history_figure, panels, builder.styles, section, entry.axis, entry.reference)
        file = f"{stem}-{file_slug(entry.series)}.svg"
        return [Figure(entry.kind, file, section, section, section, entry.note, draw)]


class ScatterEntry(FigureEntry):
    """``kind = "scatter"``: two quantities of every policy.

    Attributes:
        x, y: quantities, ``validation.<metric>``, ``test.<metric>`` or ``history.<series>`` (a number per policy); a
            panel for each pair.
        panels: titles of the panels; none if empty.
        axes: names of the two axes.
        scale: ``linear``, ``log``, or ``log-x`` for x and y of different kinds, without the line x = y.
        percent: the series are shares, to be shown as percentages.
    """

    x: list[str] = []
    y: list[str] = []
    panels: list[str] = []
    axes: list[str] = []
    scale: Literal["linear", "log", "log-x"] = "linear"
    percent: bool = False

    @model_validator(mode="after")
    def _pairs_its_quantities(self) -> ScatterEntry:
        if not (self.x and len(self.x) == len(self.y)):
            raise ValueError("a scatter figure needs as many quantities in x as in y, at least one")
        if self.panels and len(self.panels) != len(self.x):
            raise ValueError("panels names every pair of x and y")
        if len(self.axes) not in (0, 2):
            raise ValueError("axes names the two axes")
        return self


class Scatter(FigureKind):
    """Two quantities of every policy."""

    title = "Policies"
    entry = ScatterEntry

    def check(self, suite: Suite, entry: ScatterEntry, where: str) -> Mapping[str, Metric]:
        return needed_quantities([*entry.x, *entry.y], where, suite.registry.metrics)

    def build(self, builder: FigureBuilder, entry: ScatterEntry, stem: str) -> list[Figure]:
        from bench_leaderboard.render.figures.scatter import Cloud, scatter_figure

        figures = []
        for place in builder.places(entry):
            clouds = []
            for k, (x, y) in enumerate(zip(entry.x, entry.y, strict=True)):
                points = {}
                for method in builder.methods(entry, place[0]):
                    means = by_policy(builder.records, place, method, [x, y], builder.suite)
                    if any(a.count and b.count for a, b in means.values()):
                        points[method] = [(label, a, b) for label, (a, b) in means.items()]
                title = entry.panels[k] if entry.panels else ""
                axes = self._axis(builder, x, entry, 0), self._axis(builder, y, entry, 1)
                clouds.append(Cloud(title, *axes, points))
            if any(cloud.points for cloud in clouds):
                draw = partial(scatter_figure, clouds, builder.styles, entry.scale)
                figures.append(builder.figure(self, entry, stem, place, draw))
        return figures

    @staticmethod
    def _axis(builder: FigureBuilder, quantity: str, entry: ScatterEntry, which: int) -> Axis:
        """The name and scale of an axis: ``Accuracy on validation %``, ``actual cost``."""
        metric = quantity_metric(builder.suite, quantity)
        part, _, rest = quantity.partition(".")
        default = f"{metric.title or metric.name} on {part}" if metric else rest.replace("_", " ")
        percent = metric.percent if metric else entry.percent
        name = entry.axes[which] if entry.axes else default
        return Axis(f"{name} %" if percent else name, 100.0 if percent else 1.0)
