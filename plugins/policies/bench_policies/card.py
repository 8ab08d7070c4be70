"""The card of a policy, in Markdown: cost, quality, features with prices, and data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bench_policies.goals import within
from bench_policies.measures import MEASURES
from bench_policies.portable import OTHER
from bench_policies.wording import (
    FEWEST_SPLITS,
    against_trivial,
    listed,
    one_line,
    price_text,
    refused_below,
    table_text,
    with_half,
)

if TYPE_CHECKING:
    from bench_policies.fitted import FittedPolicy


def card(fitted: FittedPolicy) -> str:
    """Return a policy's card as Markdown."""
    about = fitted.about
    data, measured = about["data"], about["measured"]
    label = f" `{one_line(about['policy']['label'])}`" if about["policy"]["label"] else ""
    lines = [
        f"# A policy for {one_line(about['target'] or data['name'])}",
        "",
        f"Method `{about['method']}`, policy{label or ' chosen'} from a family of {about['policy']['of']}. "
        f"Goal: {about['goal_in_words']}.",
        "",
        _chosen(fitted),
        "",
        "## Cost and quality",
        "",
        *_measured(fitted, measured),
        "",
        *_trivial(fitted),
        f"All features together cost a mean of {about['full_cost']:.4g} a row.",
        *answering_in_words(fitted),
        "The policy asks only for features that its answer needs."
        if fitted.exact
        else "The policy is asked by substitution: step by step it may ask for more features than its answer needs.",
        "",
        "## Features and prices",
        "",
        table_text(
            [_feature(fitted, f) for f in range(len(fitted.feature_names))],
            ["Feature", "Type", "Price", "Group", "Bought for"],
        ),
        *_groups(fitted),
        "",
        "## Data",
        "",
        f"{data['rows']} rows of `{one_line(data['name'])}` (SHA-256 {data['content'][:16]}…); "
        f"encoded `{about['encode']}`. "
        f"A missing value {_missing(fitted)}. {_new_category(fitted)}",
        "",
        "## Versions",
        "",
        *(f"- {name} {number}" for name, number in about["versions"].items()),
        "",
    ]
    return "\n".join(lines)


def _measured(fitted: FittedPolicy, measured: Any) -> list[str]:
    if not measured["splits"]:
        return ["Not measured: the policy was fitted without test splits."]
    lines = [_on(measured["splits"]), ""]
    measure = fitted.measure
    shown = with_half(measured, "quality", measure.factor, measure.unit)
    if fitted.classes and measure is not MEASURES["accuracy"]:
        lines.append(f"- {measure.words.format(shown)}")
    elif fitted.classes:
        lines.append(f"- right answers: {shown} of all rows")
    else:
        lines.append(f"- mean squared error: {shown}")
    if fitted.classes and (fitted.threshold is not None or fitted.answering.refused_cost is not None):
        lines.append(f"- answered: {with_half(measured, 'coverage', 100, ' %')}")
        lines.append(
            f"- right among the answered: {with_half(measured, 'accuracy', 100, ' %') or 'no row is answered'}"
        )
    lines.append(f"- mean cost of an answer: {with_half(measured, 'cost', 1, most=fitted.about['full_cost'])}")
    goal = fitted.about["goal"]
    if "cap" in goal:
        lines.append(f"- the most expensive row's features cost {measured['most']:.4g}; the cap is {goal['cap']:g}")
    elif "budget" in goal and not within(measured["most"], goal["budget"]):
        lines.append(f"- single rows cost more than the budget, up to {measured['most']:.4g}")
    if "error_costs" in goal:
        lines.append(f"- mean cost of wrong answers and refusals: {with_half(measured, 'loss', 1)}")
        lines.append(f"- mean total, which was minimised: {with_half(measured, 'total', 1)}")
    if "budget" in goal:
        lines.append(f"- the budget, a mean of {goal['budget']:g}, is kept on {_of_splits(measured)}")
    if "quality" in goal:
        lines.append(f"- {100 * goal['quality']:.4g} % right answers are reached on {_of_splits(measured)}")
    return lines


def _of_splits(measured: Any) -> str:
    return f"{measured['met']} of {measured['splits']} split{'s'[: measured['splits'] > 1]}"


def _chosen(fitted: FittedPolicy) -> str:
    """Return the policy's quality and cost on the rows that chose it, with a warning that these are optimistic."""
    seen, goal = fitted.about["validation"], fitted.about["goal"]
    quality = fitted.measure.text(seen["quality"])
    if fitted.measure is MEASURES["accuracy"]:
        quality = f"{100 * seen['quality']:.1f} % right"
    text = f"On the {seen['rows']} rows that chose it: {quality}, a mean cost of {seen['cost']:.4g}"
    if "error_costs" in goal:
        text += f", a mean total with errors of {seen['total']:.4g}"
    if not seen["met"]:
        text += f"; that is below the goal of {100 * goal['quality']:.4g} %, which no policy of the method reaches"
    return f"{text}. These figures are optimistic, as the policy was chosen by them."


def _trivial(fitted: FittedPolicy) -> list[str]:
    """Return a table of the five best answers that buy no feature."""
    rows = fitted.about.get("trivial")
    if not rows:
        return []
    total, measure = "error_costs" in fitted.about["goal"], fitted.measure
    table = [
        [
            one_line(row["answer"]),
            with_half(row, "quality", measure.factor),
            *([with_half(row, "total", 1)] if total else []),
        ]
        for row in rows[:5]
    ]
    heads = ["Answer", measure.heading, *(["Mean total"] if total else [])]
    return [against_trivial(fitted.about["measured"], rows[0], total, measure), "", table_text(table, heads), ""]


def _on(splits: int) -> str:
    if splits == 1:
        return "On the test part of one random split (its uncertainty is unknown; more splits would show it):"
    if splits < FEWEST_SPLITS:
        return f"On the test parts of {splits} random splits (too few to show the uncertainty):"
    return f"On the test parts of {splits} random splits (± half of the 95 % interval, or the interval in brackets):"


def answering_in_words(fitted: FittedPolicy) -> list[str]:
    """Return sentences on how answers are given, when one is refused, and when a row stops early."""
    rule, exit_at = fitted.answering, fitted.about.get("exit_threshold")
    sentences = []
    if fitted.measure is MEASURES["balanced-accuracy"]:
        sentences.append("The answer is the class that is most probable compared to its share of the data.")
    elif rule.error_costs is not None:
        sentences.append("The answer is the class of least expected cost, by the policy's class probabilities.")
    if rule.threshold is not None:
        sentences.append(refused_below(rule.threshold, rule.error_costs is not None, rule.refused_cost))
    if rule.refused_cost is not None:
        sentences.append(f"A row is refused where every answer is expected to cost more than {rule.refused_cost:g}.")
    if rule.threshold is None and rule.refused_cost is None:
        sentences.append("No answer is refused.")
    if exit_at is not None:
        sentences.append(f"A row stops as soon as its highest class probability is at least {exit_at:g}.")
    return sentences


def _missing(fitted: FittedPolicy) -> str:
    if fitted.about["encode"] != "raw":
        return "is replaced by the median of the training rows, or by their most frequent category"
    return "stays missing" if fitted.takes_missing else "is refused"


def _new_category(fitted: FittedPolicy) -> str:
    text = "A category that is not in the data counts as missing"
    if any(OTHER in texts for texts in fitted.categories.values()):
        text += f"; if its feature has the category {OTHER} (all that are rare in the data), it counts as that one"
    return text + "."


def _feature(fitted: FittedPolicy, f: int) -> list[str]:
    kind = "number"
    if f in fitted.categories:
        texts = fitted.categories[f]
        kind = "category: " + listed(texts[:8]) + (" …" if len(texts) > 8 else "")
    elif f in fitted.numeric_categories:
        texts = tuple(fitted.shown_categories(f))
        kind = "category (numbers): " + ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
    groups = fitted.costs.groups
    group = "" if groups is None or groups[f] < 0 else fitted.group_name(int(groups[f]))
    share = fitted.about["usage"]["bought"][f]
    shown = "" if math.isnan(share) else f"{100 * share:.1f} % of rows"
    return [one_line(fitted.feature_names[f]), kind, price_text(fitted.costs.prices[f]), group, shown]


def _groups(fitted: FittedPolicy) -> list[str]:
    table = fitted.costs.group_prices
    if table is None:
        return []
    prices = ", ".join(f"{fitted.group_name(number)} {price_text(price)}" for number, price in enumerate(table))
    return ["", f"A group is paid once, with the first of its features: {prices}."]
