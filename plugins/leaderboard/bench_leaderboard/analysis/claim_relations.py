"""Claims that are relations between methods: order, extreme, dominance.

The rule is in `bench_leaderboard.analysis.claims`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from bench_leaderboard.analysis.dominance import dominates, objectives
from bench_leaderboard.analysis.quantities import Estimate, Missing, Source, difference, plain
from bench_leaderboard.analysis.verdicts import Checked, Fact, Unit, of_facts, why
from bench_leaderboard.claims_schema import DominanceCheck, ExtremeCheck, OrderCheck, ValueCheck

__all__ = ["check_dominance", "check_extreme", "check_order"]


def _means(
    source: Source, claim: Any, methods: Sequence[str]
) -> tuple[list[tuple[str, Estimate]], list[str]]:
    """The methods' means, and what is missing."""
    told, missing = [], []
    for method in methods:
        try:
            told.append((method, plain(source, claim, method)))
        except Missing as error:
            missing.append(str(error))
    return told, missing


def _above(source: Source, claim: Any, a: str, b: str, said: str) -> Fact:
    """Whether the mean of ``a`` is greater than that of ``b``; equal up to rounding is not."""
    gap = difference(source, claim, a, b)
    size = max(abs(plain(source, claim, m).value) for m in (a, b))
    holds = gap.value > 1e-12 * size
    return Fact(holds, holds and gap.has_interval and gap.low > 0, said)


def check_order(source: Source, claim: OrderCheck, unit: Unit) -> Checked:
    told, missing = _means(source, claim, claim.methods)
    present = [method for method, _ in told]
    facts = []
    for a, b in pairwise(present):
        high, low = (a, b) if claim.first == "highest" else (b, a)
        try:
            fact = _above(source, claim, high, low, f"{a} and {b}")
        except Missing as error:
            missing.append(str(error))
            continue
        facts.append(fact if fact.holds else Fact(False, False, f"{high} is not above {low}"))
    return Checked(claim, of_facts(facts, missing), None, None, told, unit, why(facts, missing))


def check_extreme(source: Source, claim: ExtremeCheck, unit: Unit) -> Checked:
    told, missing = _means(source, claim, [claim.method, *(m for m in claim.among if m != claim.method)])
    if not any(method == claim.method for method, _ in told):
        return Checked(claim, "cannot be checked", None, None, told, unit, "; ".join(dict.fromkeys(missing)))
    ahead, sure, unsure = 0, True, []
    for rival, _ in told[1:]:
        high, low = (rival, claim.method) if claim.which == "highest" else (claim.method, rival)
        try:
            beaten = _above(source, claim, high, low, "")
            beats = _above(source, claim, low, high, "")
        except Missing as error:
            missing.append(str(error))
            continue
        # A tie counts against the claim: it says highest, not among the highest.
        ahead += not beats.holds
        if not (beaten.sure or beats.sure):
            sure = False
            unsure.append(rival)
    left = len(missing)
    if not ahead <= claim.place - 1 <= ahead + left:
        said = f"{claim.method} has place {ahead + 1}" + (" or lower" if left else "")
        return Checked(claim, "not reproduced", None, None, told, unit, said)
    if missing:
        return Checked(claim, "cannot be checked", None, None, told, unit, "; ".join(dict.fromkeys(missing)))
    said = "" if sure else f"interval includes the opposite: {', '.join(unsure)}"
    return Checked(claim, "reproduced" if sure else "same direction", None, None, told, unit, said)


def check_dominance(source: Source, claim: DominanceCheck, unit: Unit) -> Checked:
    facts, missing = [], []
    for rival in claim.against:
        if rival == claim.method:
            continue
        try:
            facts.append(_dominance_fact(source, claim, rival))
        except Missing as error:
            missing.append(str(error))
    return Checked(claim, of_facts(facts, missing), None, None, [], unit, why(facts, missing))


def _dominance_fact(source: Source, claim: DominanceCheck, rival: str) -> Fact:
    aims = claim.objectives or _default_objectives(source, claim)
    metrics = [source.suite.metric(aim) for aim in aims]
    goals = [metric.goal for metric in metrics]
    asked = [ValueCheck.model_construct(**{**_BLANK, **_place(claim), "metric": aim}) for aim in aims]
    ours, theirs = ([plain(source, one, name).value for one in asked] for name in (claim.method, rival))
    gains = []
    for one, goal in zip(asked, goals, strict=True):
        gap = difference(source, one, claim.method, rival)
        gains.append(gap if goal == "max" else gap.mirrored(0.0, -1))
    better = any(gain.has_interval and gain.low > 0 for gain in gains)
    if claim.relation == "dominates":
        holds = dominates(ours, theirs, goals)
        sure = holds and better and all(gain.low >= 0 for gain in gains)
        return Fact(holds, sure, rival if holds else f"{claim.method} does not dominate {rival}")
    holds = not dominates(theirs, ours, goals)
    return Fact(holds, holds and better, rival if holds else f"{rival} dominates {claim.method}")


_BLANK: dict[str, Any] = {"kind": "value", "diagnostic": "", "series": "", "at": None}


def _place(claim: Any) -> dict[str, Any]:
    return {"datasets": claim.datasets, "costs": claim.costs}


def _default_objectives(source: Source, claim: DominanceCheck) -> list[str]:
    dataset, costs = source.places(claim)[0]
    names = source.cells.names(dataset, costs, claim.method)
    if not names:
        raise Missing(f"no records of {claim.method} on {dataset}")
    identity, task = source.records.identities[names[0]], source.records.infos[names[0]]["task"]
    return objectives(task, identity["threshold"], list(source.suite.metrics))
