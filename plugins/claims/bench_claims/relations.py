"""Claims that are relations between methods: order, extreme, dominance.

The rule is in `bench_claims.claims`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from bench_analysis import objectives_at

from bench_claims.estimates import Estimate
from bench_claims.quantities import Missing, Source, difference, plain
from bench_claims.schema import DominanceCheck, ExtremeCheck, OrderCheck, ValueCheck
from bench_claims.verdicts import Checked, Fact, Profile, Unit, Verdict, all_of, compared, deciding, negated, why

__all__ = ["SAME_POLICY", "check_dominance", "check_extreme", "check_order"]

SAME_POLICY = "are one and the same policy on every split"
"""Why two rows that are equal in every metric are not compared: identity alone would decide the relation."""


def _means(source: Source, claim: Any, methods: Sequence[str]) -> tuple[list[tuple[str, Estimate]], list[str]]:
    """The methods' means, and what is missing."""
    means, missing = [], []
    for method in methods:
        try:
            means.append((method, plain(source, claim, method)))
        except Missing as error:
            missing.append(str(error))
    return means, missing


def _above(source: Source, claim: Any, high: str, low: str) -> Fact:
    """Whether ``high`` is above ``low``, by the interval of their paired difference."""
    statement = f"{high} above {low}"
    if claim.metric and not claim.read_off and source.identical(claim, high, low):
        return Fact("cannot be told", f"{high} and {low} {SAME_POLICY}")
    gap = difference(source, claim, high, low)
    return Fact(compared(gap, ">", 0.0), statement, gap)


def check_order(source: Source, claim: OrderCheck, unit: Unit) -> Checked:
    means, missing = _means(source, claim, claim.methods)
    facts = []
    for a, b in pairwise(method for method, _ in means):
        high, low = (a, b) if claim.first == "highest" else (b, a)
        try:
            facts.append(_above(source, claim, high, low))
        except Missing as error:
            missing.append(str(error))
    verdict = _with_gaps(all_of(fact.verdict for fact in facts), missing)
    return Checked(claim, verdict, None, None, means, unit, why(facts, missing), deciding=deciding(facts))


def _with_gaps(verdict: Verdict, missing: Sequence[str]) -> Verdict:
    """The verdict given that some records are missing: it may be ``contradicted``, but not ``holds``."""
    return "cannot be told" if missing and verdict == "holds" else verdict


def check_extreme(source: Source, claim: ExtremeCheck, unit: Unit) -> Checked:
    means, missing = _means(source, claim, [claim.method, *(m for m in claim.among if m != claim.method)])
    if not any(method == claim.method for method, _ in means):
        return Checked(claim, "cannot be told", None, None, means, unit, "; ".join(dict.fromkeys(missing)))
    facts = []
    for rival, _ in means[1:]:
        high, low = (claim.method, rival) if claim.which == "highest" else (rival, claim.method)
        try:
            facts.append(_above(source, claim, high, low))
        except Missing as error:
            missing.append(str(error))
    # A rival that is not beaten counts as ahead, also in a tie: the claim says highest, not among the highest.
    ahead = sum(fact.verdict == "contradicted" for fact in facts)
    open_ = sum(fact.verdict == "cannot be told" for fact in facts) + len(missing)
    others = claim.place - 1
    if ahead > others or ahead + open_ < others:
        verdict: Verdict = "contradicted"
        most = f" to {ahead + open_ + 1}" if open_ else ""
        reason = f"not so: {claim.method} has place {ahead + 1}{most}"
    else:
        verdict = "cannot be told" if open_ else "holds"
        reason = why([fact for fact in facts if fact.verdict != "contradicted"], missing)
    # For a place other than the first, the nearest rival on either side is the most informative.
    shown = deciding(facts) if claim.place == 1 else _nearest(facts)
    return Checked(claim, verdict, None, None, means, unit, reason, deciding=shown)


def _nearest(facts: Sequence[Fact]) -> Fact | None:
    known = [(abs(fact.gap.value), fact) for fact in facts if fact.gap is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None


def check_dominance(source: Source, claim: DominanceCheck, unit: Unit) -> Checked:
    facts, missing = [], []
    for rival in claim.against:
        if rival == claim.method:
            continue
        try:
            facts.append(_dominance_fact(source, claim, rival))
        except Missing as error:
            missing.append(str(error))
    verdict = _with_gaps(all_of(fact.verdict for fact in facts), missing)
    rivals = [rival for rival in claim.against if rival != claim.method]
    profiles = [_profile(source, claim, method) for method in (claim.method, *rivals)]
    profiles = [profile for profile in profiles if profile.means]
    reason = why(facts, missing)
    return Checked(claim, verdict, None, None, [], unit, reason, deciding=deciding(facts), profiles=profiles)


def _profile(source: Source, claim: DominanceCheck, method: str) -> Profile:
    """The method's means in the objectives, without those that the records do not hold."""
    profile = Profile(method, [])
    try:
        objectives = claim.objectives or _default_objectives(source, claim, method)
    except Missing:
        return profile
    for aim in objectives:
        check, metric = _objective(claim, aim), source.suite.metric(aim)
        with suppress(Missing):
            mean = plain(source, check, method)
            profile.means.append((metric.title, mean, "percent" if metric.percent else "plain"))
    return profile


def _dominance_fact(source: Source, claim: DominanceCheck, rival: str) -> Fact:
    if source.identical(claim, claim.method, rival):
        return Fact("cannot be told", f"{claim.method} and {rival} {SAME_POLICY}")
    if claim.relation == "dominates":
        statement = f"{claim.method} dominates {rival}"
        return Fact(_dominates(source, claim, claim.method, rival), statement)
    statement = f"{rival} does not dominate {claim.method}"
    return Fact(negated(_dominates(source, claim, rival, claim.method)), statement)


def _dominates(source: Source, claim: DominanceCheck, a: str, b: str) -> Verdict:
    """Whether ``a`` is at least as good as ``b`` in every objective, and better in one, by paired intervals."""
    no_worse: list[Verdict] = []
    better: list[Verdict] = []
    for aim in claim.objectives or _default_objectives(source, claim, a):
        gap = difference(source, _objective(claim, aim), a, b)
        gain = gap if source.suite.metric(aim).goal == "max" else gap.mirrored(0.0, -1)
        no_worse.append(compared(gain, ">=", 0.0))
        better.append(compared(gain, ">", 0.0))
    some = negated(all_of(negated(verdict) for verdict in better))
    return all_of([*no_worse, some])


_BLANK: dict[str, Any] = {
    "kind": "value",
    "averaged": [],
    "rows": {},
    "diagnostic": "",
    "series": "",
    "at": None,
    "undefined": None,
    "within": None,
    "matched": None,
}


def _objective(claim: DominanceCheck, metric: str) -> ValueCheck:
    """The check that reads one objective of the claim."""
    place = {"datasets": claim.datasets, "costs": claim.costs}
    return ValueCheck.model_construct(**{**_BLANK, **place, "metric": metric})


def _default_objectives(source: Source, claim: DominanceCheck, method: str) -> list[str]:
    dataset, costs = source.places(claim)[0]
    if not source.cells.names(dataset, costs, method):
        raise Missing(f"no records of {method} on {dataset}")
    return objectives_at(source.records, source.suite, source.cells, dataset, costs)
