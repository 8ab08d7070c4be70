"""Verdicts: *holds*, *contradicted*, *consistent* or *cannot be told*, and how several of them become one.

Relations have three of them, a logic of Kleene's: what cannot be told is neither, and a conjunction is contradicted by
one part that is, whatever the others would turn out to be. A claim and its negation are never both said to hold.
*Consistent* is for a number of the paper alone: it lies in our interval, which is too wide to confirm it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bench_claims.estimates import Estimate

__all__ = ["Checked", "Fact", "Standing", "Unit", "Verdict", "all_of", "compared", "deciding", "negated", "why"]

Verdict = Literal["holds", "contradicted", "consistent", "cannot be told"]
Unit = Literal["percent", "points", "ratio", "plain"]
Standing = Literal["same data", "stand-in", "absent"]

_EQUAL = 1e-12
_NEGATION: dict[Verdict, Verdict] = {
    "holds": "contradicted",
    "contradicted": "holds",
    "consistent": "cannot be told",
    "cannot be told": "cannot be told",
}


@dataclass(frozen=True)
class Fact:
    """A part of a claim: a number in a relation to a limit.

    Attributes:
        verdict: of this part.
        statement: what it is about, in plain text.
        gap: the number that decides it, with its interval; None where it is not known.
    """

    verdict: Verdict
    statement: str
    gap: Estimate | None = None


@dataclass(frozen=True)
class Checked:
    """A claim with what we found.

    Attributes:
        claim: as the suite has it.
        verdict: by the rule.
        paper: the paper's number; None for relations without one.
        margin: what counts as "about" that number, of a claim with ``=``; else None.
        ours: (what, number) pairs: the quantity, or the means a relation is about.
        unit: of these numbers.
        why: what is missing, or contradicts, in plain text; may be empty.
        count: for shares, on how many data sets it holds, and of how many.
        deciding: the part that decided, of a claim that has several.
        standing: how far the data lets the verdict go: as the claim declares it, but ``same data`` where data that is
            declared absent is there.
        remarks: what a reader of the interval has to know.
    """

    claim: Any
    verdict: Verdict
    paper: float | None
    margin: float | None
    ours: list[tuple[str, Estimate]]
    unit: Unit
    why: str = ""
    count: tuple[int, int] | None = None
    deciding: Fact | None = None
    standing: Standing = "same data"
    remarks: list[str] = field(default_factory=list)

    @property
    def least(self) -> float:
        """The least difference that these splits tell with a power of 80 %; NaN where there is no interval."""
        estimate = self.deciding.gap if self.deciding else self.ours[0][1] if self.ours else None
        return float("nan") if estimate is None else estimate.detectable


def compared(ours: Estimate, sign: str, limit: float) -> Verdict:
    """``ours`` in the relation ``<``, ``<=``, ``>`` or ``>=`` to a limit, by its 95 % interval.

    It holds when it does at both ends of the interval, is contradicted when at neither. Numbers that are equal up to
    rounding are equal. Without an interval nothing can be told.
    """
    if not ours.has_interval:
        return "cannot be told"
    slack = _EQUAL * max(1.0, abs(limit))
    least, most = (0.0 if abs(end - limit) <= slack else end - limit for end in (ours.low, ours.high))
    strict = len(sign) == 1
    if sign.startswith("<"):
        least, most = -most, -least
    if least > 0 or (least == 0 and not strict):
        return "holds"
    return "contradicted" if most < 0 or (most == 0 and strict) else "cannot be told"


def negated(verdict: Verdict) -> Verdict:
    """The verdict on the opposite."""
    return _NEGATION[verdict]


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a conjunction."""
    distinct = set(verdicts)
    if "contradicted" in distinct:
        return "contradicted"
    if "cannot be told" in distinct:
        return "cannot be told"
    return "consistent" if "consistent" in distinct else "holds"


def deciding(facts: Sequence[Fact]) -> Fact | None:
    """The part that decides a conjunction: one that contradicts, else one that cannot be told, else the narrowest.

    Among several the one whose interval is the farthest on the wrong side, in half-widths.
    """
    known = [fact for fact in facts if fact.gap is not None]
    if not known:
        return None
    order: list[Verdict] = ["contradicted", "cannot be told", "consistent", "holds"]

    def place(fact: Fact) -> tuple[int, float]:
        gap = fact.gap
        half = (gap.high - gap.low) / 2 if gap is not None and gap.has_interval else float("nan")
        value = 0.0 if gap is None else gap.value
        return order.index(fact.verdict), value / half if half > 0 else value

    return min(known, key=place)


def why(facts: Sequence[Fact], missing: Sequence[str]) -> str:
    """What contradicts; else what is missing and what cannot be told apart."""
    against = [fact.statement for fact in facts if fact.verdict == "contradicted" and fact.statement]
    if against:
        return "not so: " + "; ".join(against)
    unsure = [f"open: {fact.statement}" for fact in facts if fact.verdict == "cannot be told" and fact.statement]
    return "; ".join(dict.fromkeys([*missing, *unsure]))
