"""Figures of pages: the keys that all entries of a suite may have, and the metrics that a figure needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from bench_analysis import Panel, resolve_quantity
from pydantic import BaseModel, ConfigDict, Field

from bench_core import Metric, RequestError
from bench_core.records import resolve_metric

__all__ = ["Figure", "FigureEntry", "needed_metrics", "needed_quantities"]


class FigureEntry(BaseModel):
    """``[[figures]]``: the keys of every kind of figure. A kind adds its own in a subclass.

    Attributes:
        kind: which kind of figure.
        title: the section's heading; the kind's own when empty.
        note: a sentence below it.
        methods: names of the methods that are drawn; all when empty.
        datasets: names of the data sets that get a figure; all when empty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: str
    title: Annotated[str, Field(max_length=200)] = ""
    note: str = ""
    methods: list[str] = []
    datasets: list[str] = []


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        kind: the kind of figure.
        file: its file's name.
        section: heading of the section it stands in.
        heading: heading of its own.
        alt: alternative text.
        note: what the suite says about it.
        draw: returns the SVG.
        panel: the curves, for a figure of curves.
    """

    kind: str
    file: str
    section: str
    heading: str
    alt: str
    note: str
    draw: Callable[[], bytes]
    panel: Panel | None = None


def needed_metrics(names: Sequence[tuple[str, str]], where: str, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Metrics by name, from (key of the entry, name); ``right-answers`` is no metric and is skipped.

    Raises:
        RequestError: an unknown metric; the message has ``where``, the key and the nearest name.
    """
    needed: dict[str, Metric] = {}
    for key, name in names:
        if name != "right-answers":
            try:
                needed[name] = resolve_metric(name, metrics)
            except RequestError as error:
                raise RequestError(f"{where}.{key}: {error}") from None
    return needed


def needed_quantities(names: Sequence[str], where: str, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics that quantities of policies need.

    Raises:
        RequestError: an invalid quantity or an unknown metric; the message has ``where``.
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
