"""The front page of a leaderboard: the parts that plugins add, and the table of suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench_core.suites import Registry
from bench_leaderboard.parts import FrontPart, front_parts
from bench_leaderboard.render.markdown import text
from bench_leaderboard.render.templates import rendered

__all__ = ["ended_trials", "render_front", "trials_done", "trials_text"]

JsonObject = Mapping[str, Any]


def render_front(described: Sequence[JsonObject], registry: Registry) -> str:
    """The page, in Markdown, ending in a newline.

    Args:
        described: every export's description, from `bench_leaderboard.render.index.read_descriptions`.
        registry: its plugins add their parts.
    """
    parts = front_parts(registry, described)
    suites = [
        [
            f"[{text(description['title'])}]({description['name']}.md)",
            text(description["source"]),
            trials_text(description),
            ", ".join(_links(description, parts)),
        ]
        for description in described
    ]
    lines = "".join(f"{line}\n" for part in parts for line in part.lines)
    return rendered("front", parts=lines, suites=suites)


def trials_done(description: JsonObject) -> tuple[int, int]:
    """The number of trials that are done, and of those that can be done."""
    done, expected = (sum(row[key] for row in description["rows"]) for key in ("done", "expected"))
    return done, expected - ended_trials(description).total()


def ended_trials(description: JsonObject) -> Counter[str]:
    """Reason why trials will have no result → number of trials."""
    ended = Counter[str]()
    for row in description["rows"]:
        ended.update(row.get("ended", {}))
    return ended


def trials_text(description: JsonObject) -> str:
    """``9``, or ``9 of 12`` where trials that can be done are not done yet."""
    done, expected = trials_done(description)
    return f"{done}" if done == expected else f"{done} of {expected}"


def _links(description: JsonObject, parts: Sequence[FrontPart]) -> list[str]:
    name = description["name"]
    links = [part.links[name] for part in parts if name in part.links]
    return [*links, f"[timings]({name}/timings.md)", f"[records]({name}/records)"]
