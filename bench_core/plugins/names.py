"""Names that plugins add to ``bench_core``: what their users import from there, such as `bench_core.load_policy`.

A distribution adds one by an entry point of the group ``budgetbench.names``. The core's own names come first, and what
the core and plugins themselves use is imported from where it is.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

__all__ = ["NAMES", "added_name"]

NAMES = "budgetbench.names"


def added_name(name: str) -> Any:
    """What an installed plugin adds under a name; its plugin is imported now.

    Raises:
        AttributeError: none does, or several do.
    """
    matches = list(metadata.entry_points(group=NAMES, name=name))
    if len(matches) > 1:
        several = " and ".join(sorted(point.value for point in matches))
        raise AttributeError(f"bench_core.{name} is added by {several}; uninstall one of them")
    if not matches:
        raise AttributeError(f"bench_core has no {name!r}, and no installed plugin adds it")
    return matches[0].load()
