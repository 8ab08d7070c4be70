"""The card of a policy, in Markdown: what it costs, how sure it is, on which data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from bench_policies.wording import price_text, with_half

if TYPE_CHECKING:
    from bench_policies.fitted import FittedPolicy


def card(fitted: FittedPolicy) -> str:
    """The card's text."""
    about = fitted.about
    data, measured = about["data"], about["measured"]
    label = f", `{about['policy']['label']}`" if about["policy"]["label"] else ""
    lines = [
        f"# A policy for {about['target'] or data['name']}",
        "",
        f"Method `{about['method']}`{label}, one of {about['policy']['of']} policies of its family, chosen for: "
        f"{about['goal_in_words']}.",
        "",
        "## What it costs, how sure it is",
        "",
        *_measured(fitted, measured),
        "",
        f"All features together cost {about['full_cost']:.4g} a row.",
        _threshold(fitted),
        "It asks for nothing that its answer does not need."
        if fitted.exact
        else "It is asked by substitution: feature by feature it may ask for more than its answer needs.",
        "",
        "## Features and prices",
        "",
        tabulate(
            [_feature(fitted, f) for f in range(len(fitted.feature_names))],
            headers=["Feature", "Type", "Price", "Group", "Bought for"],
            tablefmt="pipe",
            disable_numparse=True,
        ),
        *_groups(fitted),
        "",
        "## Data",
        "",
        f"{data['rows']} rows of `{data['name']}` (SHA-256 {data['content'][:16]}…); encoded `{about['encode']}`. "
        f"A missing value {_missing(fitted)}. An unknown category is refused.",
        "",
        "## Made with",
        "",
        *(f"- {name} {number}" for name, number in about["versions"].items()),
        "",
    ]
    return "\n".join(lines)


def _measured(fitted: FittedPolicy, measured: Any) -> list[str]:
    if not measured["splits"]:
        return ["Not measured: fitted without splits."]
    lines = [_on(measured["splits"]), ""]
    if fitted.classes:
        lines.append(f"- right answers: {with_half(measured, 'quality', 100, ' %')} of all rows")
        if fitted.threshold is not None:
            lines.append(f"- answered: {with_half(measured, 'coverage', 100, ' %')}")
            lines.append(
                f"- right among the answered: {with_half(measured, 'accuracy', 100, ' %') or 'none is answered'}"
            )
    else:
        lines.append(f"- mean squared error: {with_half(measured, 'quality', -1)}")
    lines.append(f"- cost of an answer: {with_half(measured, 'cost', 1)}")
    return lines


def _on(splits: int) -> str:
    if splits == 1:
        return "On one random split of the data; it says nothing of the uncertainty:"
    return f"On {splits} random splits of the data (± half of the 95 % interval, or the interval in brackets):"


def _threshold(fitted: FittedPolicy) -> str:
    if fitted.threshold is None:
        return "No answer is refused."
    return f"An answer less sure than {fitted.threshold:g} is refused."


def _missing(fitted: FittedPolicy) -> str:
    if fitted.about["encode"] != "raw":
        return "is taken as the training rows' median, for a category as the most frequent one"
    return "is read as missing" if fitted.takes_missing else "is refused"


def _feature(fitted: FittedPolicy, f: int) -> list[str]:
    kind = "number"
    if f in fitted.categories:
        kind = "category: " + ", ".join(fitted.categories[f][:8]) + (" …" if len(fitted.categories[f]) > 8 else "")
    elif f in fitted.numeric_categories:
        kind = "category (numbers)"
    groups = fitted.costs.groups
    group = "" if groups is None or groups[f] < 0 else str(int(groups[f]) + 1)
    share = fitted.about["usage"]["bought"][f]
    shown = "" if math.isnan(share) else f"{100 * share:.1f} % of rows"
    return [fitted.feature_names[f], kind, price_text(fitted.costs.prices[f]), group, shown]


def _groups(fitted: FittedPolicy) -> list[str]:
    table = fitted.costs.group_prices
    if table is None:
        return []
    prices = ", ".join(f"{number + 1} costs {price_text(price)}" for number, price in enumerate(table))
    return ["", f"A group is paid once, with its first feature: {prices}."]
