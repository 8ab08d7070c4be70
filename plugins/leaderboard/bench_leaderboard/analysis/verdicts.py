"""Verdicts: what a checked claim is, and how facts about means and intervals become a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench_leaderboard.analysis.quantities import Estimate

__all__ = ["Checked", "Fact", "Unit", "Verdict", "of_facts", "relation", "why"]

Verdict = Literal["reproduced", "same direction", "not reproduced", "cannot be checked"]
Unit = Literal["percent", "points", "ratio", "plain"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Checked:
    """A claim with what we found.

    Attributes:
        claim: as the suite has it.
        verdict: by the rule.
        paper: the paper's number; None for relations without one.
        tolerance: of a number with ``=``; else None.
        ours: (what, number) pairs: the quantity, or the means a relation is about.
        unit: of these numbers.
        why: what is missing, or contradicts, in plain text; may be empty.
        count: for shares, on how many data sets it holds on the means, and of how many.
    """

    claim: Any
    verdict: Verdict
    paper: float | None
    tolerance: float | None
    ours: list[tuple[str, Estimate]]
    unit: Unit
    why: str = ""
    count: tuple[int, int] | None = None


@dataclass(frozen=True)
class Fact:
    """A relation between two things: whether it holds on the means, and whether the interval excludes the opposite."""

    holds: bool
    sure: bool
    said: str


def relation(ours: Estimate, sign: str, limit: float, tolerance: float) -> Fact:
    """``ours`` stands in a relation to a limit that a tolerance makes easier to meet."""
    eased = limit - tolerance if sign.startswith(">") else limit + tolerance
    end = ours.low if sign.startswith(">") else ours.high
    holds = _HOLDS[sign](ours.value, eased)
    return Fact(holds, holds and ours.has_interval and _HOLDS[sign](end, eased), "")


def of_facts(facts: Sequence[Fact], missing: Sequence[str] = ()) -> Verdict:
    """The rule for relations: all must hold on the means, and be sure; a contradiction weighs more than a gap."""
    if not all(fact.holds for fact in facts):
        return "not reproduced"
    if missing:
        return "cannot be checked"
    return "reproduced" if all(fact.sure for fact in facts) else "same direction"


def why(facts: Sequence[Fact], missing: Sequence[str]) -> str:
    """What contradicts; else what is missing and what is unsure."""
    against = [fact.said for fact in facts if not fact.holds and fact.said]
    unsure = [fact.said for fact in facts if fact.holds and not fact.sure and fact.said]
    if against:
        return "; ".join(against)
    return "; ".join(
        dict.fromkeys([*missing, *(f"interval includes the opposite: {said}" for said in unsure)])
    )
