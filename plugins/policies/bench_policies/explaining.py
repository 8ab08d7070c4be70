"""Explain a fitted policy: the features it buys, its stages and their cost, its tree, and the trace of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from bench_core import RequestError
from bench_policies.card import answering_in_words
from bench_policies.drawing import draw
from bench_policies.fitted import FittedPolicy
from bench_policies.measures import MEASURES
from bench_policies.wording import one_line, price_text, with_half


@dataclass(frozen=True)
class Explanation:
    """An explanation of a policy, as texts.

    Attributes:
        usage: a line per feature: its price, how often it is bought, and in which stage and step.
        stages: the share of rows that leave at each stage, and their mean cost.
        drawing: a tree of the features asked for, the values that the policy branches on, and the answers.
        trace: the steps of the decision on one row; empty without a row.
    """

    usage: str
    stages: str
    drawing: str
    trace: str

    def __str__(self) -> str:
        parts = [
            ("What is bought", self.usage),
            ("Where rows leave", self.stages),
            ("What is asked for and answered (shares of sampled rows, not of the data)", self.drawing),
            ("One row", self.trace),
        ]
        return "\n\n".join(f"{title}\n{'-' * len(title)}\n{text}" for title, text in parts if text)


_FEATURES, _STAGES = 12, 6
"""The most features and stages that are listed, so that an explanation fits a screen."""


def explain(fitted: FittedPolicy, row: Mapping[str, Any] | None = None) -> Explanation:
    """Explain a policy, and its decision on a row if one is given.

    The features that are bought most, and the stages that most rows leave at, are listed; the policy's card has all.

    Args:
        fitted: the policy.
        row: feature values by name; where prices depend on item size, also the size under the name of its column.

    Raises:
        RequestError: the row lacks a feature that the policy asks for, or its size; or it holds an invalid value, or a
            name that is neither a feature, the size nor the target.
    """
    usage = fitted.about["usage"]
    bought = usage["bought"]
    first = [next((s["stage"] for s in usage["stages"] if s["bought"][f] > 0), None) for f in range(len(bought))]
    steps = usage.get("steps") or [None] * len(bought)
    order = sorted(range(len(bought)), key=lambda f: (-bought[f], f))
    table = [
        [one_line(fitted.feature_names[f]), price_text(fitted.costs.prices[f]), _group(fitted, f),
         f"{100 * bought[f]:.1f} %", "never" if first[f] is None else f"{first[f]}",
         "" if steps[f] is None else f"{steps[f]:.4g}"]
        for f in order[:_FEATURES]
    ]  # fmt: skip
    more = [bought[f] for f in order[_FEATURES:]]
    rest = f"\n… and {len(more)} more, each bought for {100 * max(more):.1f} % or fewer" if more else ""
    heads = ["Feature", "Price", "Group", "Bought for", "First at stage", "Asked in step"]
    return Explanation(
        tabulate(table, headers=heads, disable_numparse=True) + rest,
        _stages(fitted, usage),
        draw(fitted),
        _trace(fitted, row),
    )


def _group(fitted: FittedPolicy, f: int) -> str:
    groups, prices = fitted.costs.groups, fitted.costs.group_prices
    if groups is None or prices is None or groups[f] < 0:
        return ""
    return f"{fitted.group_name(int(groups[f]))} ({price_text(prices[groups[f]])} once)"


def _stages(fitted: FittedPolicy, usage: Mapping[str, Any]) -> str:
    mean = sum(s["share"] * s["cost"] for s in usage["stages"])
    listed = sorted(usage["stages"], key=lambda s: -s["share"])[:_STAGES]
    table = [
        [s["stage"], f"{100 * s['share']:.1f} %", f"{s['cost']:.4g}"] for s in sorted(listed, key=lambda s: s["stage"])
    ]
    shown = tabulate(table, headers=["Stage", "Rows", "Mean cost"], disable_numparse=True)
    if len(usage["stages"]) > _STAGES:
        shown += f"\n… and {len(usage['stages']) - _STAGES} more stages with fewer rows"
    return (
        f"{shown}\nAn answer costs {mean:.4g} on average over the {usage['rows']} rows of the data; "
        f"all features cost {fitted.about['full_cost']:.4g}.\n" + "\n".join(_rules(fitted))
    )


def _rules(fitted: FittedPolicy) -> list[str]:
    """Return sentences on the goal, on how answers are given, and on answers that buy no feature."""
    about = fitted.about
    measured, trivial = about["measured"], about.get("trivial")
    unit = " % right" if fitted.measure is MEASURES["accuracy"] else fitted.measure.unit
    sentences = [f"Goal: {about['goal_in_words']}.", *answering_in_words(fitted)]
    if "error_costs" in about["goal"] and measured["splits"]:
        total = with_half(measured, "total", 1)
        sentences.append(f"On the test parts, prices and errors add up to a mean total of {total} a row.")
    if trivial:
        sentences += [
            f"Without any feature: {one_line(row['answer'])}: {with_half(row, 'quality', fitted.measure.factor, unit)}"
            + (f", a mean total of {with_half(row, 'total', 1)}" if "error_costs" in about["goal"] else "")
            for row in trivial[:5]
        ]
    return sentences


def _trace(fitted: FittedPolicy, row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    size = None
    if fitted.costs.depends_on_size:
        if fitted.size_column not in row:
            raise RequestError(f"the row has no {fitted.size_column!r}: prices depend on the item's size")
        size = row[str(fitted.size_column)]
    for name, given in row.items():
        if name not in (fitted.size_column, fitted.about.get("target")) or name in fitted.feature_names:
            fitted.value(fitted.number(name), given)
    session, lines, step = fitted.start(size), [], 0
    while session.answer is None:
        step += 1
        wanted = session.wanted
        for name in wanted:
            if name not in row:
                raise RequestError(f"the row has no {name!r}, which the policy asks for")
        session.give({name: row[name] for name in wanted})
        asked = ", ".join(
            f"{one_line(name)} = {one_line(row[name])} (price {price:.4g})" for name, price in wanted.items()
        )
        lines.append(f"{step}. {asked}; paid so far: {session.cost:.4g}")
    answer = session.answer
    if answer.value is not None and answer.best is None:
        shown = f"value {answer.value:.6g}"
    else:
        refused = ", refused" if answer.refused else ""
        shown = f"{one_line(answer.best)}, probability {answer.probability:.3f}{refused}"
    lines.append(f"Answer: {shown}; cost {answer.cost:.4g} of {fitted.about['full_cost']:.4g}")
    return "\n".join(lines)
