"""The claims on a page: the paper's claim, our measurement and the verdict, with a table for each kind of data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import plain_number, table, text

from bench_claims.claims import QUERIES, QUERIES_READ, RULE
from bench_claims.estimates import Estimate
from bench_claims.schema import OURS, DominanceCheck, ExtremeCheck, OrderCheck, ShareCheck, checks_within
from bench_claims.verdicts import Checked, Standing, Unit, Verdict

__all__ = ["WORDS", "claim_counts", "claims_section", "word_of"]

_ORDER: tuple[Verdict, ...] = ("holds", "contradicted", "consistent", "cannot be told")
_MOST_SHOWN = 8

WORDS: Mapping[Standing, Mapping[Verdict, str]] = {
    "same data": {verdict: verdict for verdict in _ORDER},
    "stand-in": {
        "holds": "seen here",
        "contradicted": "not seen here",
        "consistent": "consistent",
        "cannot be told": "cannot be told",
    },
    "absent": dict.fromkeys(_ORDER, "cannot be checked"),
}
"""Standing → names of the verdicts. On data other than the paper's, a verdict does not confirm the paper's numbers."""

_TITLES: Mapping[str, tuple[str, str]] = {
    "same data": ("On the paper's own data", ""),
    "stand-in": (
        "On stand-ins",
        "Other data stands in the paper's place: generated, another set, or an extract. Whether a claim "
        "is seen here says nothing about the paper's numbers.",
    ),
    "absent": (
        "On the paper's own data, not run",
        "The suite has the paper's data set, but there are no records of it. A run with a network "
        "fetches the data; then these claims are checked.",
    ),
    OURS: ("Claims of our own", "No paper makes these claims; they are not counted above."),
}


def word_of(result: Checked) -> str:
    """The name of the verdict for the data of the claim; our own claims are about whatever data they are checked on."""
    return WORDS[_words_by(result)][result.verdict]


def _words_by(result: Checked) -> Standing:
    return "same data" if _group(result) == OURS else result.standing


def claims_section(checked: Sequence[Checked]) -> list[str]:
    """The section on claims; empty if the suite has none."""
    if not checked:
        return []
    groups = {key: [result for result in checked if _group(result) == key] for key in _TITLES}
    groups = {key: results for key, results in groups.items() if results}
    lines = ["## Claims of the paper", "", _counts(groups), "", RULE, ""]
    for key, results in groups.items():
        title, note = _TITLES[key]
        lines += [f"### {title}", "", *([note, ""] if note else [])]
        lines += [_bare(results) if key == "absent" else _table(results), ""]
    if any(QUERIES in result.remarks for result in checked):
        lines += [f"*{text(QUERIES)}*: {QUERIES_READ}", ""]
    return lines


def _group(result: Checked) -> str:
    return OURS if result.claim.source.strip() == OURS else result.standing


def _counts(groups: Mapping[str, Sequence[Checked]]) -> str:
    """The number of claims of each kind and verdict; those forced by construction are counted separately."""
    head = [
        "",
        "Claims",
        "Hold (seen here)",
        "Contradicted (not seen here)",
        "Consistent",
        "Cannot be told",
        "By construction",
    ]
    body = []
    for key, results in groups.items():
        forced = sum(map(_is_forced, results))
        count = Counter(result.verdict for result in results if not _is_forced(result))
        cells = (
            ["–"] * (len(_ORDER) + 1)
            if key == "absent"
            else [*(f"{count[verdict]}" for verdict in _ORDER), f"{forced}"]
        )
        body.append([_TITLES[key][0], f"{len(results)}", *cells])
    return table(head, body)


def claim_counts(checked: Sequence[Checked]) -> list[dict[str, Any]]:
    """The number of claims of each kind of data, by verdict; those forced by construction are counted separately."""
    rows = []
    for key in _TITLES:
        group = [result for result in checked if _group(result) == key]
        if group:
            count = Counter(result.verdict for result in group if not _is_forced(result))
            row: dict[str, Any] = {"kind": key, "claims": len(group), "forced": sum(map(_is_forced, group))}
            rows.append(row | {verdict: 0 if key == "absent" else count[verdict] for verdict in _ORDER})
    return rows


def _is_forced(result: Checked) -> bool:
    """Whether the suite declares that the verdict is forced by construction."""
    return bool(result.claim.by_construction) and result.verdict != "cannot be told"


def _table(results: Sequence[Checked]) -> str:
    head = ["Claim", "Verdict", "Ours", "95 % interval", "Least", "Paper", "Where"]
    body = [
        [
            _claim_text(result),
            _verdict(result),
            _ours(result),
            _interval(result),
            _least(result),
            _paper(result),
            text(result.claim.source),
        ]
        for result in results
    ]
    return table(head, body, len(head))


def _bare(results: Sequence[Checked]) -> str:
    body = [[_claim_text(result), text(result.claim.source), _paper(result)] for result in results]
    return table(["Claim", "Where", "Paper"], body, 3)


def _claim_text(result: Checked) -> str:
    note = " ".join(part for part in (*map(_read_off, checks_within(result.claim)), result.claim.note) if part)
    return text(result.claim.text) + (f" ({text(note)})" if note else "")


def _read_off(check: Any) -> str:
    """The point at which a curve is read, for claims that read one."""
    if not getattr(check, "read_off", False):
        return ""
    if check.matched is None:
        return f"Read off the {check.reading} within {100 * check.within:g} % of the price."
    raised = "" if check.matched.full is None else ", or above it where each family compared has a policy"
    return f"Read off the {check.reading} at {check.matched.metric} {check.matched.most:g} on the test part{raised}."


def _amount(value: float, unit: Unit) -> str:
    if math.isnan(value):
        return "–"
    if unit in ("percent", "points"):
        return f"{100 * value:.1f}"
    return plain_number(value, 3 if unit == "ratio" else 4)


def _named(unit: Unit) -> str:
    return {"percent": " %", "points": " points", "ratio": "×", "plain": ""}[unit]


def _apart(unit: Unit) -> Unit:
    """The unit of a difference."""
    return "points" if unit == "percent" else unit


def _paper(result: Checked) -> str:
    claim = result.claim
    if isinstance(claim, ShareCheck):
        return f"on {claim.count}"
    if isinstance(claim, OrderCheck):
        sign = " > " if claim.first == "highest" else " < "
        return text(sign.join(claim.methods))
    if isinstance(claim, ExtremeCheck):
        place = f"{_ordinal(claim.place)} " if claim.place > 1 else ""
        return text(f"{claim.method} {place}{claim.which}")
    if isinstance(claim, DominanceCheck):
        relation = "dominates" if claim.relation == "dominates" else "not dominated by"
        return text(f"{claim.method} {relation} {', '.join(m for m in claim.against if m != claim.method)}")
    if result.paper is None:
        return text(f"{claim.relation} {claim.value}")
    sign = "" if claim.relation == "=" else f"{claim.relation} "
    number = f"{text(sign)} {_amount(result.paper, result.unit)}".strip()
    if result.margin is not None:
        number += f" (± {_width(result.margin, result.unit)})"
    reason = f"; this ±: {text(claim.reason)}" if claim.reason else ""
    splits = f"; mean of {claim.splits} splits" if claim.splits > 1 else ""
    return number + _named(result.unit) + splits + reason


def _width(value: float, unit: Unit) -> str:
    """A width with two significant digits."""
    if math.isnan(value):
        return "–"
    return plain_number(100 * value if unit in ("percent", "points") else value, 2)


def _ordinal(place: int) -> str:
    return {2: "second", 3: "third"}.get(place, f"{place}th")


def _ours(result: Checked) -> str:
    if result.count is not None:
        return f"on {result.count[0]} of {result.count[1]}"
    if result.profiles:
        return _profiles(result)
    if not result.ours:
        return "–"
    median = "median " if getattr(result.claim, "statistic", "mean") == "median" else ""
    shown = result.ours[:_MOST_SHOWN]
    more = f"; {len(result.ours) - len(shown)} more" if len(result.ours) > len(shown) else ""
    if isinstance(result.claim, OrderCheck | ExtremeCheck):
        numbers = "; ".join(
            f"{text(name)} {median}{_amount(mean.value, result.unit)}{_lacking(mean)}" for name, mean in shown
        )
        return numbers + more + _named(result.unit)
    estimate = result.ours[0][1]
    number = median + _amount(estimate.value, result.unit) + _named(result.unit)
    if not math.isnan(estimate.least) and estimate.least != estimate.most:
        number += f"; seeds {_amount(estimate.least, result.unit)} to {_amount(estimate.most, result.unit)}"
    return number + _lacking(estimate)


def _profiles(result: Checked) -> str:
    """The means in the objectives, method by method."""
    shown = result.profiles[:_MOST_SHOWN]
    more = f"; {len(result.profiles) - len(shown)} more" if len(result.profiles) > len(shown) else ""
    listed = [
        f"{text(profile.method)} "
        + ", ".join(
            f"{text(title)} {_amount(mean.value, unit)}{_named(unit)}{_lacking(mean)}"
            for title, mean, unit in profile.means
        )
        for profile in shown
    ]
    return "; ".join(listed) + more


def _lacking(estimate: Estimate) -> str:
    """The seeds that are not in the number: those not done, and those on which it is undefined."""
    note = f" ({estimate.seeds + estimate.undefined} of {estimate.expected} seeds)" if _is_partial(estimate) else ""
    return note + (f" (undefined on {estimate.undefined} seeds)" if estimate.undefined else "")


def _is_partial(estimate: Estimate) -> bool:
    return estimate.expected > 0 and estimate.seeds + estimate.undefined < estimate.expected


def _interval(result: Checked) -> str:
    if result.deciding is not None:
        estimate = result.deciding.gap
        if estimate is None or not estimate.has_interval:
            return "–"
        unit = _apart(result.unit)
        return (
            f"{text(result.deciding.statement)}: {_amount(estimate.value, unit)} {_ends(estimate, unit)}{_named(unit)}"
        )
    if isinstance(result.claim, OrderCheck | ExtremeCheck) or not result.ours or not result.ours[0][1].has_interval:
        return "–"
    splits = getattr(result.claim, "splits", 0) if result.margin is not None else 0
    what = "of one split " if splits == 1 else f"of {splits} splits " if splits else ""
    what += "and other queries " if getattr(result.claim, "queries", None) else ""
    return f"{what}{_ends(result.ours[0][1], result.unit)}{_named(result.unit)}"


def _ends(estimate: Estimate, unit: Unit) -> str:
    return f"[{_amount(estimate.low, unit)}, {_amount(estimate.high, unit)}]"


def _least(result: Checked) -> str:
    if math.isnan(result.least):
        return "–"
    unit = _apart(result.unit)
    return _width(result.least, unit) + _named(unit)


def _verdict(result: Checked) -> str:
    if _is_forced(result):
        return f"{word_of(result)} by construction: {text(result.claim.by_construction)}"
    verdict = word_of(result)
    if result.standing == "same data" and result.verdict in ("holds", "contradicted"):
        verdict = f"**{verdict}**"
    parts = [verdict]
    if result.why:
        parts.append(text(result.why))
    if _group(result) != OURS and result.verdict == "contradicted":
        cause = result.claim.cause
        parts.append(f"cause ({cause.kind}): {text(cause.text)}" if cause else "the cause is not known")
    return "; ".join([*parts, *map(text, result.remarks)])
