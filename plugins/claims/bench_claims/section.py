"""Validates ``[[claims]]`` of a suite against its other sections."""

from __future__ import annotations

from collections.abc import Sequence

from bench_leaderboard import check_place

from bench_claims.schema import CHECKS, STANDINGS, Check, ShareCheck, checks_within, without_kind
from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import SectionRules, Suite

__all__ = ["RULES"]


def _check_claims(suite: Suite, entries: Sequence[Check]) -> dict[str, Metric]:
    """Check that the data sets, cost schemes and metrics of claims are in the suite; methods may be added later."""
    needed: dict[str, Metric] = {}
    for i, claim in enumerate(entries):
        for key in ("text", "source"):
            if not getattr(claim, key).strip():
                raise RequestError(f"{suite.path}: claims[{i}] needs a {key}")
        if claim.standing not in STANDINGS:
            hint = did_you_mean(claim.standing, STANDINGS) if claim.standing else "it is needed"
            known = "'same data' (the paper's own), 'stand-in' (other data in its place), 'absent' (it cannot be had)"
            raise RequestError(
                f"{suite.path}: claims[{i}].standing: {claim.standing!r} is not a standing; {hint}; known: {known}"
            )
        names = claim.datasets or suite.dataset_names()
        if isinstance(claim, ShareCheck) and claim.count > len(names):
            raise RequestError(f"{suite.path}: claims[{i}].count: there are {len(names)} data sets")
        names = [*names, *([other] if (other := getattr(claim, "against_dataset", "")) else [])]
        metrics: list[str] = []
        for check, inner in zip(checks_within(claim), ("", ".of"), strict=False):
            if repeated := _repeated(check):
                key, name = repeated
                raise RequestError(f"{suite.path}: claims[{i}]{inner}.{key}: {name!r} is named twice")
            metrics += [
                getattr(check, "metric", ""),
                *getattr(check, "objectives", []),
                *getattr(check, "averaged", []),
            ]
            matched = getattr(check, "matched", None)
            if matched is not None:
                metrics.append(matched.metric)
                _check_matched(suite, f"claims[{i}].matched", matched.metric)
        needed |= check_place(suite, f"claims[{i}]", names, claim.costs, [name for name in metrics if name])
    return needed


def _repeated(check: Check) -> tuple[str, str] | None:
    """Return the key that names a data set or a method for the second time, and the name; None if none does."""
    against = getattr(check, "against", [])
    other = getattr(check, "against_dataset", "")
    compared = [against] if isinstance(against, str) else against
    if not other or [other] == check.datasets:
        compared = [getattr(check, "method", ""), *compared]
    named = {"datasets": check.datasets, "against": compared}
    named |= {key: getattr(check, key, []) for key in ("methods", "among")}
    for key, names in named.items():
        for place, name in enumerate(names):
            if name in names[:place]:
                return key, name
    return None


def _check_matched(suite: Suite, where: str, name: str) -> None:
    metric = suite.registry.metric(name, f"{suite.path}: {where}")
    if metric.goal != "min":
        raise RequestError(f"{suite.path}: {where}: more of {name!r} is better; curves are read at most at a value")


RULES = SectionRules(list[Check], _check_claims, kinds=tuple(CHECKS), place=without_kind)
