"""The leaderboard as a static site: every Markdown page as HTML, with the figures and records they link."""

from __future__ import annotations

import html
import itertools
import shutil
from pathlib import Path

from bench_core import RequestError
from bench_leaderboard.render.markdown import parser

__all__ = ["build_site", "page_as_html"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid #8886; padding: .3rem .7rem; text-align: left; }}
pre {{ overflow-x: auto; padding: .7rem; background: #8882; }}
img {{ max-width: 100%; }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def page_as_html(markdown: str) -> str:
    """A page's Markdown as a whole HTML document. HTML in the text stays text; links to pages become ``.html``."""
    reader = parser()
    tokens = reader.parse(markdown)
    title = "leaderboard"
    for before, token in itertools.pairwise(tokens):
        if before.type == "heading_open" and before.tag == "h1":
            title = "".join(child.content for child in token.children or [] if child.type == "text")
            break
    for token in tokens:
        for child in token.children or []:
            target = child.attrs.get("href")
            if isinstance(target, str) and "://" not in target:
                path, mark, anchor = target.partition("#")
                if path.endswith("README.md"):
                    path = path.removesuffix("README.md") + "index.html"
                elif path.endswith(".md"):
                    path = path.removesuffix(".md") + ".html"
                child.attrs["href"] = f"{path}{mark}{anchor}"
    body = reader.renderer.render(tokens, reader.options, {})
    return _PAGE.format(title=html.escape(title), body=body)


def build_site(leaderboard: Path, site: Path) -> list[Path]:
    """Write the site of a leaderboard's directory; the files written.

    Raises:
        RequestError: there is no leaderboard, or the site's directory lies within it.
    """
    if not leaderboard.is_dir():
        raise RequestError(f"there is no leaderboard at {leaderboard}")
    if site.resolve().is_relative_to(leaderboard.resolve()):
        raise RequestError(f"the site {site} would lie within the leaderboard {leaderboard}")
    written = []
    for source in sorted(leaderboard.rglob("*")):
        name = source.relative_to(leaderboard)
        if source.is_dir() or any(part.startswith(".") for part in name.parts):
            continue
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target = target.with_name("index.html" if source.name == "README.md" else f"{source.stem}.html")
            target.write_text(page_as_html(source.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(source, target)
        written.append(target)
    return written
