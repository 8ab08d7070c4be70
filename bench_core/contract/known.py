"""Trials that are known beside those of a store."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Protocol

__all__ = ["KnownTrials", "NothingKnown"]


class KnownTrials(Protocol):
    """Trials that are known although the store does not hold them, such as those of a published export."""

    @property
    def done(self) -> Set[str]:
        """Names of the trials that are done."""
        return frozenset()

    @property
    def failed(self) -> Set[str]:
        """Names of the trials that failed."""
        return frozenset()

    @property
    def over_limit(self) -> Set[str]:
        """Names of those of the failed trials that took longer than the time limit."""
        return frozenset()

    @property
    def inapplicable(self) -> Mapping[str, str]:
        """Names of the trials that are not applicable → why."""
        return {}

    @property
    def contents(self) -> Mapping[str, str]:
        """Definition of a data set (`definition_of`) → its content hash."""
        return {}

    @property
    def is_current(self) -> bool:
        """Whether this is still what is there."""
        return False

    def provenance(self, name: str) -> Mapping[str, Any]:
        """Where and by which code a trial was computed; empty when that is not known."""
        return {}


class NothingKnown(KnownTrials):
    """No trial is known beside the store's."""
