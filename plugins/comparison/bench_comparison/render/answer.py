"""The results of a comparison, in sentences and tables: a function of ``comparison.json`` alone.

One rule decides how sure a sentence is. A method *is* best if it is first in 95 % of the resamples of the data sets,
and *probably* best in 80 %. Otherwise, or with fewer than five data sets, the best is unknown; candidates are named.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import table, text

from bench_comparison.findings import FEW

__all__ = [
    "SURE_READ",
    "TABLE_READ",
    "command",
    "comparison_table",
    "count",
    "flags_read",
    "in_order",
    "sentence",
    "shares",
    "spread",
]

_CLEAR, _LIKELY, _POSSIBLE = 0.95, 0.8, 0.05
_NAMED = 3

SURE_READ = (
    f"A method *is* best where it is first in {100 * _CLEAR:.0f} % of 2,000 resamples of the data sets, *probably* in "
    f"{100 * _LIKELY:.0f} %; otherwise, or on fewer than {FEW} data sets, it cannot be told."
)

TABLE_READ = (
    "Each cell: mean rank (1 is best) · mean share of the full model's quality, over the data sets that the ranked "
    "methods share, each with its 95 % interval over resamples of the data sets. The full model of a split is the "
    "method that is best on validation when everything may be bought. **Bold**: the best mean rank."
)

_NO_BETTER = {"over_fallback": "†", "over_fixed": "‡"}

Measure = Mapping[str, Any]


def shares(budget: float | None) -> str:
    """What a budget is called: ``10 %``."""
    return "all budgets" if budget is None else f"{100 * budget:g} %"


def sentence(measure: Measure) -> str:
    """Who is best, where, and how sure that is; in Markdown, without a full stop."""
    ranked, datasets = measure["ranked"], measure["datasets"]
    total = len(measure["every"])
    if not ranked:
        return "no method keeps the budget on half of the data sets" if total else "no data set has a record"
    leader = ranked[0]
    name = f"**{text(leader['method'])}**"
    if len(ranked) == 1:
        return f"only {name} keeps the budget on half of the {count(total)}, so there is nothing to tell"
    where = f"{len(datasets)} of {count(total)}" if len(datasets) < total else f"{'all ' * (total > 1)}{count(total)}"
    numbers = (
        f"mean rank {spread(leader['rank'])} of {len(ranked)} methods on {where}, "
        f"{spread(leader['relative'], percent=True)} of the full model's quality"
    )
    first = f"first in {100 * leader['first']:.0f} % of the resamples"
    if len(datasets) < FEW:
        return (
            f"it cannot be told who is best: the ranked methods share only {count(len(datasets))}; "
            f"{name} leads ({numbers}, best on {leader['leads']})"
        )
    if leader["first"] >= _CLEAR:
        return f"{name} is best: {numbers}; {first}{_near(measure)}"
    if leader["first"] >= _LIKELY:
        return f"{name} is probably best: {numbers}; {first}{_near(measure)}"
    others = sorted(ranked[1:], key=lambda row: -row["first"])
    possible = [f"{text(row['method'])} ({100 * row['first']:.0f} %)" for row in others if row["first"] >= _POSSIBLE]
    rest = f"; it may be {_listed(possible)} as well" if possible else ""
    rank = numbers.removeprefix("mean rank ")
    return f"it cannot be told who is best: {name} has the best mean rank, {rank}, but is {first} only{rest}"


def _near(measure: Measure) -> str:
    near = [text(name) for name in measure["near"]]
    if not near:
        return ", and all others are further away than the critical difference"
    return f"; within the critical difference of {measure['difference']:.1f} ranks: {_listed(near)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def count(datasets: int) -> str:
    return f"{datasets} data set{'s' * (datasets != 1)}"


def spread(interval: Sequence[float | None], percent: bool = False) -> str:
    """``2.1 [1.5, 2.9]``."""
    value, low, high = interval[:3]
    if value is None:
        return "–"

    def number(x: float) -> str:
        return f"{100 * x:.1f}" if percent else f"{x:.1f}"

    ends = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return f"{number(value)}{' %' if percent else ''}{ends}"


def flags_read(comparison: Mapping[str, Any]) -> str:
    """What the marks of a table mean."""
    fallback = text(comparison["fallback"]) or "the method that buys nothing"
    fixed = text(" or ".join(comparison["static"]))
    return (
        f"† on average no better than {fallback}, which costs nothing. ‡ on average no better than the best fixed "
        f"subset of features{f' ({fixed})' if fixed else ''} that costs no more."
    )


def flags(measure: Measure, method: str) -> str:
    """† where a method does not beat the fallback on average, ‡ where it does not beat the best fixed subset."""
    marks = ""
    for key, mark in _NO_BETTER.items():
        interval = measure[key].get(method)
        if interval is not None and interval[0] is not None and interval[0] <= 0:
            marks += mark
    return marks


def cell(measure: Measure, method: str) -> str:
    """A method at a budget: mean rank and share of the full model's quality, or why it has none."""
    row = next((row for row in measure["ranked"] if row["method"] == method), None)
    mark = flags(measure, method)
    if row is not None:
        best = row is measure["ranked"][0] and len(measure["ranked"]) > 1
        numbers = f"{spread(row['rank'])} · {spread(row['relative'], percent=True)}"
        return (f"**{numbers}**" if best else numbers) + (f" {mark}" if mark else "")
    reasons = {why: count for why, count in measure["out"].get(method, {}).items() if why != "ranked"}
    worst = max(reasons, key=lambda why: reasons[why], default="")
    reason = f"*{worst}* ({reasons[worst]} of {len(measure['every'])})" if worst else "–"
    return reason + (f" {mark}" if mark else "")


def comparison_table(population: Mapping[str, Any], methods: Sequence[str], areas: bool = False) -> str:
    """Methods × budgets."""
    measures = [measure for measure in population["measures"] if areas or measure["budget"] is not None]
    head = ["Method", *(shares(measure["budget"]) for measure in measures)]
    return table(head, [[text(m), *(cell(measure, m) for measure in measures)] for m in methods])


def in_order(population: Mapping[str, Any], methods: Sequence[str]) -> list[str]:
    """Methods by their mean rank at the second budget, or at the only one; unranked ones last."""
    measures = [measure for measure in population["measures"] if measure["budget"] is not None]
    at = [measures[min(1, len(measures) - 1)], *measures[::-1]]
    ranks = [{row["method"]: i for i, row in enumerate(measure["ranked"])} for measure in at]
    return sorted(methods, key=lambda m: (*(rank.get(m, len(methods)) for rank in ranks), methods.index(m)))


def command(comparison: Mapping[str, Any], method: str) -> str:
    """The command that trains a method on your own table."""
    settings = comparison["methods"][method]
    words = ["bench", "fit", "table.csv", "--target", "COLUMN", "--prices", "prices.toml", "--method", settings["use"]]
    if settings["parameters"]:
        words += ["--parameters", json.dumps(settings["parameters"], sort_keys=True)]
    return shlex.join([*words, "--budget", "BUDGET", "--out", "policy"])
