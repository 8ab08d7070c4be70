"""Links within pages: every file and every heading that a page points to must be there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench_leaderboard import slug
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin

__all__ = ["as_html", "dead_links"]


def as_html(markdown: str) -> str:
    """Markdown as HTML: CommonMark with tables, in which HTML stays text and headings have the anchors of GitHub."""
    commonmark = MarkdownIt("commonmark", {"html": False}).enable("table")
    return str(commonmark.use(anchors_plugin, max_level=6, slug_func=slug).render(markdown))


def dead_links(pages: Iterable[Path], root: Path) -> list[str]:
    """The relative links of pages that lead nowhere, a line each: page, link, what is missing.

    Args:
        pages: HTML or Markdown files. Headings of Markdown have the anchors that GitHub gives them.
        root: the directory that holds everything which may be linked.
    """
    read = lru_cache(maxsize=None)(_Page.read)
    dead = []
    for page in pages:
        for link in dict.fromkeys(read(page).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
            if not target.is_relative_to(root.resolve()) or not target.exists():
                dead.append(f"{page}: {link}: there is no such file")
            elif (
                parts.fragment
                and target.suffix in (".html", ".md")
                and unquote(parts.fragment) not in read(target).anchors
            ):
                dead.append(f"{page}: {link}: there is no such heading")
    return dead


class _Page(HTMLParser):
    """A page's anchors, and what its links and pictures point to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []

    @classmethod
    def read(cls, path: Path) -> _Page:
        text = path.read_text(encoding="utf-8")
        page = cls()
        page.feed(as_html(text) if path.suffix == ".md" else text)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value and key == "id":
                self.anchors.add(value)
            elif value and (tag, key) in {("a", "href"), ("img", "src")}:
                self.links.append(value)
