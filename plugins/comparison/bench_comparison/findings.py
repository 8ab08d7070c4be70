"""Findings: sentences made from the numbers of an answer, each with its probability and its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_comparison.schema import PRICES

__all__ = [
    "FEW",
    "NAMED",
    "SURE",
    "deciding",
    "findings",
    "listed",
    "main_view",
    "name_of",
    "per_cent",
    "recommends",
    "signed",
    "some",
    "unknown",
]

JsonObject = Mapping[str, Any]

FEW = 5
"""With fewer data sets nothing is recommended or called best: resampling so few says little."""

NAMED = 3
"""The most algorithms that a sentence names."""

SURE = 0.8
"""A sentence states a difference that has at least this probability."""

_HALF = 0.5
"""A sentence names a data set without which less than this share of a difference is left, and a kind of method that is
first with at least this probability."""


def main_view(answer: JsonObject) -> JsonObject | None:
    """The view of the front page: the first with a recommendation, which is classification with all prices."""
    return next((view for view in answer["views"] if recommends(view)), None)


def name_of(view: JsonObject) -> str:
    """``classification, unit prices``: also the heading of the view on ``answer.md``."""
    return f"{view['task']}, {view['title']}"


def recommends(view: JsonObject) -> bool:
    """Whether a view recommends something at any budget."""
    return any(step["recommended"] for step in view["steps"])


def per_cent(value: float | None, digits: int = 0) -> str:
    """A share as ``70 %`` or ``−7 %``."""
    if value is None:
        return "–"
    return f"{round(100 * value, digits) + 0.0:.{digits}f} %".replace("-", "−")


def signed(share: float) -> str:
    """A difference as ``+7 %``, ``−7 %`` or ``0 %``."""
    value = round(100 * share)
    return f"{value:+d} %".replace("-", "−") if value else "0 %"


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def some(names: Sequence[str], shown: int) -> str:
    """``a, b and 5 more``: the first names, and how many others there are."""
    more = len(names) - shown
    return listed([*names[:shown], f"{more} more"] if more > 0 else names)


def findings(answer: JsonObject) -> list[dict[str, Any]]:
    """Return at most five findings, in this order. The front page omits their ``more``.

    1. The method that is recommended at most budgets.
    2. The quality that a small budget buys.
    3. The comparison of choosing features row by row with the best fixed subset.
    4. The leading kinds of methods.
    5. The methods that are practically equal to the recommended one at the largest budget.
    """
    view = main_view(answer)
    if view is None:
        return []
    found = [_take(view), _brings(view), _dynamic(view), _kinds(view), _whole(view)]
    return [one for one in found if one is not None]


def _finding(text: str, probability: float | None, table: str, more: str = "") -> dict[str, Any]:
    return {"text": text, "probability": probability, "table": table, "more": more}


def _take(view: JsonObject) -> dict[str, Any]:
    """The method that is recommended at the largest number of budgets."""
    steps = [step for step in view["steps"] if step["recommended"]]
    names = [step["recommended"]["algorithm"] for step in steps]
    name = max(dict.fromkeys(names), key=names.count)
    mine = [step for step in steps if step["recommended"]["algorithm"] == name]
    likely = [step for step in mine if step["recommended"]["within"] >= 0.5]
    at = listed([per_cent(step["budget"]) for step in likely or mine])
    loss = _from_to([step["recommended"]["loss"][0] for step in likely or mine], 1)
    if not likely:
        return _finding(
            f"At {at} of the full price, another method is probably better than {name} by more than a point of "
            f"{view['metric']}, but it is not known which. {name} has the least expected loss: {loss} of what all "
            "features bring.",
            1 - max(step["recommended"]["within"] for step in mine),
            "#recommended",
        )
    return _finding(
        f"At {at} of the full price, take {name}: on average over data sets it is the best or within a point of "
        f"{view['metric']} of the best. Its expected loss is {loss} of what all features bring.",
        min(step["recommended"]["within"] for step in likely),
        "#recommended",
    )


def _from_to(shares: Sequence[float], digits: int = 0) -> str:
    """``2 %`` or ``2 to 5 %``."""
    low, high = per_cent(min(shares), digits), per_cent(max(shares), digits)
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _brings(view: JsonObject) -> dict[str, Any] | None:
    """The highest level that a budget below the full price reaches, and the smallest such budget."""
    for level in ("0.9", "0.75", "0.5"):
        for step in view["steps"]:
            recommended = step["recommended"]
            if recommended and step["budget"] < 1 and recommended["reaches"][level] >= SURE:
                rest = recommended.get("without")
                less = ""
                if rest is not None and rest["reaches"][level] < SURE:
                    less = f" Without {rest['family']}, the probability would be {rest['reaches'][level]:.2f}."
                return _finding(
                    f"{per_cent(step['budget'])} of the price buys at least {per_cent(float(level))} of what all "
                    f"features bring ({per_cent(recommended['quality'][0])} with {recommended['algorithm']}).{less}",
                    recommended["reaches"][level],
                    "#recommended",
                )
    return None


def _dynamic(view: JsonObject) -> dict[str, Any] | None:
    """Where it pays to choose features row by row."""
    if not view["dynamic"]:
        return None
    words = {"better": "beats", "worse": "loses to", "equal": "practically equals"}
    said, chances, more = [], [], []
    for key, verb in words.items():
        mine = [step for step in view["dynamic"] if step[key] is not None and step[key] >= SURE]
        if mine:
            by = "" if key == "equal" else f" ({_sizes(mine)} of what all features bring)"
            more += [] if key == "equal" else _by_prices(mine)
            at = listed([per_cent(step["budget"]) for step in mine])
            said.append(f"{verb} the best fixed subset at {at} of the price{by}")
            chances += [step[key] for step in mine]
    open_at = [per_cent(step["budget"]) for step in view["dynamic"] if max(step[k] or 0 for k in words) < SURE]
    if open_at:
        than = "" if said else " than the best fixed subset"
        said.append(f"is not clearly better or worse{than} at {listed(open_at)} (no probability of {SURE:.1f})")
    return _finding(
        f"Choosing features row by row {listed(said)}.",
        min(chances) if chances else None,
        "#row-by-row-or-a-fixed-subset",
        " ".join([*more, *_where(view)]),
    )


def _sizes(steps: Sequence[JsonObject]) -> str:
    """``by 5 %``, and the difference without a data set that makes more than half of it."""
    size = f"by {_from_to([abs(step['difference'][0]) for step in steps])}"
    return size + "".join(dict.fromkeys(_unless(step) for step in steps))


def _unless(gap: JsonObject) -> str:
    """``; without Wine, +1 %`` if one data set makes more than half of a difference, else nothing."""
    rest, size = gap["without"], gap["difference"][0]
    if rest is None or not size or rest["difference"] / size >= _HALF:
        return ""
    return f"; without {rest['family']}, {signed(rest['difference'])}"


def _by_prices(steps: Sequence[JsonObject]) -> list[str]:
    """``At 5 %, the difference is −6 % with unit prices.`` and the like for a single budget, where these are groups."""
    groups = steps[0]["groups"] if len(steps) == 1 else []
    sizes = [
        f"{signed(group['difference'][0])} with {group['title']}"
        for group in groups
        if group["title"] in PRICES.values()
    ]
    return [f"At {per_cent(steps[0]['budget'])}, the difference is {listed(sizes)}."] if sizes else []


def _where(view: JsonObject) -> list[str]:
    """On which kind of data dynamic acquisition is likeliest to win, and to lose, below the full price."""
    groups = [(step["budget"], group) for step in view["dynamic"] if step["budget"] < 1 for group in step["groups"]]
    said = []
    for key, chances in (("better", "best chance of winning"), ("worse", "greatest risk of losing")):
        known = [(group[key], budget, group) for budget, group in groups if group[key] is not None]
        if known:
            chance, budget, group = max(known, key=lambda one: one[0])
            said.append(
                f"its {chances} by more than a point of {view['metric']} is on data with {group['title']}, at "
                f"{per_cent(budget)} ({signed(group['difference'][0])}, probability {chance:.2f}{_unless(group)})"
            )
    return [f"Below the full price, {listed(said)}."] if said else []


def _kinds(view: JsonObject) -> dict[str, Any] | None:
    """The kinds of methods that are first with a probability of at least a half, and at which budgets."""
    steps = [step for step in view["steps"] if step["kinds"]]
    likeliest = [(step["budget"], max(step["kinds"], key=lambda row: row["best"])) for step in steps]
    leaders = [(budget, row) for budget, row in likeliest if row["best"] >= _HALF]
    if not leaders:
        return None
    at: dict[str, list[str]] = {}
    for budget, row in leaders:
        at.setdefault(row["name"], []).append(per_cent(budget))
    said = listed([f"{name} is first at {listed(budgets)}" for name, budgets in at.items()])
    more = [f"{row['best']:.2f} at {per_cent(budget)}" for budget, row in leaders] if len(leaders) > 1 else []
    return _finding(
        f"Of the kinds of methods, {said} of the price.",
        min(row["best"] for _, row in leaders),
        "#kinds-of-methods",
        f"The probabilities are {listed(more)}." if more else "",
    )


def _whole(view: JsonObject) -> dict[str, Any] | None:
    """Which algorithms are practically equal at the largest budget."""
    step = view["steps"][-1]
    recommended = step["recommended"]
    if not recommended or not recommended["equal"]:
        return None
    equal, fastest = recommended["equal"], recommended["fastest"]
    simplest = recommended["simplest"]
    if fastest == simplest:
        which = f"{simplest} is the simplest and the fastest to train"
    else:
        which = f"{simplest} is the simplest" + (f" and {fastest} the fastest to train" if fastest else "")
    return _finding(
        f"At {per_cent(step['budget'])} of the price, "
        f"{listed([recommended['algorithm'], *(one['algorithm'] for one in equal)])} are practically equal. "
        f"Of these, {which}.",
        min(one["probability"] for one in equal),
        "#recommended",
    )


def unknown(answer: JsonObject) -> list[str]:
    """What these records do not answer."""
    view = main_view(answer)
    few = [f"{name_of(v)} ({v['families']})" for v in answer["views"] if v["few"]]
    said = [] if answer["views"] else ["No data set has records of the empty policy and of a reference."]
    if few:
        said.append(f"There are fewer than five data sets, so nothing is recommended: {'; '.join(few)}.")
    if view is None:
        return said
    for step in view["steps"]:
        recommended = step["recommended"]
        if recommended and recommended["open"]:
            are = "are" if len(recommended["open"]) > 1 else "is"
            said.append(
                f"At {per_cent(step['budget'])} it is open whether, on average over data sets, "
                f"{some(recommended['open'], NAMED)} {are} better than {recommended['algorithm']}, practically equal "
                "to it, or worse."
            )
    said += deciding(view)
    if view["left_out"]:
        names = "; ".join(one["name"] for one in view["left_out"])
        said.append(f"Left out, because the reference is not clearly better than the empty policy there: {names}.")
    return said


def deciding(view: JsonObject) -> list[str]:
    """A sentence for each budget at which single data sets decide which algorithm has the best mean."""
    return [_deciding(step) for step in view["steps"] if step.get("deciding", {}).get("without")]


def _deciding(step: JsonObject) -> str:
    best, without = step["deciding"]["best"], step["deciding"]["without"]
    at = f"At {per_cent(step['budget'])}"
    if len(without) > NAMED:
        return f"{at} the best means are nearly equal: {listed(list(dict.fromkeys([best, *without.values()])))}."
    others = "".join(f"; without {family}, {name}" for family, name in without.items())
    return f"{at} a single data set decides which algorithm has the best mean: {best}{others}."
