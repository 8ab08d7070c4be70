"""The section on the papers' claims on the front page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import text

__all__ = ["front_lines"]

JsonObject = Mapping[str, Any]

_KINDS = {"same data": "the paper's own", "stand-in": "stand-ins", "absent": "the paper's own, not run"}
_VERDICTS = ("holds", "contradicted", "consistent", "cannot be told", "forced")
_HEAD = (
    "| Suite | Data | Claims | Hold | Contradicted | Consistent | Cannot be told | By construction |",
    "| :-- | :-- | --: | --: | --: | --: | --: | --: |",
)
_NOTE = (
    "On stand-ins, *hold* and *contradicted* mean that the claim is seen there, or not; this neither confirms nor "
    "contradicts the paper. *Consistent*: our interval does not contradict the paper's number, but is too wide to "
    "confirm it. *Cannot be told*: the data does not suffice. *By construction*: no result could change the verdict. "
    "Claims on data that has not been run are not checked."
)


def front_lines(described: Sequence[JsonObject]) -> list[str]:
    """A section with a table: for every suite that has claims, a row for each kind of data."""
    rows = []
    for description in described:
        title = f"[{text(description['title'])}]({description['name']}.md#claims-of-the-paper)"
        rows += [
            f"| {title} | {_KINDS[counts['kind']]} | {counts['claims']} | {' | '.join(_counted(counts))} |"
            for counts in description.get("claims", [])
            if counts["kind"] in _KINDS
        ]
    return ["## What the papers claim", "", *_HEAD, *rows, "", _NOTE, ""] if rows else []


def _counted(counts: JsonObject) -> list[str]:
    """The number of claims with each verdict; nothing in the place of 0."""
    return [str(counts.get(verdict) or "") for verdict in _VERDICTS]  # older pages lack the count of some verdicts
