"""Cells: a method's numbers by seed on a data set under a cost scheme; two methods' numbers on their common seeds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cells"]

Numbers = NDArray[np.float64]


class Cells:
    """The selected policies' numbers, by data set, cost scheme and method.

    Attributes:
        chosen: from `bench_records.selection.select`: a row per data set, cost scheme, method and seed.
    """

    def __init__(self, chosen: pd.DataFrame) -> None:
        self.chosen = chosen
        self._rows: dict[tuple[str, str, str], NDArray[np.int64]] = {}
        if len(chosen):
            self._rows = cast(
                "dict[tuple[str, str, str], NDArray[np.int64]]", chosen.groupby(["dataset", "costs", "method"]).indices
            )
        self._seeds = chosen["seed"].to_numpy() if len(chosen) else np.zeros(0, dtype=np.int64)
        self._names = chosen["name"].to_numpy() if len(chosen) else np.zeros(0, dtype=object)
        self._rules = chosen["rule"].to_numpy() if len(chosen) else np.zeros(0, dtype=object)
        self._over = chosen["over_budget"].to_numpy(dtype=bool) if "over_budget" in chosen else None
        self._columns: dict[str, Numbers] = {}

    def _column(self, metric: str) -> Numbers | None:
        key = f"test.{metric}"
        if key not in self.chosen:
            return None
        if metric not in self._columns:
            self._columns[metric] = self.chosen[key].to_numpy(dtype=np.float64)
        return self._columns[metric]

    def rows(self, dataset: str, costs: str, method: str) -> NDArray[np.int64]:
        """Row numbers in the table of selected policies, by seed; empty when nothing is done."""
        rows = self._rows.get((dataset, costs, method))
        return np.zeros(0, dtype=np.int64) if rows is None else rows

    def seeds(self, dataset: str, costs: str, method: str) -> NDArray[np.int64]:
        """Seeds that are done, ascending."""
        seeds: NDArray[np.int64] = self._seeds[self.rows(dataset, costs, method)]
        return seeds

    def rule(self, dataset: str, costs: str, method: str) -> str:
        """How the policies were selected; empty when nothing is done."""
        rows = self.rows(dataset, costs, method)
        return str(self._rules[rows[0]]) if len(rows) else ""

    def over_budget(self, dataset: str, costs: str, method: str) -> int:
        """Number of seeds whose selected policy exceeds the cap of the selection rule: none kept it on validation."""
        rows = self.rows(dataset, costs, method)
        return 0 if self._over is None or not len(rows) else int(self._over[rows].sum())

    def names(self, dataset: str, costs: str, method: str) -> list[str]:
        """Names of the trials whose policies were selected, by seed."""
        return [str(name) for name in self._names[self.rows(dataset, costs, method)]]

    def values(self, dataset: str, costs: str, method: str, metric: str) -> Numbers:
        """A metric on the test part, by seed, NaN where it is undefined.

        Empty when nothing is done, or when no seed has the metric.
        """
        column = self._column(metric)
        if column is None:
            return np.zeros(0)
        values: Numbers = column[self.rows(dataset, costs, method)]
        return values if np.isfinite(values).any() else np.zeros(0)

    def paired(self, dataset: str, costs: str, a: str, b: str, metric: str) -> tuple[Numbers, Numbers]:
        """A metric of two methods, on the seeds on which both have a value."""
        first, second = (self.values(dataset, costs, method, metric) for method in (a, b))
        if not len(first) or not len(second):
            return np.zeros(0), np.zeros(0)
        at, at_other = self._common(dataset, costs, a, b)
        first, second = first[at], second[at_other]
        defined = np.isfinite(first) & np.isfinite(second)
        return first[defined], second[defined]

    def identical(self, dataset: str, costs: str, a: str, b: str) -> bool:
        """Whether two rows have the same numbers in every metric on every seed that both have done."""
        at, at_other = self._common(dataset, costs, a, b)
        if not len(at):
            return False
        ours, theirs = (self.rows(dataset, costs, m)[i] for m, i in ((a, at), (b, at_other)))
        return bool(np.array_equal(self._tests[ours], self._tests[theirs], equal_nan=True))

    @cached_property
    def _tests(self) -> Numbers:
        columns = [key for key in self.chosen.columns if key.startswith("test.")]
        table: Numbers = self.chosen[columns].to_numpy(dtype=np.float64)
        return table

    def _common(self, dataset: str, costs: str, a: str, b: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions, in the seeds of each method, of those that both have done."""
        ours, theirs = self.seeds(dataset, costs, a), self.seeds(dataset, costs, b)
        _, at, at_other = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        return at, at_other
