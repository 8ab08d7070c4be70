"""Run a suite from Python, and get its results as data frames and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from bench_core import DataContext, RequestError, did_you_mean

if TYPE_CHECKING:
    from bench_analysis import Analysed
    from bench_leaderboard import Figure
    from bench_records import Records

    from bench_core.suites import SuiteSession

__all__ = ["Drawing", "Results", "run"]


@dataclass(frozen=True)
class Drawing:
    """A figure that a notebook displays.

    Attributes:
        svg: the figure.
        alt: a description of the figure.
    """

    svg: bytes = field(repr=False)
    alt: str

    def _repr_svg_(self) -> str:
        return self.svg.decode()

    def save(self, path: str | Path) -> None:
        """Write the SVG to a file."""
        Path(path).write_bytes(self.svg)


@dataclass(frozen=True)
class Results:
    """The results of a suite.

    Attributes:
        session: the suite and its folders.
        failures: a line for every trial that failed in this run.
    """

    session: SuiteSession
    failures: Sequence[str] = field(default=())

    @cached_property
    def _records(self) -> Records:
        from bench_records import records_of

        return records_of(self.session)

    @cached_property
    def _analysed(self) -> Analysed:
        from bench_analysis import Analysed

        return Analysed(self.session.suite, self._records)

    def records(self) -> pd.DataFrame:
        """All policies: one row each.

        Returns:
            Columns ``dataset``, ``costs``, ``method``, ``seed``, ``point`` (place in the method's grid), ``policy``,
            ``label``, ``budget``, ``status``, and every metric as ``validation.NAME`` and ``test.NAME``.
        """
        hidden = ["name", "details"]
        return self._records.policies.drop(columns=hidden, errors="ignore").reset_index(drop=True)

    def table(self) -> pd.DataFrame:
        """The tables of the page: the policies that validation selected, on the test part.

        Returns:
            Index ``data set``, ``method`` (and ``costs`` between them if a data set has several cost schemes). Columns:
            for each metric of the suite its mean over seeds and, as ``NAME ±``, half the width of its 95 % interval;
            then ``seeds``.
        """
        rows = []
        for grid in self._analysed.tables:
            for row in grid.rows:
                cells: dict[str, object] = {"data set": grid.dataset, "costs": grid.costs, "method": row.method}
                for name, mean in row.means.items():
                    if name in self.session.suite.metrics:
                        cells |= {name: mean.value, f"{name} ±": mean.margin}
                rows.append({**cells, "seeds": row.done})
        several = any(self.session.suite.has_several_costs(name) for name in self.session.suite.dataset_names())
        index = ["data set", "costs", "method"] if several else ["data set", "method"]
        frame = pd.DataFrame(rows, columns=None if rows else [*index, "costs"])
        return frame.set_index(index) if several else frame.drop(columns="costs").set_index(index)

    def curves(self) -> pd.DataFrame:
        """The trade-off curves of the page: a row for every budget at which a method's curve changes.

        Returns:
            Columns ``dataset``, ``costs``, ``method``, ``budget`` and ``cost`` (shares of the price of all features),
            ``quality`` (mean over seeds on the test part), ``margin`` (half the width of its 95 % interval).
        """
        from bench_analysis import curves_of

        frames = [
            pd.DataFrame(
                {
                    "dataset": panel.dataset,
                    "costs": panel.costs,
                    "method": curve.method,
                    "budget": curve.budgets,
                    "cost": curve.cost,
                    "quality": curve.quality,
                    "margin": curve.margin,
                }
            )
            for panel in curves_of(self.session.suite, self._records)
            for curve in panel.curves
        ]
        columns = ["dataset", "costs", "method", "budget", "cost", "quality", "margin"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def plot(self, dataset: str | None = None) -> Drawing:
        """Plot the trade-off curves of a data set, by default of the first one.

        Raises:
            RequestError: the suite has no such data set, or none of its trials is done.
        """
        from bench_leaderboard import figures_of

        names = self.session.suite.dataset_names()
        if dataset is not None and dataset not in names:
            raise RequestError(f"the suite has no data set {dataset!r}; {did_you_mean(dataset, names)}")
        drawn: list[Figure] = [figure for figure in figures_of(self._analysed) if figure.panel is not None]
        for figure in drawn:
            if dataset is None or (figure.panel is not None and figure.panel.dataset == dataset):
                return Drawing(figure.draw(), figure.alt)
        raise RequestError(f"there are no curves of {dataset or 'this suite'}: no trial is done")

    def _repr_html_(self) -> str:
        heading = pd.Series([self.session.suite.name]).to_frame(name="suite").to_html(index=False, header=False)
        return heading + self.table().to_html(float_format=lambda value: f"{value:.4g}")


def run(
    suite: str | Path,
    *,
    store: str | Path = ".bench-store",
    out: str | Path = "results",
    jobs: int = 1,
    isolation: str = "process",
    seeds: int | None = None,
    only: Mapping[str, list[str]] | None = None,
    mirror: str | Path | None = None,
) -> Results:
    """Compute the missing trials of a suite, write its page, and return its results.

    Args:
        suite: a suite's file, or the name of one that comes with budgetbench, such as ``quickstart``.
        store: the directory of records.
        out: the directory of pages.
        jobs: worker processes.
        isolation: ``strict``, ``process`` or ``none``; see `bench_core.execution.Options`.
        seeds: number of seeds to run, from the first; None: all.
        only: ``dataset``, ``method`` or ``costs`` → names to keep.
        mirror: a directory that replaces all downloads.

    Raises:
        RequestError: the suite cannot be read or is invalid (the message names file and key), or a plugin refused to
            write.
    """
    from bench_core.execution import Options
    from bench_core.suites import SuiteSession, described_registry, load_registry, run_suite

    context = DataContext.from_environment(None if mirror is None else Path(mirror))
    closed = [Path(store).absolute(), Path(out).absolute()]
    registry = load_registry() if isolation == "none" else described_registry(cache=context.cache, closed=closed)
    try:
        session = SuiteSession.open(Path(suite), Path(store), Path(out), context, registry)
        report = run_suite(
            session,
            Options(
                jobs=jobs, isolation=isolation, plugin_options={"private": True}
            ),  # a notebook shows private results, so records of every isolation level count
            seeds,
            dict(only or {}),
            lambda plan, missing: None,
            lambda planned, status: None,
        )
    finally:
        registry.close()
    if report.refused:
        raise RequestError(report.refused)
    failed = [
        f"{planned.trial.method} on {planned.trial.dataset}, seed {planned.trial.seed}: {message}"
        for planned, message in report.summary.failures
    ]
    return Results(session, tuple(failed))
