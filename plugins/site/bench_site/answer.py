"""Convert the leaderboard's front page for the site: rewrite its links, and link its methods to their pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["answer_target", "first_section", "methods_linked"]


def answer_target(link: str, anchors: Mapping[str, Mapping[str, str]], docs: Path | None) -> str | None:
    """Return the site's address for a link of the front page; None if the site has no such page.

    Args:
        link: the link's address in ``leaderboard/README.md``.
        anchors: suite → anchor → the part or page of the suite that has it.
        docs: the documentation's directory; None for a site without it.
    """
    path, _, anchor = link.partition("#")
    folder, _, file = path.rpartition("/")
    if path == "results.csv":
        return "results.md"
    if path.startswith("../docs/"):
        return link.removeprefix("../") if docs and (docs / path.removeprefix("../docs/")).is_file() else None
    if folder in anchors:
        there = file.endswith((".md", ".csv", ".svg")) or file == "losses.json"
        return f"suites/{folder}/{file}" if there else None
    suite = path.removesuffix(".md")
    if suite not in anchors:
        return None
    part = anchors[suite].get(anchor) if anchor else None
    if part == f"data-{anchor}":
        return f"suites/{suite}/{part}.md"
    return f"suites/{suite}/{part}.md#{anchor}" if part else f"suites/{suite}/index.md"


def first_section(markdown: str) -> str:
    """Return the first second-level section of the front page, without its heading and pictures."""
    section = re.split(r"(?m)^## .*$", markdown)[1]
    return re.sub(r"(?m)^\[!\[.*$\n?", "", section).strip() + "\n"


def methods_linked(markdown: str, pages: Mapping[str, str]) -> str:
    """Return the front page with links on the methods that are in bold, or in the first cell of a table row.

    Args:
        markdown: the front page.
        pages: method, as the page writes it → address of its page.
    """

    def linked(match: re.Match[str]) -> str:
        name = match["name"]
        return f"{match['before']}[{name}]({pages[name]}){match['after']}" if name in pages else match[0]

    for pattern in (
        r"(?P<before>\*\*)(?P<name>[^*\n]+?)(?P<after>\*\*)",
        r"(?m)(?P<before>^\| )(?P<name>.+?)(?P<after> *\|)",
    ):
        markdown = re.sub(pattern, linked, markdown)
    return markdown
