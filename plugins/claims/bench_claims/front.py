"""The section on the papers' claims on the front page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import text

__all__ = ["front_lines"]

JsonObject = Mapping[str, Any]

_KINDS = {"same data": "on the paper's own data", "stand-in": "on stand-ins", "absent": "on data that is not available"}


def front_lines(described: Sequence[JsonObject]) -> list[str]:
    """A section with a line for every suite that has claims."""
    lines = []
    for description in described:
        counted = [_counted(counts) for counts in description.get("claims", []) if counts["kind"] in _KINDS]
        if counted:
            lines.append(
                f"- [{text(description['title'])}]({description['name']}.md#claims-of-the-paper): {'; '.join(counted)}."
            )
    return ["## What the papers claim", "", *lines, ""] if lines else []


def _counted(counts: JsonObject) -> str:
    """``21 claims on the paper's own data: 5 hold, 2 are contradicted, 4 consistent, 10 cannot be told``."""
    subject = f"{counts['claims']} claim{'s' * (counts['claims'] != 1)} {_KINDS[counts['kind']]}"
    if counts["kind"] == "absent":
        return f"{subject}, not checked"
    words = ("hold", "contradicted") if counts["kind"] == "same data" else ("seen here", "not seen here")
    forced = f", {counts['forced']} by construction" if counts["forced"] else ""
    consistent = counts.get("consistent", 0)  # pages written before this verdict existed lack its count
    return (
        f"{subject}: {counts['holds']} {words[0]}, {counts['contradicted']} {words[1]}, {consistent} consistent, "
        f"{counts['cannot be told']} cannot be told{forced}"
    )
