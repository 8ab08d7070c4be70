"""Hooks of MkDocs.

One escapes the output of the filter ``striptags``: the theme's templates do not, and the filter turns
``&lt;script&gt;`` into the element. The other removes indentation and blank lines, a fifth of the pages' bytes, and
shortens the alignment of cells, another fifth.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

__all__ = ["on_env", "on_post_page"]

_WHITE = re.compile(r"(?P<kept><(?P<name>pre|textarea|script|style)\b.*?</(?P=name)>)|\s*\n\s*", re.DOTALL)
"""A line break with the white space around it, or an element in which white space counts."""


_ALIGNED = {' style="text-align: left;"': "", ' style="text-align: right;"': ' class="r"'}
"""The alignment that Python-Markdown writes into every cell, and what replaces it; see ``assets/site.css``."""


def on_env(env: Any, config: Any, files: Any) -> Any:
    """Replace the filter in the theme's Jinja environment; called by MkDocs."""
    env.filters["striptags"] = lambda value: escape(Markup(value).striptags())
    return env


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Return the HTML of a page in fewer characters, with the same appearance. MkDocs calls this for every page."""
    for style, short in _ALIGNED.items():
        output = output.replace(style, short)
    return _WHITE.sub(lambda found: found["kept"] or "\n", output)
