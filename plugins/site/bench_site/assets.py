"""Files that every page shares: Plotly and DataTables out of installed packages, the site's own script and style."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from bench_core import RequestError

__all__ = ["SCRIPTS", "STYLES", "WORKER_SHIM", "shared_files"]

SCRIPTS = ["assets/bench/tables.js", "assets/bench/site.js"]
STYLES = ["assets/bench/tables.css", "assets/bench/site.css"]
WORKER_SHIM = "assets/bench/iframe-worker-shim.js"
"""Lets the search run where pages are opened as files (npm's iframe-worker 1.0.4, MIT); the theme would load it from
the network."""

_EXPORT = re.compile(r"export\{([^{}]*)\};?")
_OWN = Path(__file__).parent / "assets"


def _package(name: str) -> Path:
    spec = find_spec(name)
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise RequestError(f"the site needs the package {name}; install budgetbench-site with its dependencies")
    return Path(places[0])


def as_script(module: str, name: str) -> str:
    """A bundled JavaScript module as a plain script that puts its exports into ``window[name]``.

    A browser does not import modules from files, only from servers.

    Raises:
        RequestError: the text does not end in one list of exports.
    """
    matches = list(_EXPORT.finditer(module))
    if len(matches) != 1:
        raise RequestError("the bundle of DataTables in the package itables is not of a known form")
    pairs = [part.split(" as ") for part in matches[0][1].split(",")]
    exported = ",".join(f"{pair[-1].strip()!r}:{pair[0].strip()}" for pair in pairs)
    body = module[: matches[0].start()] + f"window[{name!r}]={{{exported}}};" + module[matches[0].end() :]
    return f"(()=>{{{body}\n}})();\n"


def shared_files() -> dict[str, str | Path]:
    """Address → the file's text or where it is.

    Raises:
        RequestError: a package that ships a part of it is not installed, or has another form.
    """
    tables = _package("itables") / "html"
    bundle = (tables / "dt_bundle.js").read_text(encoding="utf-8")
    return {
        "assets/bench/plotly.min.js": _package("plotly") / "package_data" / "plotly.min.js",
        "assets/bench/tables.js": as_script(bundle, "benchTables"),
        "assets/bench/tables.css": tables / "dt_bundle.css",
        "assets/bench/site.js": _OWN / "site.js",
        "assets/bench/site.css": _OWN / "site.css",
        WORKER_SHIM: _OWN / "iframe-worker-shim.js",
    }
