"""Claims: a paper's sentences checked against the records, by one rule for all.

The rule (it is printed on every page that has claims, `RULE`):

- A *number* (``value``, ``ratio``, ``difference`` with relation ``=``) is **reproduced** when the paper's number lies
  in our 95 % interval widened by the tolerance on both sides. But when the interval is wider than four tolerances
  (the claim's or the default, whichever is more) and our number is farther off than one, the number would fit others
  as well, and the claim **cannot be checked**. Outside the interval it is the **same direction** when the sign of the
  difference, the side of 1 of the ratio, or the side of the stated baseline is the paper's. Else **not reproduced**.
- A *relation* (``order``, ``extreme``, ``dominance``, and the numbers with ``<`` or ``>``) is **reproduced** when it
  holds on the means and every 95 % interval of the paired differences it rests on excludes the opposite; the
  **same direction** when it holds on the means only; else **not reproduced**.
- A *share* ("on 2 of 4 data sets") is **reproduced** when the relation holds on the paper's number of data sets, and
  is reproduced on each of these; the **same direction** when it holds on the means on that many or more; else **not
  reproduced**.
- A relation that the methods we have already contradict is not reproduced, whatever the missing ones would do.
  Otherwise a claim about something that the records do not hold **cannot be checked**, and the page says what is
  missing. With one seed there is no interval, so that a relation is at most the same direction.

The intervals are t intervals over seeds, corrected for the overlap of random splits as every other interval of the
page (`bench_leaderboard.analysis.summary`); for a median, of order statistics. Differences are paired by seed. Means
over several data sets take these as they are (`bench_leaderboard.analysis.summary.mean_of_means`). Nothing is corrected
for the number of claims.

The tolerance, unless a claim states its own: 0.02 (two points) for shares, 0.05 (five points) for "so much below",
else 5 % of the paper's number; none for relations.
"""

from __future__ import annotations

import math
from typing import Any

from bench_core import Suite
from bench_leaderboard.analysis.cells import Cells
from bench_leaderboard.analysis.claim_relations import check_dominance, check_extreme, check_order
from bench_leaderboard.analysis.quantities import Estimate, Missing, Source, difference, median, plain, ratio
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.verdicts import Checked, Unit, Verdict, of_facts, relation
from bench_leaderboard.claims_schema import (
    DifferenceCheck,
    ExtremeCheck,
    OrderCheck,
    RatioCheck,
    ShareCheck,
    ValueCheck,
)

__all__ = ["RULE", "WIDE", "check_claims", "default_tolerance"]

WIDE = "the interval is too wide to tell"
"""Why a number cannot be checked when only the width of our interval, over four tolerances, makes the paper's fit."""

RULE = (
    "One rule for all claims. A number is *reproduced* when the paper's lies in our 95 % interval widened by the "
    "tolerance (± in the paper's column), the *same direction* when only the sign of the difference, the side of 1 of"
    " the ratio or the side of the stated baseline agrees. When only the width of our interval makes the paper's "
    "number fit, because it is wider than four tolerances, the number *cannot be checked*. A relation is *reproduced*"
    " when it holds on the means and the 95 % interval of every paired difference it rests on excludes the opposite, "
    "the *same direction* when it holds on the means only. A claim on so many data sets is *reproduced* when its "
    "relation is reproduced on exactly as many, the *same direction* when it holds on the means on as many or more. "
    "What the records do not hold *cannot be checked*, unless what they hold contradicts it already. Intervals are "
    "over seeds, paired by seed, with the variance of the tables. Tolerance unless stated: 2 points for shares, 5 "
    'points for "so much below", else 5 % of the value that the paper gives.'
)


def check_claims(suite: Suite, records: Records, cells: Cells) -> list[Checked]:
    """Every claim of a suite, in its order, checked by the rule above."""
    source = Source(suite, records, cells)
    return [_check(source, claim) for claim in suite.section("claims")]


def default_tolerance(claim: Any, unit: Unit) -> float:
    """The tolerance of a claim that states none (see the module's docstring)."""
    if isinstance(claim, RatioCheck):
        return 0.05 if claim.form == "one-minus" else 0.05 * abs(claim.value)
    if unit in ("percent", "points"):
        return 0.02
    return 0.05 * abs(float(claim.value))


def _unit(source: Source, claim: Any) -> Unit:
    if isinstance(claim, RatioCheck):
        return "ratio" if claim.form == "plain" else "percent"
    if isinstance(claim, ShareCheck):
        return _unit(source, claim.of)
    metric = getattr(claim, "metric", "")
    share = source.suite.metric(metric).percent if metric else bool(getattr(claim, "percent", False))
    if isinstance(claim, DifferenceCheck):
        return "points" if share else "plain"
    return "percent" if share else "plain"


def _check(source: Source, claim: Any) -> Checked:
    unit = _unit(source, claim)
    if isinstance(claim, ShareCheck):
        return _share(source, claim, unit)
    if isinstance(claim, ValueCheck | RatioCheck | DifferenceCheck):
        return _number(source, claim, unit)
    if isinstance(claim, OrderCheck):
        return check_order(source, claim, unit)
    if isinstance(claim, ExtremeCheck):
        return check_extreme(source, claim, unit)
    return check_dominance(source, claim, unit)


def _number(source: Source, claim: Any, unit: Unit) -> Checked:
    paper: float | None = None
    tolerance: float | None = None
    try:
        if claim.value == "threshold":
            return _above_thresholds(source, claim, unit)
        paper = float(claim.value)
        if claim.relation == "=":
            tolerance = default_tolerance(claim, unit) if claim.tolerance is None else claim.tolerance
        ours = _quantity(source, claim)
        baseline = _baseline(source, claim)
    except Missing as missing:
        return Checked(claim, "cannot be checked", paper, tolerance, [], unit, str(missing))
    told = [(claim.method, ours)]
    if claim.relation != "=":
        fact = relation(ours, claim.relation, paper, claim.tolerance or 0.0)
        return Checked(claim, of_facts([fact]), paper, None, told, unit)
    low, high = (ours.low, ours.high) if ours.has_interval else (ours.value, ours.value)
    slack = (tolerance or 0.0) + 1e-12 * abs(paper)
    why = ""
    if low - slack <= paper <= high + slack:
        verdict: Verdict = "reproduced"
        if high - low > 4 * max(slack, default_tolerance(claim, unit)) and abs(ours.value - paper) > slack:
            verdict, why = "cannot be checked", WIDE
    elif baseline is not None and (paper - baseline) * (ours.value - baseline) > 0:
        verdict = "same direction"
    else:
        verdict = "not reproduced"
    return Checked(claim, verdict, paper, tolerance, told, unit, why)


def _quantity(source: Source, claim: Any) -> Estimate:
    if isinstance(claim, DifferenceCheck):
        return difference(source, claim, claim.method, claim.against)
    if isinstance(claim, RatioCheck):
        made = ratio(source, claim, claim.method, claim.against)
        offset = {"plain": 0.0, "one-minus": 1.0, "minus-one": -1.0}[claim.form]
    else:
        made = (median if claim.statistic == "median" else plain)(source, claim, claim.method)
        offset = 1.0 if claim.form == "one-minus" else 0.0
    return made if claim.form == "plain" else made.mirrored(offset, -1 if claim.form == "one-minus" else 1)


def _baseline(source: Source, claim: Any) -> float | None:
    """What "direction" is measured from; None when the claim states nothing to compare with."""
    if isinstance(claim, DifferenceCheck):
        return 0.0
    if isinstance(claim, RatioCheck):
        return 1.0 if claim.form == "plain" else 0.0
    if claim.baseline == "threshold":
        limits = [source.threshold(dataset) for dataset, _ in source.places(claim)]
        return math.fsum(limits) / len(limits)
    return None if claim.baseline is None else float(claim.baseline)


def _above_thresholds(source: Source, claim: Any, unit: Unit) -> Checked:
    """A value against p̂; over several data sets, their means are compared."""
    limits = [source.threshold(dataset) for dataset, _ in source.places(claim)]
    limit = math.fsum(limits) / len(limits)
    ours = _quantity(source, claim)
    fact = relation(ours, claim.relation, limit, claim.tolerance or 0.0)
    return Checked(claim, of_facts([fact]), limit, None, [(claim.method, ours)], unit)


def _share(source: Source, claim: ShareCheck, unit: Unit) -> Checked:
    places = source.places(claim)
    found = [
        _check(source, claim.of.model_copy(update={"datasets": [dataset], "costs": costs}))
        for dataset, costs in places
    ]
    holds = sum(one.verdict in ("reproduced", "same direction") for one in found)
    sure = sum(one.verdict == "reproduced" for one in found)
    open_ = [one for one in found if one.verdict == "cannot be checked"]
    if holds + len(open_) < claim.count:
        verdict: Verdict = "not reproduced"
    elif open_:
        verdict = "cannot be checked"
    elif holds == claim.count and sure == claim.count:
        verdict = "reproduced"
    else:
        verdict = "same direction" if holds >= claim.count else "not reproduced"
    if verdict == "cannot be checked":
        why = "; ".join(dict.fromkeys(part for one in open_ for part in one.why.split("; ")))
        return Checked(claim, verdict, None, None, [], unit, why)
    why = "; ".join(f"{dataset} {one.verdict}" for (dataset, _), one in zip(places, found, strict=True))
    return Checked(claim, verdict, None, None, [], unit, why, (holds, len(places)))
