"""The front page of a leaderboard: what plugins' parts say of all suites, and the table of suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench_core import Registry
from bench_leaderboard.parts import front_parts
from bench_leaderboard.render.markdown import table, text

__all__ = ["ended_trials", "render_front", "trials_done"]

JsonObject = Mapping[str, Any]


def render_front(described: Sequence[JsonObject], registry: Registry) -> str:
    """The page, in Markdown, ending in a newline.

    Args:
        described: what every export says about itself, from `bench_leaderboard.render.index.read_descriptions`.
        registry: its plugins add their parts.
    """
    parts = front_parts(registry, described)
    lines = ["# Leaderboard", "", *(line for part in parts for line in part.lines)]
    names = [description["name"] for description in described]
    links = {name: "".join(f"{part.links[name]}, " for part in parts if name in part.links) for name in names}
    return "\n".join([*lines, *_suites(described, links)]).rstrip() + "\n"


def _suites(described: Sequence[JsonObject], links: Mapping[str, str]) -> list[str]:
    if not described:
        return ["## Suites", "", "There is none yet.", ""]
    body = [
        [
            f"[{text(description['title'])}]({description['name']}.md)",
            text(description["source"]),
            _trials(description),
            f"{links[description['name']]}{_links(description['name'])}",
        ]
        for description in described
    ]
    return [
        "## Suites",
        "",
        "Every number of their tables is in [results.csv](results.csv).",
        "",
        table(["Suite", "Source", "Trials", "More"], body, 4),
        "",
    ]


def trials_done(description: JsonObject) -> tuple[int, int]:
    """Trials that are done, and all that can be."""
    done, expected = (sum(row[key] for row in description["rows"]) for key in ("done", "expected"))
    return done, expected - ended_trials(description).total()


def ended_trials(description: JsonObject) -> Counter[str]:
    """Why trials will have no result → how many."""
    ended = Counter[str]()
    for row in description["rows"]:
        ended.update(row.get("ended", {}))
    return ended


def _trials(description: JsonObject) -> str:
    done, expected = trials_done(description)
    return f"{done}" if done == expected else f"{done} of {expected}"


def _links(name: str) -> str:
    return f"[timings]({name}/timings.md), [records]({name}/records.parquet)"
