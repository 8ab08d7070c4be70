"""The front page of a leaderboard: which method, at which budget; what to use for what; what the papers claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard.render.answer import (
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
from bench_leaderboard.render.markdown import fenced, table, text

__all__ = ["render_front"]

Said = Mapping[str, Any]

_ROWS = 10
"""Methods in the front page's table, beside the fallback and the fixed subsets."""


def render_front(described: Sequence[Said]) -> str:
    """The page, in Markdown, ending in a newline.

    Args:
        described: what every export says about itself, from `bench_leaderboard.render.index.read_descriptions`.
    """
    compared = [said for said in described if "comparison" in said]
    lines = ["# Leaderboard", ""]
    if not compared:
        lines += ["No suite here compares methods over data sets, budget by budget.", ""]
    for said in compared:
        lines += _answer(said, several=len(compared) > 1)
    lines += [*_claims(described), *_suites(described)]
    return "\n".join(lines).rstrip() + "\n"


def _answer(said: Said, several: bool) -> list[str]:
    found, name = said["comparison"], said["name"]
    title = "Which method, at which budget?" + (f" {text(said['title'])}" if several else "")
    lines = [f"## {title}", ""]
    main = main_population(found)
    if main is None:
        return [*lines, "There is no record yet.", ""]
    like = [one for one in found["populations"] if one["task"] == main["task"]]
    lines += [
        f"For {main['task']}, at budgets that are shares of what all features cost; a method is a whole family of "
        f"policies, of which validation picks the one for the budget. {SURE_READ}",
        "",
    ]
    done, expected = _done(said)
    if done < expected:
        lines += [f"{done} of {expected} trials have a result so far; the others have not been run yet.", ""]
    if ended := _ended(said):
        counted = " and ".join(f"{number} are {why}" for why, number in sorted(ended.items()))
        lines += [f"Not counted: {counted}.", ""]
    for place, budget in enumerate(found["budgets"]):
        rest = "; ".join(f"{_of(one)}: {short(one['measures'][place])}" for one in like if one is not main)
        said_of = f"{_capital(_of(main))}, {sentence(main['measures'][place])}." + (
            f" {_capital(rest)}." if rest else ""
        )
        lines.append(f"- **At {shares(budget)} of the price.** {said_of}")
    lines += ["", *_train(found, main)]
    lines += [f"### {_capital(_of(main))}: {count(len(main['datasets']))} of {main['task']}", ""]
    lines += [comparison_table(main, _rows(found, main)), ""]
    lines += [
        f"{TABLE_READ} {flags_read(found)} *Over budget*: the mean test cost exceeds the budget by more than "
        f"{100 * found['tolerance']:g} % of it; such a row is never ranked. [Every method, every kind of prices and "
        f"task]({name}/budgets.md), also [as numbers]({name}/budgets.csv).",
        "",
    ]
    return lines + _uses(found)


def _of(population: Said) -> str:
    return f"with {PRICES[population['prices']]}"


def _capital(said: str) -> str:
    return said[:1].upper() + said[1:]


def _rows(found: Said, main: Said) -> list[str]:
    """The first methods of the table, and those that every method has to beat."""
    seen = {one["method"] for measure in main["measures"] for one in measure["ranked"]}
    order = in_order(main, [name for name in found["methods"] if name in seen])
    apart = [name for name in (found["fallback"], *found["static"]) if name in seen]
    return list(dict.fromkeys([*order[:_ROWS], *apart]))


def _train(found: Said, main: Said) -> list[str]:
    """The command that trains what leads at the second budget, or at the first that has a leader."""
    measures = [one for one in main["measures"] if one["budget"] is not None]
    order = [measures[min(1, len(measures) - 1)], *measures]
    for measure in order:
        method = recommended(measure)
        if method is not None and method in found["methods"]:
            return [
                f"To train {text(method)}, which leads at {shares(measure['budget'])} of the price, on a table of your "
                "own with prices ([how](../plugins/policies/README.md)):",
                "",
                *fenced(command(found, method)),
                "",
            ]
    return []


def _uses(found: Said) -> list[str]:
    if not found["uses"]:
        return []
    lines = ["## What to use for …", "", "By the area below the curve, which counts all budgets alike.", ""]
    for use in found["uses"]:
        unit = "" if use["cost"] == "cost" else f", by {text(use['cost'])}"
        names = text(", ".join(use["datasets"]))
        lines.append(f"- **{text(use['title'])}** ({names}{unit}): {sentence(use['measure'])}.")
    return [*lines, ""]


_KINDS = {"same data": "on the paper's own data", "stand-in": "on stand-ins", "absent": "on data that could not be had"}


def _claims(described: Sequence[Said]) -> list[str]:
    lines = []
    for said in described:
        told = [_counted(one) for one in said.get("claims", []) if one["kind"] in _KINDS]
        if told:
            lines.append(f"- [{text(said['title'])}]({said['name']}.md#claims-of-the-paper): {'; '.join(told)}.")
    return ["## What the papers claim", "", *lines, ""] if lines else []


def _counted(one: Said) -> str:
    """``21 claims on the paper's own data: 5 hold, 2 are contradicted, 14 cannot be told``."""
    said = f"{one['claims']} claim{'s' * (one['claims'] != 1)} {_KINDS[one['kind']]}"
    if one["kind"] == "absent":
        return f"{said}, not checked"
    words = ("hold", "contradicted") if one["kind"] == "same data" else ("seen here", "not seen here")
    forced = f", {one['forced']} by construction" if one["forced"] else ""
    return (
        f"{said}: {one['holds']} {words[0]}, {one['contradicted']} {words[1]}, "
        f"{one['cannot be told']} cannot be told{forced}"
    )


def _suites(described: Sequence[Said]) -> list[str]:
    if not described:
        return ["## Suites", "", "There is none yet.", ""]
    body = [
        [f"[{text(said['title'])}]({said['name']}.md)", text(said["source"]), _trials(said), _links(said)]
        for said in described
    ]
    return [
        "## Suites",
        "",
        "Every number of their tables is in [results.csv](results.csv).",
        "",
        table(["Suite", "Source", "Trials", "More"], body, 4),
        "",
    ]


def _done(said: Said) -> tuple[int, int]:
    """Trials that are done, and all that can be."""
    done, expected = (sum(row[key] for row in said["rows"]) for key in ("done", "expected"))
    return done, expected - _ended(said).total()


def _ended(said: Said) -> Counter[str]:
    """Why trials will have no result → how many."""
    ended = Counter[str]()
    for row in said["rows"]:
        ended.update(row.get("ended", {}))
    return ended


def _trials(said: Said) -> str:
    done, expected = _done(said)
    return f"{done}" if done == expected else f"{done} of {expected}"


def _links(said: Said) -> str:
    name = said["name"]
    budgets = f"[budgets]({name}/budgets.md), " if "comparison" in said else ""
    return f"{budgets}[timings]({name}/timings.md), [records]({name}/records.parquet)"
