"""The leaderboard's front page on the site: its links lead to the site's pages, its methods to theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["answer_target", "methods_linked"]


def answer_target(link: str, anchors: Mapping[str, Mapping[str, str]]) -> str | None:
    """Where a link of the front page leads on the site; None where it stays as it is.

    Args:
        link: as it stands in ``leaderboard/README.md``.
        anchors: suite → anchor → the part of its page, or the page, that has it.
    """
    path, _, anchor = link.partition("#")
    folder, _, file = path.rpartition("/")
    if path == "results.csv":
        return "results.md"
    if folder in anchors:
        return f"suites/{folder}/{file}"
    suite = path.removesuffix(".md")
    if suite not in anchors:
        return None
    part = anchors[suite].get(anchor) if anchor else None
    if part == f"data-{anchor}":
        return f"suites/{suite}/{part}.md"
    return f"suites/{suite}/{part}.md#{anchor}" if part else f"suites/{suite}/index.md"


def methods_linked(markdown: str, pages: Mapping[str, str]) -> str:
    """The answer with every method that stands in bold, or first in a table's row, as a link to its page.

    Args:
        markdown: the front page.
        pages: method, as it stands there → its page.
    """

    def put(match: re.Match[str]) -> str:
        name = match["name"]
        return f"{match['before']}[{name}]({pages[name]}){match['after']}" if name in pages else match[0]

    for pattern in (
        r"(?P<before>\*\*)(?P<name>[^*\n]+?)(?P<after>\*\*)",
        r"(?m)(?P<before>^\| )(?P<name>.+?)(?P<after> *\|)",
    ):
        markdown = re.sub(pattern, put, markdown)
    return markdown
