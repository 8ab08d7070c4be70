"""Installed distributions: what they require, the state of their code, and which of them this process has imported."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench_core.contract.canonical import canonical_json, sha256_text, source_hash

__all__ = ["Distributions", "imported_distributions"]

_CORE = "budgetbench"
_AT_START = ("__editable__", "_distutils_hack")
"""Modules that installers put into every Python process."""
_REQUIREMENT = re.compile(r"^Requires-Dist: *([A-Za-z0-9._-]+)([^\n]*)$", re.MULTILINE)


class Distributions:
    """The distributions that are installed now, by name; what was read is remembered."""

    def __init__(self) -> None:
        self._found: dict[str, metadata.Distribution | None] = {}
        self._requirements: dict[str, list[tuple[str, str]]] = {}
        self._states: dict[str, str] = {}

    def get(self, name: str) -> metadata.Distribution | None:
        """A distribution by its normalised name, or None where it is not installed."""
        if name not in self._found:
            try:
                self._found[name] = metadata.distribution(name)
            except (metadata.PackageNotFoundError, ValueError):
                self._found[name] = None
        return self._found[name]

    def required(self, names: Iterable[str], *, extras: bool = False, without: Iterable[str] = ()) -> set[str]:
        """Installed distributions and all that they require, directly or not.

        Args:
            names: where to begin.
            extras: whether to follow what is required for extras, too.
            without: normalised names that are left out, with what only they require.
        """
        seen, left, found = set(without), [_normal(name) for name in names], set()
        while left:
            name = left.pop()
            if name in seen or self.get(name) is None:
                continue
            seen.add(name)
            found.add(name)
            if name not in self._requirements:
                here = _REQUIREMENT.findall(self._head(name))
                self._requirements[name] = [(_normal(other), rest.partition(";")[2]) for other, rest in here]
            left += [other for other, marker in self._requirements[name] if extras or "extra" not in marker]
        return found

    def core(self) -> set[str]:
        """The core and what it requires."""
        return self.required([_CORE])

    def state(self, name: str) -> str:
        """A hash that changes with the code of a distribution.

        Of its metadata and the list of its files; where it is installed to be edited, or lists none, of its source.
        """
        if name not in self._states:
            found = self.get(name)
            record = found.read_text("RECORD") if found else None
            parts = [self._head(name), record]
            if found and (record is None or _is_editable(found)):
                parts += [source_hash(place) for package in sorted(_packages(found)) for place in _code(package)]
            self._states[name] = sha256_text(canonical_json(parts))
        return self._states[name]

    def _head(self, name: str) -> str:
        """The fields of its metadata, without the description."""
        found = self.get(name)
        text = (found.read_text("METADATA") or found.read_text("PKG-INFO")) if found else None
        return (text or "").partition("\n\n")[0]


def imported_distributions() -> list[str]:
    """The distributions of plugins, and those that plugins require, whose code this process has imported; by name.

    What the core itself requires is left out. A distribution counts as imported when one of its packages is.
    """
    return [name for name, packages in _of_plugins() if not sys.modules.keys().isdisjoint(packages)]


@cache
def _of_plugins() -> list[tuple[str, set[str]]]:
    """The distributions of plugins and what they require, by name, with their packages."""
    distributions = Distributions()
    points: Any = metadata.entry_points()  # of another type before Python 3.12; both have groups
    groups = [group for group in points.groups if group.startswith("budgetbench")]
    plugins = {point.dist.name for group in groups for point in points.select(group=group)}
    names = distributions.required(plugins, extras=True, without=distributions.core())
    found = [distribution for name in names if (distribution := distributions.get(name))]
    return sorted((distribution.name, _packages(distribution)) for distribution in found)


def _packages(distribution: metadata.Distribution) -> set[str]:
    """Names of the packages and modules that a distribution brings, those at the top."""
    record = distribution.read_text("RECORD") or ""  # `files` of it takes a hundred times as long
    files = {line.partition(",")[0].partition("/")[0] for line in record.splitlines() if ".py," in line}
    listed = (distribution.read_text("top_level.txt") or "").split()
    points = (point.module for point in distribution.entry_points if point.group.startswith("budgetbench"))
    named = {name.partition(".")[0].removesuffix(".py") for name in (*files, *listed, *points)}
    return {name for name in named if name.isidentifier() and not name.startswith(_AT_START)}


def _code(package: str) -> list[Path]:
    """The folders of a package, or the file of a module; none where it cannot be found."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    return folders or ([Path(spec.origin)] if spec.has_location and spec.origin else [])


def _is_editable(distribution: metadata.Distribution) -> bool:
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        return bool(origin["dir_info"]["editable"])
    except (ValueError, KeyError, TypeError):
        return False


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
