"""Trials that are known beside those of a store."""

from __future__ import annotations

from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import Any

__all__ = ["KnownTrials"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class KnownTrials:
    """Trials that are known although the store does not hold them, such as those of a published export.

    A plugin returns an object with these attributes by the hook ``bench_known_trials``; this one knows of no trial.

    Attributes:
        done: names of the trials that are done.
        failed: names of the trials that failed.
        over_limit: names of those of the failed trials that took longer than the time limit.
        inapplicable: names of the trials that are not applicable → why.
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
        """Where and by which code a trial was computed; empty when that is not known."""
        return {}
