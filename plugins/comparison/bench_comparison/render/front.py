"""The answer on the front page: which method, at which budget; what to use for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import FrontPart, ended_trials, fenced, text, trials_done

from bench_comparison.render.answer import (
    PRICES,
    SURE_READ,
    TABLE_READ,
    command,
    comparison_table,
    count,
    flags_read,
    in_order,
    main_population,
    recommended,
    sentence,
    shares,
    short,
)

__all__ = ["front_part"]

JsonObject = Mapping[str, Any]

_ROWS = 10
"""Methods in the front page's table, beside the fallback and the fixed subsets."""


def front_part(described: Sequence[JsonObject], order: int) -> FrontPart:
    """The answers of the suites that compare methods, and links to their tables.

    Args:
        described: what every export says about itself.
        order: place on the page.
    """
    compared = [description for description in described if "comparison" in description]
    lines = [] if compared else ["No suite here compares methods over data sets, budget by budget.", ""]
    for description in compared:
        lines += _answer(description, several=len(compared) > 1)
    links = {name: f"[budgets]({name}/budgets.md)" for name in (description["name"] for description in compared)}
    return FrontPart(order, lines, links)


def _answer(description: JsonObject, several: bool) -> list[str]:
    comparison, name = description["comparison"], description["name"]
    title = "Which method, at which budget?" + (f" {text(description['title'])}" if several else "")
    lines = [f"## {title}", ""]
    main = main_population(comparison)
    if main is None:
        return [*lines, "There is no record yet.", ""]
    like = [population for population in comparison["populations"] if population["task"] == main["task"]]
    lines += [
        f"For {main['task']}, at budgets that are shares of what all features cost; a method is a whole family of "
        f"policies, of which validation picks the one for the budget. {SURE_READ}",
        "",
    ]
    done, expected = trials_done(description)
    if done < expected:
        lines += [f"{done} of {expected} trials have a result so far; the others have not been run yet.", ""]
    if ended := ended_trials(description):
        counted = " and ".join(f"{number} are {why}" for why, number in sorted(ended.items()))
        lines += [f"Not counted: {counted}.", ""]
    for place, budget in enumerate(comparison["budgets"]):
        rest = "; ".join(
            f"{_of(population)}: {short(population['measures'][place])}"
            for population in like
            if population is not main
        )
        said_of = f"{_capital(_of(main))}, {sentence(main['measures'][place])}." + (
            f" {_capital(rest)}." if rest else ""
        )
        lines.append(f"- **At {shares(budget)} of the price.** {said_of}")
    lines += ["", *_train(comparison, main)]
    lines += [f"### {_capital(_of(main))}: {count(len(main['datasets']))} of {main['task']}", ""]
    lines += [comparison_table(main, _rows(comparison, main)), ""]
    lines += [
        f"{TABLE_READ} {flags_read(comparison)} *Over budget*: the mean test cost exceeds the budget by more than "
        f"{100 * comparison['tolerance']:g} % of it; such a row is never ranked. [Every method, every kind of prices "
        f"and task]({name}/budgets.md), also [as numbers]({name}/budgets.csv).",
        "",
    ]
    return lines + _uses(comparison)


def _of(population: JsonObject) -> str:
    return f"with {PRICES[population['prices']]}"


def _capital(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


def _rows(comparison: JsonObject, main: JsonObject) -> list[str]:
    """The first methods of the table, and those that every method has to beat."""
    seen = {row["method"] for measure in main["measures"] for row in measure["ranked"]}
    order = in_order(main, [name for name in comparison["methods"] if name in seen])
    apart = [name for name in (comparison["fallback"], *comparison["static"]) if name in seen]
    return list(dict.fromkeys([*order[:_ROWS], *apart]))


def _train(comparison: JsonObject, main: JsonObject) -> list[str]:
    """The command that trains what leads at the second budget, or at the first that has a leader."""
    measures = [measure for measure in main["measures"] if measure["budget"] is not None]
    order = [measures[min(1, len(measures) - 1)], *measures]
    for measure in order:
        method = recommended(measure)
        if method is not None and method in comparison["methods"]:
            return [
                f"To train {text(method)}, which leads at {shares(measure['budget'])} of the price, on a table of your "
                "own with prices ([how](../plugins/policies/README.md)):",
                "",
                *fenced(command(comparison, method)),
                "",
            ]
    return []


def _uses(comparison: JsonObject) -> list[str]:
    if not comparison["uses"]:
        return []
    lines = ["## What to use for …", "", "By the area below the curve, which counts all budgets alike.", ""]
    for use in comparison["uses"]:
        unit = "" if use["cost"] == "cost" else f", by {text(use['cost'])}"
        names = text(", ".join(use["datasets"]))
        lines.append(f"- **{text(use['title'])}** ({names}{unit}): {sentence(use['measure'])}.")
    return [*lines, ""]
