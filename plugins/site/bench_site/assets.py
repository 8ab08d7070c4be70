"""Files shared by all pages: Plotly and DataTables from installed packages, the site's own script and style."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from bench_core import RequestError

__all__ = ["SCRIPTS", "STYLES", "WORKER_SHIM", "shared_files"]

SCRIPTS = ["assets/bench/tables.js", "assets/bench/site.js"]
STYLES = ["assets/bench/tables.css", "assets/bench/site.css"]
WORKER_SHIM = "assets/bench/iframe-worker-shim.js"
"""A script that makes the search work on pages opened as files (npm's iframe-worker 1.0.4, MIT). The theme would load
it from the network."""

_EXPORT = re.compile(r"export\{([^{}]*)\};?")
_OWN = Path(__file__).parent / "assets"


def _package(name: str) -> Path:
    spec = find_spec(name)
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise RequestError(f"the site needs the package {name}; install budgetbench-site with its dependencies")
    return Path(folders[0])


def as_script(module: str, name: str) -> str:
    """Convert a bundled JavaScript module to a plain script that assigns its exports to ``window[name]``.

    Browsers import modules only from servers, not from files.

    Raises:
        RequestError: the module does not have exactly one list of exports.
    """
    matches = list(_EXPORT.finditer(module))
    if len(matches) != 1:
        raise RequestError("the bundle of DataTables in the package itables has an unknown form")
    pairs = [part.split(" as ") for part in matches[0][1].split(",")]
    exported = ",".join(f"{pair[-1].strip()!r}:{pair[0].strip()}" for pair in pairs)
    body = module[: matches[0].start()] + f"window[{name!r}]={{{exported}}};" + module[matches[0].end() :]
    return f"(()=>{{{body}\n}})();\n"


def shared_files() -> dict[str, str | Path]:
    """Return the shared files: address → the file's text, or its path.

    Raises:
        RequestError: plotly or itables is not installed, or the bundle in itables has an unknown form.
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
