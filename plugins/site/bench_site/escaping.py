"""Hooks of MkDocs.

One escapes the output of the filter ``striptags``: the theme's templates do not, and the filter turns
``&lt;script&gt;`` into the element. The other removes indentation and blank lines, a fifth of the pages' bytes.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

__all__ = ["on_env", "on_post_page"]

_KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
"""Elements in which white space counts."""


def on_env(env: Any, config: Any, files: Any) -> Any:
    """Replace the filter in the theme's Jinja environment; called by MkDocs."""
    env.filters["striptags"] = lambda value: escape(Markup(value).striptags())
    return env


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Remove indentation and blank lines from a page, except where white space counts; called by MkDocs."""
    parts = _KEPT.split(output)  # text, element, its name, text …
    return "".join(
        re.sub(r"\s*\n\s*", "\n", part) if place % 3 == 0 else part for place, part in enumerate(parts) if place % 3 < 2
    )
