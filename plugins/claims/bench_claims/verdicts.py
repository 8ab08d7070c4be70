"""Verdicts: *holds*, *contradicted*, *consistent* or *cannot be told*, and how to combine several.

The verdicts on relations form Kleene's three-valued logic, without *consistent*: one contradicted part contradicts a
conjunction, whatever the verdicts on the others. A claim and its negation never both hold. Only a number of the paper
can be *consistent*: it lies in our interval, but the interval is too wide to confirm it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bench_claims.estimates import Estimate

__all__ = [
    "Checked",
    "Fact",
    "Profile",
    "Standing",
    "Unit",
    "Verdict",
    "all_of",
    "compared",
    "deciding",
    "negated",
    "why",
]

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
    """A part of a claim: an inequality between a number and a limit.

    Attributes:
        verdict: the verdict on this part.
        statement: the inequality in plain text.
        gap: the number that decides it, with its interval; None if it is unknown.
    """

    verdict: Verdict
    statement: str
    gap: Estimate | None = None


@dataclass(frozen=True)
class Profile:
    """A method's means in the objectives of a claim about dominance.

    Attributes:
        method: the method.
        means: (title of the objective, mean, its unit), those that are defined.
    """

    method: str
    means: list[tuple[str, Estimate, Unit]]


@dataclass(frozen=True)
class Checked:
    """A claim with the result of its check.

    Attributes:
        claim: the claim of the suite.
        verdict: the verdict by the rule.
        paper: the paper's number; None for relations without one.
        margin: the margin of "about", for a claim with ``=``; otherwise None.
        ours: (name, number) pairs: the quantity, or the means that the relation compares.
        unit: unit of these numbers.
        why: what is missing or contradicts, in plain text; may be empty.
        count: for shares, the number of data sets on which it holds, and of all.
        deciding: the part that decided, for a claim of several parts.
        standing: the declared standing, but ``same data`` if data declared absent is available.
        remarks: remarks on the interval for the reader.
        profiles: for dominance, the means of the claim's method and of those that it is compared with.
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
    profiles: list[Profile] = field(default_factory=list)

    @property
    def least(self) -> float:
        """The smallest difference that these splits detect with a power of 80 %; NaN without an interval."""
        estimate = self.deciding.gap if self.deciding else self.ours[0][1] if self.ours else None
        return float("nan") if estimate is None else estimate.detectable


def compared(ours: Estimate, sign: str, limit: float) -> Verdict:
    """Compare ``ours`` with a limit by ``<``, ``<=``, ``>`` or ``>=``, using its 95 % interval.

    The relation holds if it is true at both ends of the interval, and is contradicted if it is true at neither. Numbers
    that are equal up to rounding count as equal. Without an interval the verdict is ``cannot be told``.
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
    """The verdict on the negation."""
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
    """The deciding part of a conjunction: one with the first of contradicted, cannot be told, consistent, holds.

    Among several, it is the one whose interval is farthest on the wrong side, in half-widths.
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
    """The contradicted parts; if there are none, the missing records and the undecided parts."""
    against = [fact.statement for fact in facts if fact.verdict == "contradicted" and fact.statement]
    if against:
        return "not so: " + "; ".join(against)
    unsure = [f"open: {fact.statement}" for fact in facts if fact.verdict == "cannot be told" and fact.statement]
    return "; ".join(dict.fromkeys([*missing, *unsure]))
