"""Trials that are done without being in the store."""

from __future__ import annotations

from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import Any

__all__ = ["KnownTrials"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class KnownTrials:
    """Finished trials that are not in the store, such as those of a published export.

    A plugin returns an object with these attributes from the hook ``bench_known_trials``. This base class has no trial.

    Attributes:
        done: names of the trials that are done.
        failed: names of the trials that failed.
        over_limit: names of failed trials that took longer than the time limit.
        inapplicable: names of trials that are not applicable → the reason.
        contents: definition of a data set (`definition_of`) → its content hash.
        is_current: whether the export is unchanged since it was read.
    """

    done: Set[str] = frozenset()
    failed: Set[str] = frozenset()
    over_limit: Set[str] = frozenset()
    inapplicable: Mapping[str, str] = _NOTHING
    contents: Mapping[str, str] = _NOTHING
    is_current: bool = False

    def provenance(self, name: str) -> Mapping[str, Any]:
        """Where and by which code a trial was computed; empty when unknown."""
        return {}
