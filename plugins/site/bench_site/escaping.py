"""A hook of MkDocs: what the theme's filter ``striptags`` gives is text again, and no markup.

The theme's templates do not escape, and the filter turns ``&lt;script&gt;`` into the element.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

__all__ = ["on_env"]


def on_env(env: Any, config: Any, files: Any) -> Any:
    """Called by MkDocs with the theme's Jinja environment."""
    env.filters["striptags"] = lambda value: escape(Markup(value).striptags())
    return env
