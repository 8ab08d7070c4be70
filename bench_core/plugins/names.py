"""Names that plugins add to ``bench_core`` for users, such as `bench_core.load_policy`.

A distribution adds one by an entry point of the group ``budgetbench.names``. The core's own names take precedence. The
core and plugins do not use added names: they import the objects from the modules that define them.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

__all__ = ["NAMES", "added_name"]

NAMES = "budgetbench.names"


def added_name(name: str) -> Any:
    """Return the object that an installed plugin adds under a name; the plugin is imported now.

    Raises:
        AttributeError: no plugin adds the name, or several do.
    """
    matches = list(metadata.entry_points(group=NAMES, name=name))
    if len(matches) > 1:
        several = " and ".join(sorted(point.value for point in matches))
        raise AttributeError(f"bench_core.{name} is added by {several}; uninstall one of them")
    if not matches:
        raise AttributeError(f"bench_core has no {name!r}, and no installed plugin adds it")
    return matches[0].load()
