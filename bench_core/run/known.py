"""Trials that are known beside the store's: what a plugin has of them, such as a published export."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Protocol

__all__ = ["NOTHING_KNOWN", "KnownTrials"]


class KnownTrials(Protocol):
    """Trials of a suite that are known although the store does not hold them."""

    @property
    def done(self) -> Set[str]:
        """Names of the trials that are done."""

    @property
    def failed(self) -> Set[str]:
        """Names of the trials that failed."""

    @property
    def inapplicable(self) -> Mapping[str, str]:
        """Names of the trials that are not applicable → why."""

    @property
    def contents(self) -> Mapping[str, str]:
        """Definition of a data set (see `bench_core.run.plan.definition_of`) → its content hash."""

    @property
    def is_current(self) -> bool:
        """Whether this is still what is there."""

    def provenance(self, name: str) -> Mapping[str, Any]:
        """Where and by which code a trial was computed; empty when that is not known."""


class _Nothing:
    done: Set[str] = frozenset()
    failed: Set[str] = frozenset()
    inapplicable: Mapping[str, str] = {}
    contents: Mapping[str, str] = {}
    is_current = False

    def provenance(self, name: str) -> Mapping[str, Any]:
        return {}


NOTHING_KNOWN: KnownTrials = _Nothing()
