"""Reading suite files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.hookspecs import OWNERS
from bench_core.plugins.registry import Registry
from bench_core.run.suite import Suite
from bench_core.run.suite_faults import error_line
from bench_core.run.suite_schema import file_model

__all__ = ["load_suite", "parse_suite", "suite_of"]

_OWN_SUITES = Path(__file__).parents[1] / "_suites"


def load_suite(path: Path, registry: Registry) -> Suite:
    """Read and check a suite file.

    Args:
        path: a file, or the name of a suite that comes with the core, such as ``quickstart``.
        registry: the installed plugins.

    Raises:
        RequestError: the file cannot be read, is not TOML, or has invalid contents; file and key are named.
    """
    own = _OWN_SUITES / f"{path}.toml"
    try:
        text = (own if own.exists() and not path.exists() else path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        near += [p.stem for p in _OWN_SUITES.glob("*.toml")]
        raise RequestError(f"there is no suite {path}; {did_you_mean(path.name, near)}".rstrip("; ")) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {error}") from None
    return parse_suite(text, str(path), registry)


def parse_suite(text: str, path: str, registry: Registry) -> Suite:
    """Check a suite given as text; ``path`` is its name in messages. Raises as `load_suite`."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib passes on int()'s ValueError for very long numbers
        why = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise RequestError(f"{path} is not TOML: {why}") from None
    return suite_of(tables, path, registry, text)


def suite_of(tables: Mapping[str, Any], path: str, registry: Registry, text: str = "") -> Suite:
    """Check a suite given as parsed TOML; ``text`` is the file's text. Raises as `load_suite`."""
    registry.fetch_sections(list(tables))
    sections = registry.sections
    unread = [key for key in tables if key in OWNERS and key not in sections]
    read = {key: value for key, value in tables.items() if key not in unread}
    try:
        file = file_model(sections.values()).model_validate(read)
    except ValidationError as error:
        raise RequestError(error_line(path, error.errors(include_url=False), sections)) from None
    return Suite(path, text, file, registry, unread)
