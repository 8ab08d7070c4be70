"""Split a committed page of a suite into several pages of the site: tables, claims, curves, figures, provenance.

A suite's page on the leaderboard is long. Its second-level sections are copied to the site's pages, and their links are
rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from bench_leaderboard import slug

__all__ = ["TITLES", "anchors_of", "parts_of", "relinked"]

TITLES = {
    "results": "Tables",
    "claims": "Claims of the paper",
    "curves": "Curves with their numbers",
    "figures": "More figures and tables",
    "provenance": "Provenance",
}
"""Part → its title, in order."""

_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
_TEXT = r"(?:[^\[\]\\]|\\.)*"
_LINK = re.compile(rf"(!?\[{_TEXT}\])\(([^()\s]+)\)")
_PICTURE_LINK = re.compile(rf"(\[!\[{_TEXT}\]\([^()\s]+\)\])\(([^()\s]+)\)")
"""`_LINK` matches a link or a picture, `_PICTURE_LINK` a picture that is a link."""
_SPELLED = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&#123;": "{", "&#125;": "}", "&#64;": "@"}
_KNOWN = {
    "over-all-data-sets": "results",
    "how-to-read-the-tables": "results",
    "trade-off-curves": "curves",
    "provenance": "provenance",
    "failed-trials": "provenance",
}


def _plain(heading: str) -> str:
    for spelled, meant in _SPELLED.items():
        heading = heading.replace(spelled, meant)
    return re.sub(r"\\(.)", r"\1", heading)


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line number, level and text of every heading outside code blocks."""
    fence = ""
    for place, line in enumerate(lines):
        mark = line[:3]
        if mark == "```":
            fence = "" if fence else mark
        elif not fence and (match := _HEADING.match(line)):
            yield place, len(match[1]), _plain(match[2])


def _part(heading: str, tables: Collection[str]) -> str:
    name = slug(heading)
    if heading in tables:
        return "results"
    return "claims" if name.startswith("claims") else _KNOWN.get(name, "figures")


def parts_of(page: str, tables: Collection[str]) -> dict[str, str]:
    """Split a suite's page: part → its Markdown without a title, for the parts that the page has.

    Args:
        page: the page's Markdown.
        tables: headings of the data sets' sections.
    """
    lines = page.splitlines()
    heads = [(place, text) for place, level, text in _headings(lines) if level == 2]
    ends = [place for place, _ in heads[1:]] + [len(lines)]
    sections: dict[str, list[str]] = {}
    for (start, text), end in zip(heads, ends, strict=True):
        sections.setdefault(_part(text, tables), []).extend([*lines[start:end], ""])
    return {part: "\n".join(sections[part]).strip() + "\n" for part in TITLES if part in sections}


def anchors_of(parts: dict[str, str]) -> dict[str, str]:
    """Return the anchors of all headings: anchor → the first part that has it."""
    anchors: dict[str, str] = {}
    for part, text in parts.items():
        for _, _, heading in _headings(text.splitlines()):
            anchors.setdefault(slug(heading), part)
    return anchors


def relinked(markdown: str, target: Callable[[str], str | None]) -> str:
    """Return Markdown with its relative links rewritten; links to other sites are kept.

    Args:
        markdown: text rendered by `bench_leaderboard`, in which literal brackets are escaped.
        target: returns a link's new address; None replaces the link by its text.
    """

    def rewritten(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        new = target(match[2])
        return match[1][1:-1] if new is None else f"{match[1]}({new})"

    return _LINK.sub(rewritten, _PICTURE_LINK.sub(rewritten, markdown))
