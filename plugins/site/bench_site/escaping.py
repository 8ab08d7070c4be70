"""A hook of MkDocs that escapes the output of the filter ``striptags``.

The theme's templates do not escape that output, and the filter turns ``&lt;script&gt;`` into the element.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

__all__ = ["on_env"]


def on_env(env: Any, config: Any, files: Any) -> Any:
    """Replace the filter in the theme's Jinja environment; called by MkDocs."""
    env.filters["striptags"] = lambda value: escape(Markup(value).striptags())
    return env
