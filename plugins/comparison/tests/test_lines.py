"""The front page's picture: which kinds of methods are bold."""

from __future__ import annotations

import json
import re

from bench_comparison.findings import main_view
from bench_comparison.render.answer_page import chance
from bench_comparison.render.lines import lines_figure
from support.bench import ROOT

ANSWER = json.loads((ROOT / "leaderboard" / "open" / "losses.json").read_text(encoding="utf-8"))


def bold(*recommended: str) -> str:
    """The kinds that the picture says are bold, if these are recommended at its budgets."""
    view = main_view(ANSWER)
    assert view is not None
    pairs = zip(view["steps"], recommended, strict=True)
    steps = [step | {"recommended": step["recommended"] | {"kind": kind}} for step, kind in pairs]
    found = re.search(r"Bold: (.*?)\. ", lines_figure(ANSWER, dict(view) | {"steps": steps}).decode())
    assert found
    return found[1]


def test_all_kinds_that_are_recommended_at_most_budgets_are_bold() -> None:
    first, second, third = (kind["name"] for kind in ANSWER["kinds"][1:4])
    assert bold(second, second, first, first, third) == f"{first} and {second}"
    assert bold(second, second, second, first, first) == second


def test_a_probability_is_written_as_in_the_sentences() -> None:
    assert [chance(value) for value in (0.94, 0.999, 0.001, None)] == ["0.94", "> 0.995", "< 0.005", "unknown"]
