"""``answer.md``: every table of an answer, in Markdown; a function of ``losses.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench_leaderboard import rendered, text

from bench_comparison.findings import listed, main_view, name_of, per_cent, some
from bench_comparison.kinds import EMPTY, SIMPLEST
from bench_comparison.units import HALVINGS

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["chance", "quick_and_simple", "range_of", "render_answer", "said"]

JsonObject = Mapping[str, Any]

_SHOWN = 12
"""The most names that a cell of a table shows."""


def render_answer(suite: Suite, answer: JsonObject, splits: str = "") -> str:
    """The page of all tables.

    Args:
        suite: of the answer.
        answer: from `bench_comparison.question.loss_answer`.
        splits: how many have been run, from `bench_leaderboard.splits_so_far`.
    """
    page = rendered(
        "answer",
        package="bench_comparison",
        title=suite.file.suite.title or suite.name,
        name=suite.name,
        draws=f"{answer['draws']:,}",
        halvings=HALVINGS,
        simplest=", ".join(SIMPLEST),
        contents=_contents(answer),
        fixed=_fixed(answer),
        splits=splits,
        findings=said(answer["findings"]),
        unknown=[text(line) for line in answer["unknown"]],
        views=[_view(view, answer) for view in answer["views"]],
    )
    return page.rstrip() + "\n"


def said(findings: Sequence[JsonObject]) -> list[dict[str, str]]:
    """Findings, with their probabilities as text."""
    return [
        {
            "text": text(one["text"]),
            "more": text(one.get("more", "")),
            "chance": "" if one["probability"] is None else chance(one["probability"]),
            "table": one["table"],
        }
        for one in findings
    ]


def chance(value: float | None) -> str:
    """A probability: ``0.97``, ``> 0.995`` or ``< 0.005``."""
    if value is None:
        return "unknown"
    if value > 0.995:
        return "> 0.995"
    return "< 0.005" if value < 0.005 else f"{value:.2f}"


def range_of(interval: Sequence[float | None], digits: int = 0) -> str:
    """``70 % [59, 80]``."""
    value, low, high = interval
    if value is None or low is None or high is None:
        return per_cent(value, digits)
    ends = (per_cent(end, digits).removesuffix(" %") for end in (low, high))
    return f"{per_cent(value, digits)} [{', '.join(ends)}]"


def _contents(answer: JsonObject) -> list[list[str]]:
    """Each kind with what its methods do, and its algorithms with their variants."""
    rows = []
    for kind in answer["kinds"]:
        variants: dict[str, list[str]] = {}
        for label, method in answer["methods"].items():
            if method["kind"] == kind["name"]:
                variants.setdefault(method["algorithm"], []).append(label)
        cells = [name if labels == [name] else f"{name} ({'; '.join(labels)})" for name, labels in variants.items()]
        rows.append([text(kind["name"]), text(kind["read"]), text(", ".join(cells))])
    return rows


def _fixed(answer: JsonObject) -> str:
    """The kinds, and the algorithms of other kinds, that do not choose features row by row."""
    kinds = [kind["name"] for kind in answer["kinds"] if not kind["dynamic"]]
    rest = [one for one in answer["methods"].values() if not one["dynamic"] and one["kind"] not in (*kinds, EMPTY)]
    return text("; ".join([*kinds, *dict.fromkeys(one["algorithm"] for one in rest)]))


def _view(view: JsonObject, answer: JsonObject) -> dict[str, Any]:
    budgets = [per_cent(step["budget"]) for step in view["steps"]]
    names = [row["name"] for row in view["datasets"]]
    about = []
    if names:
        count = f"{len(names)} data set{'s' if len(names) > 1 else ''}"
        if view["families"] < len(names):
            count += f", {view['families']} if near-duplicates count once"
        about.append(f"{count}, by {text(view['metric'])}: {text('; '.join(names))}.")
    if view["left_out"]:
        left = text("; ".join(one["name"] for one in view["left_out"]))
        about.append(f"Left out, because the reference is not clearly better than the empty policy there: {left}.")
    if view["few"] and names:
        about.append(
            "With fewer than five independent data sets there are only mean qualities: their intervals would say "
            "nothing, and nothing is recommended."
        )
    short = name_of(view)
    return {
        "heading": short[:1].upper() + short[1:],
        "short": short,
        "about": " ".join(about),
        "budgets": ["", *budgets],
        "recommended": [_recommended(step) for step in view["steps"] if step["recommended"]],
        "kinds": _rows(view, "kinds", [kind["name"] for kind in answer["kinds"]]),
        "algorithms": [] if view["few"] else _rows(view, "algorithms", _order(view)),
        "few": view["few"],
        "seldom": text(", ".join(view["seldom"])),
        "duel": [] if view["few"] else _duel(view),
        "picture": view is main_view(answer),
    }


def _recommended(step: JsonObject) -> list[str]:
    best = step["recommended"]
    equal = [f"{text(one['algorithm'])} ({chance(one['probability'])})" for one in best["equal"]]
    return [
        per_cent(step["budget"]),
        f"**{text(best['method'])}**",
        range_of(best["quality"]),
        range_of(best["loss"], 1),
        "–" if best["beside"] is None else f"{best['beside']:.3f}",
        some(equal, _SHOWN) or "none",
        quick_and_simple(best),
        some([text(name) for name in best["open"]], _SHOWN) or "none",
    ]


def quick_and_simple(best: JsonObject) -> str:
    """The fastest and the simplest of the recommended and the practically equal methods; empty where none is equal.

    Args:
        best: what is recommended at a budget.
    """
    if not best["equal"]:
        return ""
    return f"{text(best['fastest'] or 'unknown')} · {text(best['simplest'])}"


def _order(view: JsonObject) -> list[str]:
    """Algorithms by their mean loss over the budgets."""
    lost: dict[str, list[float]] = {}
    for step in view["steps"]:
        for row in step["algorithms"]:
            lost.setdefault(row["name"], []).append(row["loss"][0])
    return sorted(lost, key=lambda name: (sum(lost[name]) / len(lost[name]), name))


def _rows(view: JsonObject, what: str, names: Sequence[str]) -> list[list[str]]:
    rows = []
    for name in names:
        found = [next((row for row in step[what] if row["name"] == name), None) for step in view["steps"]]
        if not any(found):
            continue
        sets = [str(max(row["families"] for row in found if row))] if what == "algorithms" else []
        rows.append([text(name), *sets, *("–" if row is None else _cell(row, view["few"]) for row in found)])
    return rows


def _cell(row: JsonObject, few: bool) -> str:
    if few:
        return per_cent(row["quality"][0])
    numbers = f"{range_of(row['quality'])} · loses {range_of(row['loss'], 1)}"
    if row.get("group") == "recommended":
        return f"**{numbers}**"
    if row.get("better") is not None:
        return f"{numbers} · {' · '.join(chance(row[key]) for key in ('better', 'equal', 'worse'))}"
    return f"{numbers} · {chance(row['best'])}"


def _duel(view: JsonObject) -> list[list[str]]:
    steps = view["dynamic"]
    if not steps:
        return []
    rows = [["all", f"{steps[0]['families']}", *(_gap(step) for step in steps)]]
    if all(step["without"] for step in steps):
        rows.append(["without the most influential one", f"{steps[0]['families'] - 1}", *map(_without, steps)])
    for place, group in enumerate(steps[0]["groups"]):
        cells = [_gap(step["groups"][place]) for step in steps]
        rows.append([text(group["title"]), f"{group['families']}", *cells])
    return rows


def _without(gap: JsonObject) -> str:
    rest = gap["without"]
    return f"{per_cent(rest['difference'])} without {text(rest['family'])}"


def _gap(gap: JsonObject) -> str:
    chances = [f"{name} {chance(gap[key])}" for name, key in (("better", "better"), ("worse", "worse"))]
    return f"{range_of(gap['difference'])}; {listed(chances)}"
