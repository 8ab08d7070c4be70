"""The claims of a page: what the paper says, what we measured, and the verdict; the kinds of data apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard.analysis.claims import QUERIES, QUERIES_READ, RULE
from bench_leaderboard.analysis.estimates import Estimate
from bench_leaderboard.analysis.verdicts import Checked, Standing, Unit, Verdict
from bench_leaderboard.claims_schema import OURS, DominanceCheck, ExtremeCheck, OrderCheck, ShareCheck, checks_within
from bench_leaderboard.render.markdown import plain_number, table, text

__all__ = ["WORDS", "claim_counts", "claims_section", "word_of"]

_ORDER: tuple[Verdict, ...] = ("holds", "contradicted", "cannot be told")
_MOST_SHOWN = 8

WORDS: Mapping[Standing, Mapping[Verdict, str]] = {
    "same data": {verdict: verdict for verdict in _ORDER},
    "stand-in": {"holds": "seen here", "contradicted": "not seen here", "cannot be told": "cannot be told"},
    "absent": dict.fromkeys(_ORDER, "cannot be checked"),
}
"""Standing → what a verdict is called. On other data than the paper's nothing is shown of the paper's numbers."""

_TITLES: Mapping[str, tuple[str, str]] = {
    "same data": ("On the paper's own data", ""),
    "stand-in": (
        "On stand-ins",
        "Other data stands in the paper's place: generated, another set, or an extract. That a claim is seen here, or "
        "not, says nothing of the paper's numbers.",
    ),
    "absent": (
        "On data that could not be had",
        "The suite has the paper's data set, but these records hold nothing of it. With a network "
        "the suite fetches it, and these claims are checked.",
    ),
    OURS: ("Claims of our own", "No paper says these; they count with none of the above."),
}


def word_of(one: Checked) -> str:
    """The verdict, as far as the data lets it go; for our own claims any data is the data they are about."""
    return WORDS[_words_by(one)][one.verdict]


def _words_by(one: Checked) -> Standing:
    return "same data" if _group(one) == OURS else one.standing


def claims_section(checked: Sequence[Checked]) -> list[str]:
    """The section of all claims; nothing when the suite has none."""
    if not checked:
        return []
    groups = {key: [one for one in checked if _group(one) == key] for key in _TITLES}
    groups = {key: found for key, found in groups.items() if found}
    lines = ["## Claims of the paper", "", _counts(groups), "", RULE, ""]
    for key, found in groups.items():
        title, note = _TITLES[key]
        lines += [f"### {title}", "", *([note, ""] if note else [])]
        lines += [_bare(found) if key == "absent" else _table(found), ""]
    if any(one.remarks for one in checked):
        lines += [f"*{text(QUERIES)}*: {QUERIES_READ}", ""]
    return lines


def _group(one: Checked) -> str:
    return OURS if one.claim.source.strip() == OURS else one.standing


def _counts(groups: Mapping[str, Sequence[Checked]]) -> str:
    """How many claims there are of each kind and verdict; what is so by construction is counted by itself."""
    head = ["", "Claims", "Hold (seen here)", "Contradicted (not seen here)", "Cannot be told", "By construction"]
    body = []
    for key, found in groups.items():
        forced = sum(map(_is_forced, found))
        count = Counter(one.verdict for one in found if not _is_forced(one))
        told = ["–"] * 4 if key == "absent" else [*(f"{count[verdict]}" for verdict in _ORDER), f"{forced}"]
        body.append([_TITLES[key][0], f"{len(found)}", *told])
    return table(head, body)


def claim_counts(checked: Sequence[Checked]) -> list[dict[str, Any]]:
    """How many claims there are of each kind of data, and what became of them; what is so by construction is apart."""
    found = []
    for key in _TITLES:
        group = [one for one in checked if _group(one) == key]
        if group:
            count = Counter(one.verdict for one in group if not _is_forced(one))
            said: dict[str, Any] = {"kind": key, "claims": len(group), "forced": sum(map(_is_forced, group))}
            found.append(said | {verdict: 0 if key == "absent" else count[verdict] for verdict in _ORDER})
    return found


def _is_forced(one: Checked) -> bool:
    """Whether it could not have come out otherwise, as the suite says."""
    return bool(one.claim.by_construction) and one.verdict != "cannot be told"


def _table(found: Sequence[Checked]) -> str:
    head = ["Claim", "Where", "Paper", "Ours", "95 % interval", "Least", "Verdict"]
    body = [
        [_said(one), text(one.claim.source), _paper(one), _ours(one), _interval(one), _least(one), _verdict(one)]
        for one in found
    ]
    return table(head, body, len(head))


def _bare(found: Sequence[Checked]) -> str:
    body = [[_said(one), text(one.claim.source), _paper(one)] for one in found]
    return table(["Claim", "Where", "Paper"], body, 3)


def _said(one: Checked) -> str:
    note = " ".join(part for part in (*map(_read_off, checks_within(one.claim)), one.claim.note) if part)
    return text(one.claim.text) + (f" ({text(note)})" if note else "")


def _read_off(check: Any) -> str:
    """Where a curve is read, of a claim that reads one."""
    if not getattr(check, "read_off", False):
        return ""
    if check.matched is None:
        return f"Read off the {check.reading} within {100 * check.within:g} % of the price."
    return f"Read off the {check.reading} at {check.matched.metric} {check.matched.most:g} on the test part."


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


def _paper(one: Checked) -> str:
    claim = one.claim
    if isinstance(claim, ShareCheck):
        return f"on {claim.count}"
    if isinstance(claim, OrderCheck):
        sign = " > " if claim.first == "highest" else " < "
        return text(sign.join(claim.methods))
    if isinstance(claim, ExtremeCheck):
        place = f"{_ordinal(claim.place)} " if claim.place > 1 else ""
        return text(f"{claim.method} {place}{claim.which}")
    if isinstance(claim, DominanceCheck):
        said = "dominates" if claim.relation == "dominates" else "not dominated by"
        return text(f"{claim.method} {said} {', '.join(m for m in claim.against if m != claim.method)}")
    if one.paper is None:
        return text(f"{claim.relation} {claim.value}")
    sign = "" if claim.relation == "=" else f"{claim.relation} "
    said = f"{text(sign)} {_amount(one.paper, one.unit)}".strip()
    if one.margin is not None:
        said += f" (± {_width(one.margin, one.unit)})"
    reason = f"; this ±: {text(claim.reason)}" if claim.reason else ""
    splits = f"; mean of {claim.splits} splits" if claim.splits > 1 else ""
    return said + _named(one.unit) + splits + reason


def _width(value: float, unit: Unit) -> str:
    """A width, with two significant digits."""
    if math.isnan(value):
        return "–"
    return plain_number(100 * value if unit in ("percent", "points") else value, 2)


def _ordinal(place: int) -> str:
    return {2: "second", 3: "third"}.get(place, f"{place}th")


def _ours(one: Checked) -> str:
    if one.count is not None:
        return f"on {one.count[0]} of {one.count[1]}"
    if not one.ours:
        return "–"
    shown = one.ours[:_MOST_SHOWN]
    more = f"; {len(one.ours) - len(shown)} more" if len(one.ours) > len(shown) else ""
    if isinstance(one.claim, OrderCheck | ExtremeCheck):
        told = "; ".join(f"{text(name)} {_amount(made.value, one.unit)}{_lacking(made)}" for name, made in shown)
        return told + more + _named(one.unit)
    made = one.ours[0][1]
    said = _amount(made.value, one.unit) + _named(one.unit)
    if not math.isnan(made.least) and made.least != made.most:
        said += f"; seeds {_amount(made.least, one.unit)} to {_amount(made.most, one.unit)}"
    return said + _lacking(made)


def _lacking(made: Estimate) -> str:
    """What the number is not of: seeds that are not done, and those on which it is undefined."""
    said = f" ({made.seeds + made.undefined} of {made.expected} seeds)" if _is_partial(made) else ""
    return said + (f" (undefined on {made.undefined} seeds)" if made.undefined else "")


def _is_partial(made: Estimate) -> bool:
    return made.expected > 0 and made.seeds + made.undefined < made.expected


def _interval(one: Checked) -> str:
    if one.deciding is not None:
        made = one.deciding.gap
        if made is None or not made.has_interval:
            return "–"
        unit = _apart(one.unit)
        return f"{text(one.deciding.said)}: {_amount(made.value, unit)} {_ends(made, unit)}{_named(unit)}"
    if isinstance(one.claim, OrderCheck | ExtremeCheck) or not one.ours or not one.ours[0][1].has_interval:
        return "–"
    splits = getattr(one.claim, "splits", 0) if one.margin is not None else 0
    what = "of one split " if splits == 1 else f"of {splits} splits " if splits else ""
    what += "and other queries " if getattr(one.claim, "queries", None) else ""
    return f"{what}{_ends(one.ours[0][1], one.unit)}{_named(one.unit)}"


def _ends(made: Estimate, unit: Unit) -> str:
    return f"[{_amount(made.low, unit)}, {_amount(made.high, unit)}]"


def _least(one: Checked) -> str:
    if math.isnan(one.least):
        return "–"
    unit = _apart(one.unit)
    return _width(one.least, unit) + _named(unit)


def _verdict(one: Checked) -> str:
    if _is_forced(one):
        return f"{word_of(one)} by construction: {text(one.claim.by_construction)}"
    said = word_of(one)
    if one.standing == "same data" and one.verdict != "cannot be told":
        said = f"**{said}**"
    parts = [said]
    if one.why:
        parts.append(text(one.why))
    if _group(one) == "same data" and one.verdict == "contradicted":
        cause = one.claim.cause
        parts.append(f"cause ({cause.kind}): {text(cause.text)}" if cause else "the cause is not known")
    return "; ".join([*parts, *map(text, one.remarks)])
