"""``[[figures]]`` of a suite: what is drawn beyond the figures that every page has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bench_core import Metric, RequestError, did_you_mean, resolve_metric, resolve_quantity

__all__ = ["FigureEntry", "check_figures", "quantity_metrics"]

FigureKind = Literal[
    "curve",
    "bars",
    "stage-by-cost-class",
    "history",
    "feature-usage",
    "tree",
    "depth-by-price",
    "base-models",
    "critical-difference",
    "scatter",
]


class FigureEntry(BaseModel):
    """``[[figures]]``: one kind of figure.

    Every page has a ``curve`` per data set, and ``bars`` where coverage, accuracy and cost are among the metrics; an
    entry of either kind replaces that.

    Attributes:
        kind: ``curve``: cost–quality curves; ``bars``: means with intervals; ``stage-by-cost-class``: mean stage of
            each feature; ``history``: a series of the fit; ``feature-usage``: how often each feature is bought;
            ``tree``: the trees or cascades that the first seed's selected policy walks rows down; ``depth-by-price``:
            how much of each price's features such trees read down to each depth; ``base-models``: histograms of the
            base models run per test row; ``critical-difference``: average ranks over data sets; ``scatter``: two
            quantities of every policy.
        title: the section's heading.
        note: a sentence below it.
        methods: what is drawn; all when empty.
        datasets: where; everywhere when empty.
        quality: for ``curve``: a metric, or ``right-answers`` (coverage × conclusive accuracy).
        cost: for ``curve``: ``cost``, or another metric such as ``mean-base-models``.
        hull: for ``curve``: also draws, dashed, the hull of each curve, which is what choosing between two policies
            at random would buy. Its corners are chosen on validation.
        reference: for ``curve``: the method that has the full model's quality; for ``history``: a diagnostic drawn
            as a level.
        metrics: for ``bars``: a group of bars each; for ``critical-difference``: what is ranked.
        series: for ``history``: its name; ``axis``: what a place in it is called.
        x, y: for ``scatter``: quantities, ``validation.<metric>``, ``test.<metric>`` or ``history.<series>`` (a
            number per policy); a panel for each pair, called by ``panels``; ``axes``: what both axes are called;
            ``scale``: ``linear``, ``log``, or ``log-x`` where x and y differ in kind and have no line where they are
            equal; ``percent``: the series are shares, to be shown as percentages.
        field: the detail of a policy that is drawn. For ``stage-by-cost-class`` (``chromosome``) a stage per feature,
            from 0; for ``tree`` and ``depth-by-price`` (``trees``) lists of nodes as
            `bench_leaderboard.analysis.trees` says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: FigureKind
    title: Annotated[str, Field(max_length=200)] = ""
    note: str = ""
    methods: list[str] = []
    datasets: list[str] = []
    quality: str = ""
    cost: str = "cost"
    hull: bool = False
    reference: str = ""
    metrics: list[str] = []
    series: str = ""
    axis: str = "step"
    field: str = ""
    x: list[str] = []
    y: list[str] = []
    panels: list[str] = []
    axes: list[str] = []
    scale: Literal["linear", "log", "log-x"] = "linear"
    percent: bool = False

    @model_validator(mode="after")
    def _says_what_it_needs(self) -> FigureEntry:
        if self.kind == "history" and not self.series:
            raise ValueError("a history figure needs the name of a series")
        if self.kind == "scatter" and not (self.x and len(self.x) == len(self.y)):
            raise ValueError("a scatter figure needs as many quantities in x as in y, at least one")
        if self.panels and len(self.panels) != len(self.x):
            raise ValueError("panels names every pair of x and y")
        if len(self.axes) not in (0, 2):
            raise ValueError("axes names the two axes")
        return self


def check_figures(
    entries: Sequence[FigureEntry],
    path: str,
    datasets: Collection[str],
    methods: Collection[str],
    metrics: Mapping[str, Metric],
) -> dict[str, Metric]:
    """The metrics that the figures need, every name in them checked.

    Args:
        entries: the suite's ``[[figures]]``.
        path: what messages call the suite.
        datasets, methods: the suite's names.
        metrics: every registered metric.

    Raises:
        RequestError: an unknown data set, method or metric; file, key and the nearest name are said.
    """
    needed: dict[str, Metric] = {}
    for i, entry in enumerate(entries):
        where = f"{path}: figures[{i}]"
        references = [entry.reference] if entry.kind == "curve" and entry.reference else []
        for key, what, names, known in (
            ("methods", "method", entry.methods, methods),
            ("datasets", "data set", entry.datasets, datasets),
            ("reference", "method", references, methods),
        ):
            for name in names:
                if name not in known:
                    hint = did_you_mean(name, known)
                    raise RequestError(f"{where}.{key}: there is no {what} {name!r}; {hint}")
        wanted = [("metrics", name) for name in entry.metrics]
        if entry.kind == "curve":
            wanted += [("cost", entry.cost), *([("quality", entry.quality)] if entry.quality else [])]
        for key, name in wanted:
            if name != "right-answers":
                try:
                    needed[name] = resolve_metric(name, metrics)
                except RequestError as error:
                    raise RequestError(f"{where}.{key}: {error}") from None
        needed |= quantity_metrics([*entry.x, *entry.y], where, metrics)
    return needed


def quantity_metrics(names: Sequence[str], where: str, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics that quantities of policies need.

    Raises:
        RequestError: what is no quantity, or an unknown metric; ``where`` is said.
    """
    needed: dict[str, Metric] = {}
    for name in names:
        try:
            metric = resolve_quantity(name, metrics)
        except RequestError as error:
            raise RequestError(f"{where}: {error}") from None
        if metric is not None:
            needed[metric.name] = metric
    return needed
