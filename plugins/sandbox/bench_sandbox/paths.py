"""The files that a restricted process may read: those of the system, the interpreter, and further ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["importable", "readable"]


def importable() -> list[Path]:
    """Return the folders that modules are imported from, with editable installs, without the working directory."""
    editable = [
        getattr(module, "MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")
    ]
    roots = [Path(root) for root in sys.path if root and Path(root) != Path.cwd()]
    return roots + [Path(folder) for mapping in editable for folder in mapping.values()]


def readable(needed: Iterable[Path], closed: Iterable[Path] = ()) -> list[Path]:
    """Return the folders of the system and the interpreter, and further paths, without closed ones.

    Args:
        needed: further files and folders.
        closed: files and folders that must not be read. A folder that contains one is replaced by its other entries.
    """
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys"]
    devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    shut = [path.resolve() for path in closed]
    paths = dict.fromkeys(path.resolve() for path in [*map(Path, prefixes + devices), *needed])
    return [allowed for path in paths for allowed in _without(path, shut)]


def _without(path: Path, closed: list[Path]) -> list[Path]:
    """Return a path, or the largest parts of it that contain no closed path."""
    if any(path == closed_path or closed_path in path.parents for closed_path in closed):
        return []
    if not any(path in closed_path.parents for closed_path in closed):
        return [path] if path.exists() else []
    with suppress(OSError):
        return [allowed for child in sorted(path.iterdir()) for allowed in _without(child.resolve(), closed)]
    return []
