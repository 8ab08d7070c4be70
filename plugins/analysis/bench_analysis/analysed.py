"""A suite's records, and the tables that several pages take from them, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from bench_records import Once, Records, select

from bench_analysis.cells import Cells
from bench_analysis.tables import Grid, grids

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Analysed"]


@dataclass
class Analysed(Once):
    """A suite's records, and the tables computed from them once.

    Attributes:
        suite, records: the suite and its records.
        verified: see `bench_records.verified.read_verified`.
    """

    suite: Suite
    records: Records
    verified: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> Cells:
        """The selected policies' numbers."""
        return Cells(select(self.records, self.suite))

    @cached_property
    def tables(self) -> list[Grid]:
        """Every data set's table."""
        return grids(self.records, self.suite, self.cells)
