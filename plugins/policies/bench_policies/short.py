"""A fitted policy in a few lines, for notebooks and the console."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from bench_policies.wording import listed, one_line, with_half

__all__ = ["as_html", "in_short"]


def in_short(fitted: Any) -> dict[str, str]:
    """Return a summary of a `FittedPolicy`: name of a line → its text. Lines without text are left out."""
    about, measured = fitted.about, fitted.about.get("measured", {})
    quality = ("Right answers", 100.0, " %") if fitted.classes else ("Mean squared error", -1.0, "")
    short = {
        "Method": str(about.get("method", type(fitted.policy).__name__)),
        "Target": one_line(str(about.get("target") or about.get("data", {}).get("name", ""))),
        "Classes": listed(fitted.classes),
        "Features": str(len(fitted.feature_names)),
        "Goal": str(about.get("goal_in_words", "")),
        quality[0]: with_half(measured, "quality", *quality[1:]),
        "Mean cost": with_half(measured, "cost", 1.0, most=about.get("full_cost", math.inf)),
    }
    return {name: text for name, text in short.items() if text}


def as_html(fitted: Any) -> str:
    """Return the summary as an HTML table."""
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in in_short(fitted).items())
    return f"<table>{''.join(rows)}</table>"
