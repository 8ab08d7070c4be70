"""Sections of a suite file that plugins own: the core hands them over and does not read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_core.contract.metric import Metric
    from bench_core.run.suite import Suite

__all__ = ["OWNERS", "SectionRules", "SuiteSection"]

OWNERS = dict.fromkeys(("tables", "figures", "paper", "claims"), "budgetbench-leaderboard")
"""Sections that the suites of this repository have → the distribution that owns them.

Where it is not installed they are left unread. Any other key that no plugin owns is an error.
"""

Place = tuple[Any, ...]


def _as_it_is(place: Place) -> tuple[Place, type[Any] | None]:
    return place, None


@dataclass(frozen=True)
class SectionRules:
    """What a section may hold.

    Attributes:
        model: what it holds, as a type that pydantic validates: ``list[Claim]``.
        check: called with the suite and the validated value when everything else of the suite is checked; returns the
            metrics that the section needs in every record. Raises `RequestError`, naming file and key.
        tables: keys within the section → the pydantic model of the table there, for hints about a wrong key.
        kinds: kinds of entries, for hints about a wrong ``kind``.
        place: from the place of a fault as pydantic gives it to (the place as the file has it, its model or None).
    """

    model: Any
    check: Callable[[Suite, Any], Mapping[str, Metric]]
    tables: Mapping[str, type[Any]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    place: Callable[[Place], tuple[Place, type[Any] | None]] = _as_it_is


@dataclass(frozen=True)
class SuiteSection:
    """One further top-level key of suite files.

    Attributes:
        key: the key.
        define: gives its rules; called when the first suite is read.
    """

    key: str
    define: Callable[[], SectionRules]

    @cached_property
    def rules(self) -> SectionRules:
        """What the section may hold."""
        return self.define()
