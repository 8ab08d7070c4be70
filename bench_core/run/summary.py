"""The summary of a trial's decisions in its record: policies by columns, acquired features, base models run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench_core.contract.canonical import plain, writable
from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Policy
from bench_core.contract.metric import Metric, measure
from bench_core.protocol.empty import empty_outcome

__all__ = ["Described", "PolicyOutcome", "add_metrics", "describe", "distribution", "tables_of", "usage_of"]

MOST_BARS = 64


@dataclass(frozen=True)
class PolicyOutcome:
    """One policy's outcome on one part."""

    policy: int
    part: str
    outcome: Outcome


@dataclass(frozen=True)
class Described:
    """A policy's description of itself, read once."""

    name: str
    label: str
    details: Any
    budget: float | None


def describe(number: int, policy: Policy) -> Described:
    """Read a policy's label, details and budget.

    Raises:
        ContractError: the budget is not a number from 0.
    """
    label, budget = writable(str(policy.label)), policy.budget
    name = f"policy {number}" + (f" ({label})" if label else "")
    if budget is not None:
        try:
            budget = float(budget)
        except (TypeError, ValueError):
            budget = float("nan")
        if not budget >= 0:
            raise ContractError(f"{name}: budget must be a number from 0, or None, not {policy.budget!r}")
    return Described(name, label, plain(dict(policy.details)), budget)


def tables_of(
    described: list[Described], outcomes: list[PolicyOutcome], answer: list[float], metrics: Mapping[str, Metric]
) -> dict[str, Any]:
    """The tables of a record: the family by columns (``policies``), and the empty policy with its answer (``empty``).

    A metric that fails is left out, so that it cannot make the trial fail. Its error is raised where the metric is
    computed from the stored decisions.
    """
    columns = {key: plain([getattr(one, key) for one in described]) for key in ("label", "details", "budget")}
    empty = {"answer": answer, "validation": {}, "test": {}}
    tables = {"policies": {**columns, "validation": {}, "test": {}}, "empty": empty}
    add_metrics(tables, outcomes, metrics)
    return tables


def add_metrics(
    record: dict[str, Any], outcomes: Sequence[PolicyOutcome], metrics: Mapping[str, Metric]
) -> list[ContractError]:
    """Add metrics to a record's columns and to its empty policy; some apply only if there is a reference.

    Args:
        record: the record, or its tables; it is changed.
        outcomes: the outcomes of all policies on both parts, those of the first policy first. The empty policy is
            judged on the same rows.
        metrics: the metrics, by name.

    Returns:
        The errors of metrics that failed. These are left out.
    """
    policies, empty, failed = record["policies"], record.get("empty", {}), []
    nothing = [replace(one, outcome=empty_outcome(empty["answer"], one.outcome)) for one in outcomes[:2] if empty]
    for name, metric in metrics.items():
        try:
            values = [(one.part, measure(one.outcome, {name: metric})) for one in outcomes]
            free = [(one.part, measure(one.outcome, {name: metric})) for one in nothing]
        except ContractError as error:
            failed.append(error)
            continue
        for part, value in values:
            if value:
                policies[part].setdefault(metric.key, []).append(plain(value[name]))
        for part, value in free:
            empty[part] |= {metric.key: plain(value[name])} if value else {}
    return failed


_MOST_USAGE = 6000
"""The most usage numbers in a record. The first policies of a family are kept."""


def usage_of(outcomes: list[PolicyOutcome]) -> list[list[list[float]] | None]:
    """Per policy, exit stage and feature: the share of test rows that left at this stage with the feature acquired.

    None for the last policies of families that would need more than `_MOST_USAGE` numbers.
    """
    usage: list[list[list[float]] | None] = []
    left = _MOST_USAGE
    for judged in outcomes:
        if judged.part != "test":
            continue
        acquired, stage = judged.outcome.decisions.acquired, judged.outcome.decisions.stage
        stage = np.ones(len(acquired), dtype=np.int64) if stage is None else stage
        stages = int(stage.max(initial=1))
        left -= stages * acquired.shape[1]
        if left < 0 or not len(acquired):
            usage.append(None)
        else:
            shares = [acquired[stage == s].sum(axis=0) / len(acquired) for s in range(1, stages + 1)]
            usage.append(np.round(np.stack(shares), 6).tolist())
    return usage


def distribution(decisions: Sequence[Decisions], full: Decisions | None = None) -> dict[str, Any] | None:
    """Histograms of the number of base models run per row, with bars of equal width.

    Args:
        decisions: each policy's decisions on the test rows.
        full: decisions of the reference policy; the bars also cover its numbers.

    Returns:
        ``width`` (a power of two, so that histograms of different widths can be added) and ``counts``: for each policy,
        the number of rows that ran more than ``width * i`` and at most ``width * (i + 1)`` base models, or None if the
        policy does not count evaluations. Rows without base models count in the first bar. None if no policy counts
        evaluations.
    """
    runs = [policy.evaluations for policy in decisions]
    if not (counted := [count for count in runs if count is not None and len(count)]):
        return None
    if full is not None and full.evaluations is not None and len(full.evaluations):
        counted.append(full.evaluations)
    most = max(float(count.max()) for count in counted)
    width = 1
    while width * MOST_BARS < most:
        width *= 2
    bars = max(1, int(np.ceil(most / width)))
    places = [None if count is None else np.maximum(np.ceil(count / width).astype(np.int64) - 1, 0) for count in runs]
    counts = [None if place is None else np.bincount(place, minlength=bars).tolist() for place in places]
    return {"width": width, "counts": counts}
