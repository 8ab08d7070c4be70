"""Markdown by Jinja2 templates. They pass text through `text` or `code`; the rest is Markdown."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bench_leaderboard.render.markdown import blocks, code, fenced, plain_number, table, text

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["rendered"]


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals["table"] = table
    templates.filters |= {
        "blocks": blocks,
        "code": code,
        "fenced": lambda line: "\n".join(fenced(line)),
        "paragraph": lambda lines: f"{' '.join(lines.split())}\n",
        "plain": plain_number,
        "text": text,
    }
    return templates


def rendered(name: str, /, package: str = "bench_leaderboard", **values: Any) -> str:
    """A template's Markdown, with a newline at its end.

    Args:
        name: of the template, without ``.md.j2``.
        package: whose ``templates`` folder has it.
        values: the template's variables.
    """
    return _environment(package).get_template(f"{name}.md.j2").render(values)
