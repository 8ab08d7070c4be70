"""Which files a restricted process may read: the system's, the interpreter's, and what else it needs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["importable", "readable"]


def importable() -> list[Path]:
    """Where modules are imported from, but for the working directory; also those installed to be edited."""
    editable = [
        getattr(module, "MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")
    ]
    roots = [Path(root) for root in sys.path if root and Path(root) != Path.cwd()]
    return roots + [Path(folder) for mapping in editable for folder in mapping.values()]


def readable(needed: Iterable[Path], closed: Iterable[Path] = ()) -> list[Path]:
    """The system's and the interpreter's folders, and what else is needed, without what is closed.

    Args:
        needed: further folders and files.
        closed: what must not be read; where it lies in a folder that is needed, its siblings are given instead.
    """
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys"]
    devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    shut = [path.resolve() for path in closed]
    paths = dict.fromkeys(path.resolve() for path in [*map(Path, prefixes + devices), *needed])
    return [allowed for path in paths for allowed in _beside(path, shut)]


def _beside(path: Path, closed: list[Path]) -> list[Path]:
    if any(path == closed_path or closed_path in path.parents for closed_path in closed):
        return []
    if not any(path in closed_path.parents for closed_path in closed):
        return [path] if path.exists() else []
    with suppress(OSError):
        return [allowed for child in sorted(path.iterdir()) for allowed in _beside(child.resolve(), closed)]
    return []
