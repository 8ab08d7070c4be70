"""The site's documentation: its files and navigation, and links to published results on the papers' pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from bench_core import RequestError

__all__ = ["Files", "Paper", "book", "documentation", "papers_of"]

Files = dict[str, str | Path]
"""Address relative to the site's source → text of the file, or path of a file to copy."""


@dataclasses.dataclass(frozen=True)
class Paper:
    """A page of the documentation about a paper.

    Attributes:
        path: the page's address on the site.
        title: the paper's title.
        methods: names of the paper's methods, from the page's front matter.
        suites: names of the paper's suites, from the page's front matter.
    """

    path: str
    title: str
    methods: tuple[str, ...]
    suites: tuple[str, ...]


def papers_of(docs: Path | None) -> list[Paper]:
    """Return the pages in ``papers/`` that have a front matter; none without documentation."""
    if docs is None:
        return []
    papers = []
    for path in sorted(docs.glob("papers/*.md")):
        head = _front_matter(path)
        if head:
            lists = [tuple(str(name) for name in head.get(key) or ()) for key in ("methods", "suites")]
            papers.append(Paper(f"docs/papers/{path.name}", str(head.get("title", path.stem)), *lists))
    return papers


def documentation(docs: Path | None, papers: Sequence[Paper], published: Callable[[Paper], str]) -> Files:
    """Return all files of the documentation except its navigation.

    Args:
        docs: directory of the documentation; None for a site without it.
        papers: the pages about papers.
        published: returns the Markdown that is appended to a paper's page.
    """
    files: Files = {}
    if docs is None:
        return files
    for path in sorted(docs.rglob("*")):
        if path.is_file() and path.name != "nav.yml" and not path.name.startswith("."):
            address = f"docs/{path.relative_to(docs).as_posix()}"
            files[address] = path
            if path.suffix == ".ipynb":
                files |= _notebook(path, address)
    for paper in papers:
        source = docs / paper.path.removeprefix("docs/")
        files[paper.path] = source.read_text(encoding="utf-8") + published(paper)
    return files


def _notebook(path: Path, address: str) -> Files:
    """Return a notebook as a page, with the outputs that it holds, and its pictures."""
    from nbconvert import MarkdownExporter

    text, resources = MarkdownExporter().from_filename(str(path))  # type: ignore[no-untyped-call]
    folder = address.rpartition("/")[0]
    pictures = {f"{folder}/{name}": content.decode() for name, content in resources["outputs"].items()}
    return {f"{address.removesuffix('.ipynb')}.md": text, **pictures}


def book(docs: Path | None) -> list[Any]:
    """Return the navigation of the documentation: that of ``nav.yml``, or all pages if there is no such file.

    Raises:
        RequestError: ``nav.yml`` is not a navigation in MkDocs' form.
    """
    if docs is None:
        return []
    file = docs / "nav.yml"
    if not file.is_file():
        return [f"docs/{path.relative_to(docs).as_posix()}" for path in sorted(docs.rglob("*.md"))]
    try:
        return list(_below_docs(yaml.safe_load(file.read_text(encoding="utf-8"))))
    except (yaml.YAMLError, TypeError, AttributeError) as error:
        raise RequestError(f"{file} is not a navigation in MkDocs' form: {error}") from None


def _below_docs(nav: Any) -> Any:
    if isinstance(nav, str):
        return f"docs/{nav.removesuffix('.ipynb')}.md" if nav.endswith(".ipynb") else f"docs/{nav}"
    if isinstance(nav, Mapping):
        return {key: _below_docs(value) for key, value in nav.items()}
    return [_below_docs(entry) for entry in nav]


def _front_matter(path: Path) -> dict[str, Any]:
    from mkdocs.utils.meta import get_data

    return dict(get_data(path.read_text(encoding="utf-8"))[1])
