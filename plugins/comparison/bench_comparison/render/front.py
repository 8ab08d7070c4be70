"""The answer on the front page: a picture, a table, three sentences, and the command that fits what is recommended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import FrontPart, ended_trials, rendered, slug, splits_so_far, text, trials_done

from bench_comparison.findings import NAMED, deciding, listed, main_view, name_of, per_cent, recommends, some
from bench_comparison.kinds import SIMPLEST
from bench_comparison.render.answer_page import quick_and_simple, range_of, said

__all__ = ["front_part"]

JsonObject = Mapping[str, Any]

_SENTENCES = 3
_HEADER = (
    "Budget", "Recommended", "Quality", "Expected loss ¹", "Practically equal ²", "Of these, fastest · simplest ³"
)  # fmt: skip


def front_part(described: Sequence[JsonObject], order: int) -> FrontPart:
    """The answer of a suite that compares methods, and links to the tables of all such suites.

    The answer is that of the suite with the most independent data sets, the first among equals. Where none recommends
    anything, for lack of data sets, all of them say so.

    Args:
        described: what every export says about itself.
        order: place on the page.
    """
    compared = [description for description in described if "losses" in description]
    lines = [] if compared else ["No suite here compares methods over data sets, budget by budget.", ""]
    views = [(main_view(description["losses"]), description) for description in compared]
    sizes = [(view["families"], description) for view, description in views if view is not None]
    answering = [max(sizes, key=lambda pair: pair[0])[1]] if sizes else compared
    for description in answering:
        lines += _answer(description, several=len(answering) > 1).rstrip().splitlines()
        lines += [""]
    links = {name: f"[losses]({name}/answer.md)" for name in (description["name"] for description in compared)}
    return FrontPart(order, lines, links)


def _answer(description: JsonObject, several: bool) -> str:
    answer, view = description["losses"], main_view(description["losses"])
    values: dict[str, Any] = {
        "name": description["name"],
        "suffix": f" {text(description['title'])}" if several else "",
        "view": view,
        "splits": splits_so_far((row["dataset"], row["done"], row["expected"]) for row in description["rows"]),
        "progress": _progress(description),
        "why": text(" ".join(answer["unknown"])),
    }
    if view is not None:
        steps = [step for step in view["steps"] if step["recommended"]]
        taken = [step["recommended"]["method"] for step in steps]
        method = max(dict.fromkeys(taken), key=taken.count)
        at = [per_cent(step["budget"]) for step in steps if step["recommended"]["method"] == method]
        values |= {
            "alt": "Quality by budget, a line for each kind of method; the same in numbers is one click away",
            "header": [*_HEADER],
            "rows": [_row(step) for step in steps],
            "sentences": said(answer["findings"][:_SENTENCES]),
            "method": method,
            "summary": text(answer["methods"][method].get("summary", "")),
            "at": f"{listed(at)} of the price",
            "command": _command(answer, method),
            "families": view["families"],
            "deciding": text(" ".join(deciding(view))),
            "partly": _partly(view, steps),
            "metric": text(view["metric"]),
            "simplest": ", ".join(SIMPLEST),
            "sets": len(view["datasets"]),
            "left_out": len(view["left_out"]),
            "task": text(view["task"]),
            "others": _others(answer, view, f"{description['name']}/answer.md"),
        }
        prices = [one for one in answer["views"] if one is not view and one["task"] == view["task"] and recommends(one)]
        if prices:
            values["header"].append(f"{' · '.join(text(one['title']) for one in prices)} ⁴".capitalize())
            for step, row in zip(steps, values["rows"], strict=True):
                row.append(" · ".join(_recommended_at(one, step["budget"]) for one in prices))
    return rendered("front", package="bench_comparison", **values)


def _recommended_at(view: JsonObject, budget: float) -> str:
    """The algorithm that a view recommends at a budget."""
    found = (step["recommended"] for step in view["steps"] if step["budget"] == budget)
    return text(next(one["algorithm"] if one else "–" for one in found))


def _others(answer: JsonObject, view: JsonObject, page: str) -> str:
    """Links to the tables of the other tasks."""
    anchors: dict[str, str] = {}
    for one in answer["views"]:
        if one["task"] != view["task"]:
            anchors.setdefault(one["task"], slug(name_of(one)))
    return listed([f"[{text(task)}]({page}#{anchor})" for task, anchor in anchors.items()])


def _partly(view: JsonObject, steps: Sequence[JsonObject]) -> str:
    """Which of the named algorithms were run on a part of the data sets, and on how many: ``Greedy CMI (37)``."""
    named = [[step["recommended"], *step["recommended"]["equal"]] for step in steps]
    names = dict.fromkeys(one["algorithm"] for some in named for one in some)
    there = {row["name"]: row["families"] for step in view["steps"] for row in step["algorithms"]}
    return ", ".join(f"{text(name)} ({there[name]})" for name in names if there[name] < view["families"])


def _row(step: JsonObject) -> list[str]:
    best = step["recommended"]
    equal = [text(one["algorithm"]) for one in best["equal"]]
    return [
        per_cent(step["budget"]),
        f"**{text(best['method'])}**",
        range_of(best["quality"]),
        range_of(best["loss"], 1),
        some(equal, NAMED) or "none",
        quick_and_simple(best),
    ]


def _progress(description: JsonObject) -> str:
    """Trials that have no result yet, and those that will have none."""
    done, expected = trials_done(description)
    lines = []
    if done < expected:
        lines.append(f"{done} of {expected} trials have a result so far; the others have not been run yet.")
    if ended := ended_trials(description):
        counted = " and ".join(f"{number} are {why}" for why, number in sorted(ended.items()))
        lines.append(f"Not counted: {counted}.")
    return " ".join(lines)


def _command(answer: JsonObject, method: str) -> str:
    """The command that trains a method on your own table."""
    settings = answer["methods"][method]
    words = ["bench", "fit", "table.csv", "--target", "COLUMN", "--prices", "prices.toml", "--method", settings["use"]]
    if settings["parameters"]:
        words += ["--parameters", json.dumps(settings["parameters"], sort_keys=True)]
    return shlex.join([*words, "--budget", "BUDGET", "--out", "policy"])
