"""The base class of kinds of figures, and what they are built from: records, styles, file names, selected policies."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from bench_analysis import Analysed, Panel
from bench_records import Records

from bench_core import Metric, sha256_text
from bench_core.suites import Suite
from bench_leaderboard.render.figure import Figure, FigureEntry
from bench_leaderboard.render.figures.palette import Style, style_of
from bench_leaderboard.render.tables import heading

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FigureBuilder", "FigureKind", "file_slug"]


class FigureKind(ABC):
    """One kind of figure.

    Class attributes:
        title: heading of its section, where an entry gives none.
        entry: the keys of its ``[[figures]]`` entries.
        reads: which of the records' keys ``usage`` and ``evaluations`` it shows; they are published only if a figure
            shows them.
    """

    title: ClassVar[str]
    entry: ClassVar[type[FigureEntry]] = FigureEntry
    reads: ClassVar[tuple[str, ...]] = ()

    def check(self, suite: Suite, entry: Any, where: str) -> Mapping[str, Metric]:
        """Check the kind's own keys of an entry, and return the metrics that the entry needs in every record.

        Raises:
            RequestError: an unknown name; the message has ``where`` and the nearest name.
        """
        return {}

    @abstractmethod
    def build(self, builder: FigureBuilder, entry: Any, stem: str) -> list[Figure]:
        """The figures of one entry. Numbers are gathered now and drawn later; this needs no matplotlib.

        Args:
            builder: the suite, its records, and what several kinds need.
            entry: of the kind's own type.
            stem: what the files' names begin with.
        """


class FigureBuilder:
    """What figures are built from; what several of them need is computed once.

    Attributes:
        analysed: a suite and its records, and the tables computed from them once.
        suite: the suite.
        records: its records.
        styles: method → how it is drawn in every figure.
    """

    def __init__(self, analysed: Analysed) -> None:
        self.analysed, self.suite, self.records = analysed, analysed.suite, analysed.records
        self.styles: dict[str, Style] = {name: style_of(i) for i, name in enumerate(self.suite.method_names())}

    def places(self, entry: FigureEntry) -> list[tuple[str, str]]:
        """The (data set, cost scheme) pairs that an entry is drawn for."""
        return [pair for pair in self.suite.grids if not entry.datasets or pair[0] in entry.datasets]

    def methods(self, entry: FigureEntry, dataset: str) -> list[str]:
        """The methods that an entry draws on a data set."""
        return [m for m in self.suite.methods_on(dataset) if not entry.methods or m in entry.methods]

    def figure(
        self,
        kind: FigureKind,
        entry: FigureEntry,
        stem: str,
        place: tuple[str, str],
        draw: Callable[[str], bytes],
        panel: Panel | None = None,
    ) -> Figure:
        """A figure of one data set under one cost scheme; ``draw`` is given the figure's title."""
        dataset, costs = place
        several = self.suite.has_several_costs(dataset)
        shown = heading(self.suite, dataset, costs)
        section = entry.title or kind.title
        file = f"{stem}-{file_slug(dataset)}{f'-{file_slug(costs)}' if several else ''}.svg"
        title = f"{shown}: {section[:1].lower()}{section[1:]}"
        return Figure(entry.kind, file, section, shown, title, entry.note, partial(draw, title), panel)

    def by_method(
        self,
        kind: FigureKind,
        entry: FigureEntry,
        stem: str,
        gather: Callable[[Records, pd.DataFrame], Any],
        draw: Callable[[Any, str], bytes],
    ) -> list[Figure]:
        """A figure for each data set on which something is gathered from the methods' selected policies.

        Args:
            gather: called with the records and one method's selected policies; returns numbers, or None.
            draw: called with (method, numbers) pairs and the title; returns the SVG.
        """
        figures = []
        for place in self.places(entry):
            gathered = [
                (method, gather(self.records, cell))
                for method in self.methods(entry, place[0])
                if (cell := self.selected_of(*place, method)) is not None
            ]
            panels = [(method, numbers) for method, numbers in gathered if numbers is not None]
            if panels:
                figures.append(self.figure(kind, entry, stem, place, partial(draw, panels)))
        return figures

    def metrics(self, names: Sequence[str]) -> dict[str, Metric]:
        """Metrics by name; ``right-answers`` is no metric and is skipped."""
        return {name: self.suite.metric(name) for name in names if name != "right-answers"}

    @property
    def selected(self) -> pd.DataFrame:
        """The policies that validation selected."""
        return self.analysed.cells.chosen

    @cached_property
    def _by_method(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        frame = self.selected
        if not len(frame):
            return {}
        groups = frame.groupby(["dataset", "costs", "method"], sort=False).indices
        return {key: frame.take(np.asarray(rows)) for key, rows in groups.items()}  # type: ignore[misc]

    def selected_of(self, dataset: str, costs: str, method: str) -> pd.DataFrame | None:
        """The selected policies of one method on one data set under one cost scheme."""
        return self._by_method.get((dataset, costs, method))


def file_slug(name: str) -> str:
    """A name as part of a file's name: letters in lower case, digits, hyphens for the rest; a hash if that is empty."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return plain or sha256_text(name)[:8]
