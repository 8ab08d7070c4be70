"""A suite's records with what is computed of them once and used by several pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from bench_records import Records, select

from bench_analysis.cells import Cells
from bench_analysis.tables import Grid, grids

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Analysed"]

T = TypeVar("T")


@dataclass
class Analysed:
    """A suite's records with what is computed of them once.

    Attributes:
        suite, records: what it is of.
        verified: see `bench_records.verified.read_verified`.
    """

    suite: Suite
    records: Records
    verified: Mapping[str, str] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def cells(self) -> Cells:
        """The selected policies' numbers."""
        return Cells(select(self.records, self.suite))

    @cached_property
    def tables(self) -> list[Grid]:
        """Every data set's table."""
        return grids(self.records, self.suite, self.cells)

    def once(self, name: str, compute: Callable[[Analysed], T]) -> T:
        """What a function gives of these records; it is computed at the first call with this name."""
        if name not in self._kept:
            self._kept[name] = compute(self)
        kept: T = self._kept[name]
        return kept
