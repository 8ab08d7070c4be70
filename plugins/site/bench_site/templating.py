"""The Jinja environment of this package's templates, which render Markdown."""

from __future__ import annotations

import re

from bench_leaderboard import code, text
from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["duration", "environment", "prose"]


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


def duration(seconds: float) -> str:
    """Return a time with two significant digits in a unit that needs no exponent: ``0.94 ms``, ``25 min``."""
    units = (("h", 3600.0, 3600.0), ("min", 60.0, 100.0), ("s", 1.0, 0.1), ("ms", 1e-3, 1e-4), ("µs", 1e-6, 0.0))
    unit, size = next((unit, size) for unit, size, least in units if seconds >= least)
    return f"{float(f'{seconds / size:.2g}'):g} {unit}"


def prose(docstring: str) -> str:
    """Return a docstring's first paragraph as one line of Markdown, with its literals as inline code."""
    line = " ".join(docstring.split("\n\n")[0].split())
    pieces = re.split(r"(`+)(.+?)\1", line)  # text, fence, literal, text, …
    return "".join(
        code(piece) if place % 3 == 2 else re.sub(r"\S(?:.*\S)?", lambda words: text(words[0]), piece)
        for place, piece in enumerate(pieces)
        if place % 3 != 1
    )
