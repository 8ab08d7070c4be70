"""The claims of a page: what the paper says, what we measured, and the verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from bench_leaderboard.analysis.claims import RULE
from bench_leaderboard.analysis.quantities import Estimate
from bench_leaderboard.analysis.verdicts import Checked, Unit, Verdict
from bench_leaderboard.claims_schema import DominanceCheck, ExtremeCheck, OrderCheck, ShareCheck
from bench_leaderboard.render.markdown import plain_number, table, text

__all__ = ["claims_section"]

_ORDER: tuple[Verdict, ...] = ("reproduced", "same direction", "not reproduced", "cannot be checked")
_MOST_SHOWN = 8


def claims_section(checked: Sequence[Checked]) -> list[str]:
    """The section of all claims; nothing when the suite has none."""
    if not checked:
        return []
    count = Counter(one.verdict for one in checked)
    told = ", ".join(f"{count[verdict]} {verdict}" for verdict in _ORDER if count[verdict])
    body = [
        [
            text(one.claim.text) + (f" ({text(one.claim.note)})" if one.claim.note else ""),
            text(one.claim.source),
            _paper(one),
            _ours(one),
            _verdict(one),
        ]
        for one in checked
    ]
    head = ["Claim", "Where", "Paper", "Ours", "Verdict"]
    return [
        "## Claims of the paper",
        "",
        f"{len(checked)} claims: {told}.",
        "",
        RULE,
        "",
        table(head, body, 5),
        "",
    ]


def _amount(value: float, unit: Unit) -> str:
    if math.isnan(value):
        return "–"
    if unit in ("percent", "points"):
        return f"{100 * value:.1f}"
    return plain_number(value, 3 if unit == "ratio" else 4)


def _named(unit: Unit) -> str:
    return {"percent": " %", "points": " points", "ratio": "×", "plain": ""}[unit]


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
    if one.tolerance:
        loose = (
            plain_number(one.tolerance, 2) if one.unit in ("plain", "ratio") else f"{100 * one.tolerance:.1f}"
        )
        said += f" (± {loose})"
    return said + _named(one.unit)


def _ordinal(place: int) -> str:
    return {2: "second", 3: "third"}.get(place, f"{place}th")


def _ours(one: Checked) -> str:
    if one.count is not None:
        return f"on {one.count[0]} of {one.count[1]}"
    if not one.ours:
        return "–"
    if not isinstance(one.claim, OrderCheck | ExtremeCheck):
        return _estimate(one.ours[0][1], one.unit)
    shown = one.ours[:_MOST_SHOWN]
    more = f"; {len(one.ours) - len(shown)} more" if len(one.ours) > len(shown) else ""
    return (
        "; ".join(f"{text(name)} {_amount(e.value, one.unit)}" for name, e in shown) + more + _named(one.unit)
    )


def _estimate(made: Estimate, unit: Unit) -> str:
    said = _amount(made.value, unit)
    if made.has_interval:
        said += f" [{_amount(made.low, unit)}, {_amount(made.high, unit)}]"
    said += _named(unit)
    if not math.isnan(made.least) and made.least != made.most:
        said += f"; seeds {_amount(made.least, unit)} to {_amount(made.most, unit)}"
    if made.seeds != made.expected:
        said += f"; {made.seeds} of {made.expected} seeds"
    return said


def _verdict(one: Checked) -> str:
    said = f"**{one.verdict}**" if one.verdict == "reproduced" else one.verdict
    return f"{said}: {text(one.why)}" if one.why else said
