"""Build the site from pages in Markdown with MkDocs and the Material theme, all files local, every link checked."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_leaderboard import slug

from bench_core import RequestError
from bench_core.suites import Registry
from bench_site import hooks
from bench_site.assets import LOGO, SCRIPTS, STYLES, WORKER_SHIM, shared_files
from bench_site.links import dead_links
from bench_site.pages import Pages
from bench_site.place import check_place, put
from bench_site.sources import published_suites

__all__ = ["Built", "build_site"]

_DOCSTRINGS = {
    "default_handler": "python",
    "enable_inventory": False,
    "handlers": {
        "python": {
            "load_external_modules": True,
            "options": {
                "docstring_section_style": "list",
                "filters": ["!^_"],
                "heading_level": 2,
                "line_length": 100,
                "separate_signature": True,
                "show_root_full_path": False,
                "show_root_heading": True,
                "show_signature_annotations": True,
                "show_source": False,
            },
        }
    },
}
"""How mkdocstrings renders the pages of `docs/reference/api`."""


@dataclass(frozen=True)
class Built:
    """The result of a build.

    Attributes:
        pages: number of HTML pages.
        bytes: size of all files, in bytes.
        faults: dead links and MkDocs' warnings, a line each.
    """

    pages: int
    bytes: int
    faults: list[str]


def build_site(registry: Registry, leaderboard: Path, suites: Path, docs: Path, site: Path) -> Built:
    """Build the site in a temporary directory, and move its files to the site's directory; see `bench_site.place`.

    Args:
        registry: the installed plugins, which describe methods and their parameters.
        leaderboard: directory of the published leaderboard.
        suites: directory of suite files; a published suite without its file has no curves.
        docs: directory of the documentation, which may be missing.
        site: the site's directory.

    Raises:
        RequestError: there is no leaderboard, it is damaged, or the site's directory holds other files or cannot be
            written.
    """
    check_place(site, [leaderboard, docs, suites])
    pages = Pages(registry, published_suites(registry, leaderboard, suites), docs if docs.is_dir() else None)
    with _folder_beside(site) as folder:
        source, built = Path(folder, "source").resolve(), Path(folder, "site").resolve()
        _write(source, {**pages.files(), **shared_files()})
        faults = _mkdocs(_config(source, built, pages.nav()))
        shown = [path for path in sorted(built.rglob("*.html")) if path.name != "404.html"]
        faults += [line.replace(f"{built}{os.sep}", "") for line in dead_links(shown, built)]
        for path in _unused(built):
            path.unlink(missing_ok=True)
        size = sum(path.stat().st_size for path in built.rglob("*") if path.is_file())
        put(built, site)
    return Built(len(shown), size, faults)


@contextmanager
def _folder_beside(site: Path) -> Iterator[str]:
    """Make a temporary directory on the file system of the site.

    Raises:
        RequestError: it cannot be made.
    """
    try:
        site.parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=site.parent, prefix=f".{site.name}.")
    except OSError as error:
        raise RequestError(f"{site} cannot be written: {error.strerror or error}") from None
    with made as folder:
        yield folder


def _write(folder: Path, files: dict[str, str | Path]) -> None:
    for address, content in files.items():
        target = folder / address
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, target)
        else:
            target.write_text(content, encoding="utf-8")


def _unused(built: Path) -> list[Path]:
    """Return files of the theme that no page needs: for other languages, for debugging, or for one address only."""
    languages = built / "assets" / "javascripts" / "lunr"
    return [
        built / "404.html",  # its addresses are absolute
        *built.rglob("*.map"),
        *(path for path in languages.rglob("*") if path.is_file()),
    ]


def _slug(heading: str, separator: str) -> str:
    return slug(heading)


def _scheme(name: str, media: str, icon: str, other: str) -> dict[str, Any]:
    return {
        "media": media,
        "scheme": name,
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": f"material/{icon}", "name": f"Switch to {other} mode"},
    }


def _config(source: Path, built: Path, nav: list[Any]) -> Any:
    """Return MkDocs' configuration.

    Raises:
        RequestError: MkDocs refuses the configuration.
    """
    from mkdocs.config.defaults import MkDocsConfig

    config = MkDocsConfig(config_file_path=str(source.parent / "mkdocs.yml"))
    config.load_dict(
        {
            "site_name": "budgetbench",
            "docs_dir": str(source),
            "site_dir": str(built),
            "nav": nav,
            "use_directory_urls": False,
            "theme": {
                "name": "material",
                "font": False,
                "logo": LOGO,
                "favicon": LOGO,
                "features": [
                    "navigation.tabs", "navigation.indexes", "navigation.top", "navigation.prune", "search.suggest",
                    "search.highlight", "content.code.copy", "toc.follow",
                ],
                "palette": [
                    _scheme("default", "(prefers-color-scheme: light)", "weather-night", "dark"),
                    _scheme("slate", "(prefers-color-scheme: dark)", "weather-sunny", "light"),
                ],
            },
            "extra": {"polyfills": [WORKER_SHIM], "generator": False},
            "extra_css": STYLES,
            "extra_javascript": SCRIPTS,
            "plugins": ["material/search", "material/offline", {"mkdocstrings": _DOCSTRINGS}],
            "hooks": [hooks.__file__],
            "markdown_extensions": [
                "admonition", "attr_list", "def_list", "md_in_html", "pymdownx.superfences", "pymdownx.escapeall",
                "pymdownx.highlight", {"toc": {"permalink": True, "slugify": _slug, "separator": "-"}},
            ],
            "validation": {
                "nav": {"omitted_files": "ignore"},
                "links": {"anchors": "warn", "not_found": "warn", "unrecognized_links": "warn"},
            },
        }
    )  # fmt: skip
    failed, _ = config.validate()
    if failed:
        raise RequestError("; ".join(f"{key}: {error}" for key, error in failed))
    return config


def _mkdocs(config: Any) -> list[str]:
    """Build the site, and return MkDocs' warnings.

    Raises:
        RequestError: MkDocs cannot build the site.
    """
    from mkdocs.commands.build import build
    from mkdocs.exceptions import MkDocsException

    with _warnings() as warnings:
        try:
            build(config)
        except MkDocsException as error:
            raise RequestError(f"the site cannot be built: {error}") from None
    return warnings


class _WarningLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def _warnings() -> Iterator[list[str]]:
    handler, logger = _WarningLines(), logging.getLogger("mkdocs")
    propagates = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates
