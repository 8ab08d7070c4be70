"""Files shared by all pages: the site's own scripts, style and logo."""

from __future__ import annotations

from pathlib import Path

__all__ = ["LOGO", "SCRIPTS", "STYLES", "WORKER_SHIM", "shared_files"]

_OWN = Path(__file__).parent / "assets"
SCRIPTS = [f"assets/bench/{name}.js" for name in ("tables", "chart", "live", "site")]
STYLES = ["assets/bench/site.css"]
LOGO = "assets/bench/logo.svg"
WORKER_SHIM = "assets/bench/iframe-worker-shim.js"
"""A script that makes the search work on pages opened as files (npm's iframe-worker 1.0.4, MIT). The theme would load
it from the network."""


def shared_files() -> dict[str, str | Path]:
    """Return the shared files: address → the file's path."""
    return {f"assets/bench/{path.name}": path for path in sorted(_OWN.iterdir()) if path.is_file()}
