"""Reduce records to what is published: their numbers, and those details of a fit that the suite's page shows.

The rest (feature usage of every policy, training history, models) is most of a record. It stays in the store.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench_core import canonical_json
from bench_records.columns import values
from bench_records.records import Records

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["published_form", "shown_names"]

_WHOLE = ("usage", "evaluations")
"""Keys of a record that are published completely or not at all."""
_MARGIN = "_margin"


def shown_names(suite: Suite) -> frozenset[str]:
    """Names of series, details and keys of records that the suite's page shows, from the plugins that render it."""
    found: list[Collection[str]] = suite.registry.manager.hook.bench_shown_names(suite=suite)
    return frozenset(name for names in found for name in names)


def published_form(records: Records, shown: Collection[str]) -> Records:
    """The records as they are published; ``records`` itself if there is nothing to leave out.

    Policies' numbers, the identity of a trial, diagnostics and errors are kept. ``usage``, ``evaluations``, series of
    the history and details of a policy are kept if ``shown`` contains their names. Numeric details that place a policy
    on a grid are kept, too: they have the name of a parameter or of a list in the diagnostics.

    Args:
        records: records of a suite.
        shown: names from `shown_names`.
    """
    infos = {name: _published_info(info, shown) for name, info in records.infos.items()}
    grids = {name: _grid_names(records, name) for name in infos}
    frame = records.policies
    if frame.empty:
        return records
    before = values(frame["details"])
    parsed = {text: json.loads(text) for text in set(before)}
    details = [
        _published_details(text, parsed[text], shown, grids[name])
        for name, text in zip(values(frame["name"]), before, strict=True)
    ]
    if details == before and all(infos[name] is info for name, info in records.infos.items()):
        return records
    return replace(records, policies=frame.assign(details=details), infos=infos)


def _published_info(info: dict[str, Any], shown: Collection[str]) -> dict[str, Any]:
    kept = {key: value for key, value in info.items() if key not in _WHOLE or key in shown}
    history = info.get("history")
    if history:
        kept["history"] = {key: series for key, series in history.items() if key.removesuffix(_MARGIN) in shown}
    return info if kept == info else kept


def _grid_names(records: Records, name: str) -> set[str]:
    """Names of a trial's parameters and of the lists in its diagnostics, also without a final "s"."""
    lists: Mapping[str, Any] = records.infos[name].get("diagnostics") or {}
    names = {key for key, value in lists.items() if isinstance(value, list)}
    if name in records.identities:
        names |= records.identities[name].get("method", {}).get("parameters", {}).keys()
    return names | {key.removesuffix("s") for key in names}


def _published_details(text: str, details: Mapping[str, Any], shown: Collection[str], grid: Collection[str]) -> str:
    kept = {
        key: value
        for key, value in details.items()
        if key in shown or (key in grid and isinstance(value, int | float) and not isinstance(value, bool))
    }
    return text if len(kept) == len(details) else canonical_json(kept)
