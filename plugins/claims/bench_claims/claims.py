"""Checks a paper's claims against the records; one rule applies to all of them.

A claim *holds*, is *contradicted* or *consistent*, or *cannot be told*. The rule (`RULE` is printed on every page that
has claims):

- A *relation* (``order``, ``extreme``, ``dominance``, and the numbers with ``<`` or ``>``) is about the methods'
  averages over splits. It is decided by the 95 % interval of the paired difference over common splits (of the mean, if
  a method is compared with a constant). If the complete interval is on the paper's side, the relation holds; if it is
  on the other side, the relation is contradicted; otherwise it cannot be told.
- A *number* (``value``, ``ratio``, ``difference`` with relation ``=``) was measured by the paper on ``splits`` splits,
  usually one. It is compared with a prediction interval: the interval in which the mean of that many further splits
  would lie. The number is contradicted if it lies outside the interval by more than the margin of *about*. Otherwise it
  holds if the interval extends at most two margins to each side. A wider interval would also confirm numbers that
  differ clearly, so that the number is only *consistent* with ours. More splits of ours seldom help, since the small
  number of the paper's splits causes most of the width.
- If the test part of a ranking data set is fixed, all our splits have the same test queries. The interval then allows
  for other queries by an upper bound, since the records hold no values per query
  (`bench_claims.estimates.with_queries`).
- *About* has the same margin for all claims: a tenth of the number. For a share it is a tenth of the smaller of the
  share and its complement, so that "covers 80 %" and "rejects 20 %" get the same margin. "About 30" and "about half"
  give one significant digit; half a unit of that digit is between 5 and 50 % of the number, so a tenth is strict. The
  widest interval that can confirm a number, two tenths, corresponds to about one digit. A claim that needs another
  margin states the reason.
- A *share of data sets* ("on 2 of 4") holds if its relation holds on exactly that many data sets and is contradicted on
  all others; a data set on which a number is only consistent counts as undecided.
- With missing records a claim cannot hold, but the available records can contradict it.
- Undefined values are left out, counted and shown; if half of the seeds or more are undefined, the claim cannot be
  told.

Intervals use the same variance as all intervals of the page (`bench_analysis.summary`). *Least* is the
smallest difference that they detect with a power of 80 %. There is no correction for the number of claims.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from bench_analysis import Cells
from bench_records import Records

from bench_claims.estimates import Estimate, with_queries
from bench_claims.quantities import Missing, Source, difference, plain, ratio
from bench_claims.relations import check_dominance, check_extreme, check_order
from bench_claims.schema import (
    DifferenceCheck,
    ExtremeCheck,
    OrderCheck,
    RatioCheck,
    ShareCheck,
    ValueCheck,
    checks_within,
)
from bench_claims.verdicts import Checked, Standing, Unit, Verdict, compared
from bench_core.suites import Suite

__all__ = [
    "ABOUT",
    "NO_INTERVAL",
    "NO_QUERIES",
    "QUERIES",
    "QUERIES_READ",
    "RULE",
    "WIDE",
    "about",
    "check_claims",
    "checked",
]

ABOUT = 0.1
"""The margin of "about", as a share of the number."""

_WIDEST = 2.0
"""The largest half-width, in margins, of an interval that can confirm a number."""

WIDE = "the interval is wider than two margins to each side"
NO_INTERVAL = "there is one seed, and so no interval"
QUERIES = "without the sampling of queries"
NO_QUERIES = "the claim lacks the number of queries, which the interval of one split needs"
QUERIES_READ = (
    "here the metric is a mean over the queries of a given test part, and the records hold no values by query. The "
    "interval shows only the methods' own randomness on these queries; with other queries it would be wider."
)

RULE = """How a claim's verdict is found:

- **A relation between rows** is decided by the 95 % interval of their paired difference over common splits; against a
  constant, by that of the mean. It *holds* if the whole interval is on the paper's side, is *contradicted* if all of it
  is on the other, and *cannot be told* otherwise.
- **A number** that the paper measured on one split, or on as many as the claim says, is compared with the interval in
  which the mean of as many further splits would lie. It is *contradicted* if it lies outside by more than the margin
  ± of *about*. Otherwise it *holds* if the interval extends at most two margins to each side; if the interval is wider,
  it is *consistent* with ours, but not confirmed.
- ***About*** is a tenth of the number; for a share, a tenth of the smaller of it and its complement. A claim that needs
  another margin says why.
- **A claim on a number of data sets** *holds* if its relation holds on exactly that number and is contradicted on all
  others.
- With missing records, no claim holds. Values that are undefined on a seed are counted and left out of means.
- ***Least*** is the smallest difference that these splits detect with a power of 80 %. Intervals are paired by seed and
  have the variance of the tables; they are not corrected for the number of claims."""
"""The rule of verdicts, in Markdown."""


def check_claims(suite: Suite, records: Records, cells: Cells) -> list[Checked]:
    """Check every claim of a suite by the rule above, in the suite's order."""
    source = Source(suite, records, cells)
    return [checked(source, claim) for claim in suite.section("claims")]


def checked(source: Source, claim: Any) -> Checked:
    """Check one claim; the result includes its standing and remarks for the reader."""
    result = _check(source, claim)
    remarks = []
    sampled = getattr(claim, "relation", "") == "=" and getattr(claim, "queries", None) is not None
    if result.ours and not sampled and _queries_are_given(source, claim):
        remarks.append(QUERIES)
    remarks += _moved(source, claim) if result.ours or result.count else []
    return replace(result, standing=_standing(source, claim), remarks=remarks)


def _moved(source: Source, claim: Any) -> list[str]:
    """The value at which a curve is read, if it is not the one that the claim names."""
    check = list(checks_within(claim))[-1]
    match = getattr(check, "matched", None)
    if match is None:
        return []
    check = check if check is claim else check.model_copy(update={"datasets": claim.datasets, "costs": claim.costs})
    read = {dataset: source.read_at(check, (dataset, costs)) for dataset, costs in source.places(check)}
    several = len(read) > 1
    moved = [
        f"read at {match.metric} {value:.3g}{f' on {dataset}' if several else ''} instead of {match.most:g}"
        for dataset, value in read.items()
        if value > match.most
    ]
    return [f"{'; '.join(moved)}: the least at which each family compared has a policy on every split"] if moved else []


def _queries_are_given(source: Source, claim: Any) -> bool:
    """Whether a metric is a mean over the queries of a fixed test part, which all splits share."""
    return _by_query(claim) and not any(_overlaps(source, claim))


def _by_query(claim: Any) -> bool:
    metrics = [str(getattr(check, "metric", "")) for check in checks_within(claim)]
    return any(metric.startswith(("ndcg@", "precision@")) for metric in metrics)


def _standing(source: Source, claim: Any) -> Standing:
    """The declared standing; but ``same data`` if the data was declared absent and there are records of it."""
    there = {(dataset, costs) for dataset, costs, _ in source.records.trials}
    if claim.standing == "absent" and set(source.places(claim)) <= there:
        return "same data"
    return cast("Standing", claim.standing)


def _overlaps(source: Source, claim: Any) -> list[float]:
    there = {(dataset, costs) for dataset, costs, _ in source.records.trials}
    return source.overlaps([place for place in source.places(claim) if place in there])


def about(claim: Any, unit: Unit) -> float:
    """The margin of "about" of a claim: a tenth of its number unless it states another (see the module's docstring)."""
    if claim.tolerance is not None:
        return float(claim.tolerance)
    size = abs(float(claim.value))
    if unit == "percent" and size < 1:
        size = min(size, 1 - size)
    return ABOUT * size


def _unit(source: Source, claim: Any) -> Unit:
    if isinstance(claim, RatioCheck):
        return "ratio" if claim.form == "plain" else "percent"
    if isinstance(claim, ShareCheck):
        return _unit(source, claim.of)
    share = source.is_share(claim)
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
    paper, margin = None, None
    try:
        if claim.relation == "=":
            paper, margin = float(claim.value), about(claim, unit)
            ours = _quantity(source, claim, claim.splits)
            given = _queries_are_given(source, claim)
            if given and claim.queries is not None and ours.has_interval:
                ours = with_queries(ours, claim.queries, -1.0 if isinstance(claim, DifferenceCheck) else 0.0)
            verdict, why = _agrees(ours, paper, margin)
            if given and claim.queries is None:
                verdict, why = "cannot be told", NO_QUERIES
        else:
            paper = _limit(source, claim)
            ours = _quantity(source, claim)
            verdict, why = compared(ours, claim.relation, paper), ""
    except Missing as missing:
        return Checked(claim, "cannot be told", paper, margin, [], unit, str(missing))
    why = why if ours.has_interval else NO_INTERVAL
    return Checked(claim, verdict, paper, margin, [(claim.method, ours)], unit, why)


def _agrees(ours: Estimate, paper: float, margin: float) -> tuple[Verdict, str]:
    """The verdict on a number of the paper, by the prediction interval of the mean of as many further splits."""
    if not ours.has_interval:
        return "cannot be told", NO_INTERVAL
    slack = margin + 1e-12 * abs(paper)
    if paper + slack < ours.low or paper - slack > ours.high:
        return "contradicted", ""
    return ("holds", "") if (ours.high - ours.low) / 2 <= _WIDEST * slack else ("consistent", WIDE)


def _limit(source: Source, claim: Any) -> float:
    """The right-hand side of a relation: the paper's number, or p̂ (its mean, over several data sets)."""
    if claim.value != "threshold":
        return float(claim.value)
    limits = [source.threshold(dataset) for dataset, _ in source.places(claim)]
    return math.fsum(limits) / len(limits)


def _quantity(source: Source, claim: Any, splits: int | None = None) -> Estimate:
    if isinstance(claim, DifferenceCheck):
        return difference(source, claim, claim.method, claim.against, splits)
    if isinstance(claim, RatioCheck):
        estimate = ratio(source, claim, claim.method, claim.against, splits)
        offset = {"plain": 0.0, "one-minus": 1.0, "minus-one": -1.0}[claim.form]
    else:
        estimate = plain(source, claim, claim.method, splits)
        offset = 1.0 if claim.form == "one-minus" else 0.0
    return estimate if claim.form == "plain" else estimate.mirrored(offset, -1 if claim.form == "one-minus" else 1)


def _share(source: Source, claim: ShareCheck, unit: Unit) -> Checked:
    places = source.places(claim)
    results = [
        _check(source, claim.of.model_copy(update={"datasets": [dataset], "costs": costs})) for dataset, costs in places
    ]
    holds = sum(result.verdict == "holds" for result in results)
    open_ = sum(result.verdict in ("cannot be told", "consistent") for result in results)
    if holds > claim.count or holds + open_ < claim.count:
        verdict: Verdict = "contradicted"
    else:
        verdict = "cannot be told" if open_ else "holds"
    why = "; ".join(
        f"{dataset} {result.verdict}" + (f" ({result.why})" if result.why and result.verdict != "holds" else "")
        for (dataset, _), result in zip(places, results, strict=True)
    )
    return Checked(claim, verdict, None, None, [], unit, why, (holds, len(places)))
