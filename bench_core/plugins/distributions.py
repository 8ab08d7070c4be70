"""Installed distributions: what they require, the state of their code, and which of them this process has imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench_core.contract.canonical import canonical_json, sha256_text, source_hash

__all__ = ["CORE", "Distributions", "code_of", "imported_distributions"]

CORE = "budgetbench"
"""The distribution of the core."""
_AT_START = ("__editable__", "_distutils_hack")
"""Modules that installers put into every Python process."""


class Distributions:
    """The distributions that are installed now, by name; what was read is remembered."""

    def __init__(self) -> None:
        self.state, self._requirements = cache(_state), cache(_requirements)

    def required(self, names: Iterable[str], *, extras: bool = False, without: Iterable[str] = ()) -> set[str]:
        """Installed distributions and all that they require, directly or not, by normalised names.

        Args:
            names: where to begin.
            extras: whether to follow what is required for extras, too.
            without: normalised names that are left out, with what only they require.
        """
        seen, left, found = set(without), [_normal(name) for name in names], set()
        while left:
            name = left.pop()
            if name not in seen and _installed(name) is not None:
                found.add(name)
                left += [other for other, marker in self._requirements(name) if extras or "extra" not in marker]
            seen.add(name)
        return found

    def core(self) -> set[str]:
        """The core and what it requires."""
        return self.required([CORE])


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
    return sorted((found.name, _packages(found)) for found in map(_installed, names) if found)


def code_of(module: str) -> Path | None:
    """Where a module's code is: the folder of its package, or the file of a module in no package.

    Nothing is imported. None where it cannot be found.
    """
    name, *inner = module.split(".")
    try:
        spec = find_spec(name)
        for part in inner:
            name = f"{name}.{part}"
            spec = PathFinder.find_spec(name, spec.submodule_search_locations or ()) if spec else None
    except Exception:  # of a finder of another library
        return None
    if spec is None or not spec.has_location or not spec.origin:
        return None
    return Path(spec.origin).parent if spec.parent else Path(spec.origin)


def _installed(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _requirements(name: str) -> list[tuple[str, str]]:
    """Name and marker of what an installed distribution requires."""
    lines = metadata.distribution(name).requires or []
    return [(_normal(re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0]), line.partition(";")[2]) for line in lines]


def _state(name: str) -> str:
    """A hash that changes with the code of an installed distribution.

    Of its metadata and the list of its files with their hashes; of its source, too, where it has no such list or was
    installed from a folder, maybe to be edited.
    """
    found = metadata.distribution(name)
    parts = [found.read_text(file) for file in ("METADATA", "PKG-INFO", "RECORD", "direct_url.json")]
    if parts[2] is None or parts[3] is not None:
        parts += [source_hash(code) for package in sorted(_packages(found)) if (code := code_of(package))]
    return sha256_text(canonical_json(parts))


def _packages(distribution: metadata.Distribution) -> set[str]:
    """Names of the packages and modules that a distribution brings, those at the top."""
    record = distribution.read_text("RECORD") or ""  # `files` of it takes a hundred times as long
    files = {line.partition(",")[0].partition("/")[0] for line in record.splitlines() if ".py," in line}
    listed = (distribution.read_text("top_level.txt") or "").split()
    points = (point.module for point in distribution.entry_points if point.group.startswith("budgetbench"))
    named = {name.partition(".")[0].removesuffix(".py") for name in (*files, *listed, *points)}
    return {name for name in named if name.isidentifier() and not name.startswith(_AT_START)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
