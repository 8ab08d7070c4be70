"""Installed distributions: their requirements, a hash of their code, and which ones this process has imported."""

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
from bench_core.plugins.catalogue import Plugin

__all__ = ["CORE", "Distributions", "code_of", "imported_distributions"]

CORE = "budgetbench"
"""The distribution of the core."""
_AT_START = ("__editable__", "_distutils_hack")
"""Prefixes of modules that installers load into every Python process."""


class Distributions:
    """The installed distributions, by name. Their metadata is read once and cached."""

    def __init__(self) -> None:
        self.state, self._requirements, self._installed = cache(_state), cache(_requirements), cache(_installed)

    def required(self, names: Iterable[str], *, extras: bool = False, without: Iterable[str] = ()) -> set[str]:
        """Installed distributions with all their direct and indirect requirements, by normalised names.

        Args:
            names: the distributions to start from.
            extras: whether to include the requirements of extras.
            without: normalised names to leave out, with the distributions that only they require.
        """
        seen, left, found = set(without), [_normal(name) for name in names], set()
        while left:
            name = left.pop()
            if name not in seen and self._installed(name) is not None:
                found.add(name)
                left += [other for other, marker in self._requirements(name) if extras or "extra" not in marker]
            seen.add(name)
        return found

    def state_of(self, plugin: Plugin) -> str:
        """A hash that changes with the code or place of a plugin, and with its requirements, the core and Python."""
        required = self.required([CORE, plugin.distribution], without=self.required([CORE]) - {CORE})
        own = [plugin.name, plugin.distribution, plugin.version, plugin.module, plugin.source, str(plugin.folder)]
        return sha256_text(canonical_json([sys.version, own, [self.state(name) for name in sorted(required)]]))


def imported_distributions() -> list[str]:
    """Names of the distributions of plugins, and of their requirements, whose code this process has imported.

    Requirements of the core are left out. A distribution counts as imported if one of its packages is.
    """
    return [name for name, packages in _of_plugins() if not sys.modules.keys().isdisjoint(packages)]


@cache
def _of_plugins() -> list[tuple[str, set[str]]]:
    """The distributions of plugins and their requirements, by name, with their packages."""
    distributions = Distributions()
    points: Any = metadata.entry_points()  # of another type before Python 3.12; both have groups
    groups = [group for group in points.groups if group.startswith("budgetbench")]
    plugins = {point.dist.name for group in groups for point in points.select(group=group)}
    names = distributions.required(plugins, extras=True, without=distributions.required([CORE]))
    return sorted((found.name, _packages(found)) for found in map(_installed, names) if found)


def code_of(module: str) -> Path | None:
    """Find a module's code: the folder of its package, or the file of a module without package.

    Nothing is imported. None if it cannot be found.
    """
    name, *inner = module.split(".")
    try:
        spec = find_spec(name)
        for part in inner:
            name = f"{name}.{part}"
            spec = PathFinder.find_spec(name, spec.submodule_search_locations or ()) if spec else None
    except Exception:  # import finders of other libraries may raise anything
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
    """Name and marker of each requirement of an installed distribution."""
    lines = metadata.distribution(name).requires or []
    return [(_normal(re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0]), line.partition(";")[2]) for line in lines]


def _state(name: str) -> str:
    """A hash that changes with the code of an installed distribution.

    It covers the metadata and the list of files with their hashes. If there is no such list, or the distribution was
    installed from a folder (maybe editable), it covers the source, too.
    """
    found = metadata.distribution(name)
    parts = [found.read_text(file) for file in ("METADATA", "PKG-INFO", "RECORD", "direct_url.json")]
    if parts[2] is None or parts[3] is not None:
        parts += [source_hash(code) for package in sorted(_packages(found)) if (code := code_of(package))]
    return sha256_text(canonical_json(parts))


def _packages(distribution: metadata.Distribution) -> set[str]:
    """Names of the top-level packages and modules of a distribution."""
    record = distribution.read_text("RECORD") or ""  # distribution.files takes a hundred times as long
    files = {line.partition(",")[0].partition("/")[0] for line in record.splitlines() if ".py," in line}
    listed = (distribution.read_text("top_level.txt") or "").split()
    points = (point.module for point in distribution.entry_points if point.group.startswith("budgetbench"))
    named = {name.partition(".")[0].removesuffix(".py") for name in (*files, *listed, *points)}
    return {name for name in named if name.isidentifier() and not name.startswith(_AT_START)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
