"""The Jinja environment of this package's templates, which render Markdown."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["environment"]


def environment() -> Environment:
    """Return a new environment; an undefined name in a template is an error."""
    return Environment(
        loader=PackageLoader("bench_site"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
    )
