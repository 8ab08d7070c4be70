"""The pages of a suite: its leaderboard page in parts, the pages beside it, and one page for each data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from bench_leaderboard import text

from bench_site.documentation import Files
from bench_site.layout import Layout
from bench_site.parts import TITLES, relinked
from bench_site.sources import Published

__all__ = ["suite_files"]

_NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"
"""Pages of numbers are not in the index of the search: it would be most of the site."""
_WITHOUT_CONTENTS = "---\nhide:\n  - toc\n---\n"
_HEADS = {"claims": _WITHOUT_CONTENTS} | dict.fromkeys(("results", "curves", "provenance"), _NOT_SEARCHED)
"""Part → front matter of its page. Claims have wide tables and few headings."""


class Site(Protocol):
    """What the pages of a suite need of `bench_site.pages.Pages`."""

    published: Sequence[Published]
    layouts: dict[str, Layout]

    def render(self, template: str, **values: Any) -> str: ...


def suite_files(site: Site, suite: Published) -> Files:
    """Return the pages of a suite and its figures and tables; see `Pages.files`."""
    layout = site.layouts[suite.name]
    base = f"suites/{suite.name}"
    files: Files = {
        f"{base}/{path.name}": path
        for path in (suite.folder / name for name in suite.description["files"])
        if (path.suffix in (".svg", ".csv") or path.name == "losses.json") and path.is_file()
    }
    beside = {name: suite.folder / f"{name}.md" for name in ("answer", "timings")}
    others = {name: path for name, path in beside.items() if path.is_file()}

    def home(link: str) -> str | None:
        """Return the address for a link of the suite's other pages."""
        path, _, anchor = link.partition("#")
        if Path(path).name == f"{suite.name}.md":
            return target(f"#{anchor}") if anchor else "index.md"
        return target(link)

    def target(link: str, here: str = "") -> str | None:
        path, _, anchor = link.partition("#")
        if not path:
            there = layout.anchors.get(anchor, here)
            return f"#{anchor}" if there == here else f"{there}.md#{anchor}"
        name = Path(path).name
        if name == "README.md":
            return "../../index.md"
        own = name.removesuffix(".md") in others or Path(name).stem in layout.addresses.values()
        if own or f"{base}/{name}" in files:
            return name
        return next((f"../{o.name}/index.md" for o in site.published if name == f"{o.name}.md"), None)

    for part, markdown in layout.parts.items():
        body = relinked(markdown, lambda link, part=part: target(link, part))  # type: ignore[misc]
        head = _HEADS.get(part, "")
        files[f"{base}/{part}.md"] = f"{head}# {TITLES[part]}: {text(suite.title)}\n\n{body}"
    for path in others.values():
        files[f"{base}/{path.name}"] = _NOT_SEARCHED + relinked(path.read_text(encoding="utf-8"), home)
    for dataset, markdown in layout.alone.items():
        sections = markdown.partition("\n## ")
        files[f"{base}/{layout.addresses[dataset]}.md"] = site.render(
            "panel",
            up="../../",
            suite=suite,
            dataset=dataset,
            panels=[panel for panel in suite.panels if panel.dataset == dataset],
            tables=relinked("".join(sections[1:]).lstrip(), home),
        )
    # With a page for each data set, this one has a wide table and one heading.
    files[f"{base}/index.md"] = (_WITHOUT_CONTENTS if layout.addresses else "") + site.render(
        "suite", up="../../", suite=suite, parts=layout.parts, alone=layout.addresses, beside=list(others)
    )
    return files
