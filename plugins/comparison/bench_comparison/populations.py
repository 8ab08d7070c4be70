"""What is compared with what: data sets of one task and one kind of prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from bench_analysis import cells_of, default_quality
from bench_records import Records, is_over_limit, refusal_threshold

from bench_comparison.budgets import Answers, answers_of
from bench_comparison.schema import ComparisonEntry, Prices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_core.suites import Suite

__all__ = ["Population", "Task", "absolute_answers", "comparison_of", "populations", "prices_of"]

Task = Literal["classification", "classification with refusals", "ranking", "regression"]

_PRICES: Mapping[str, Prices] = {
    "uniform": "unit",
    "random": "drawn",
    "cost-classes": "classes",
    "from-data": "generated",
    "importance-quantiles": "generated",
    "svm-weights": "generated",
}
"""Registered name of a cost scheme → the kind of its prices; all others are fees."""


@dataclass(frozen=True, eq=False)
class Population:
    """Data sets on which methods are compared with each other.

    Attributes:
        task: of the data sets; classification with refusals is a task of its own.
        prices: their kind.
        answers: of every data set and cost scheme, in the suite's order.
    """

    task: Task
    prices: Prices
    answers: tuple[Answers, ...]


def comparison_of(suite: Suite) -> ComparisonEntry | None:
    """The suite's ``[comparison]``; None where it has none."""
    entry = suite.section("comparison")
    return entry if isinstance(entry, ComparisonEntry) else None


def prices_of(suite: Suite, entry: ComparisonEntry, dataset: str, costs: str) -> Prices:
    """The kind of a data set's prices under a cost scheme."""
    for kind, names in entry.prices.items():
        if costs in names:
            return kind
    use = next(
        scheme.use for d in suite.file.datasets if d.label == dataset for scheme in d.costs if scheme.label == costs
    )
    return _PRICES.get(use, "fees")


def populations(suite: Suite, records: Records, entry: ComparisonEntry) -> list[Population]:
    """Every population with a record: in the order of `Task`, within each task in that of `Prices`."""
    groups: dict[tuple[Task, Prices], list[Answers]] = {}
    for answers, task in _answers(suite, records, entry.budgets):
        kind = prices_of(suite, entry, answers.dataset, answers.costs)
        groups.setdefault((task, kind), []).append(answers)
    order = [(task, kind) for task in get_args(Task) for kind in get_args(Prices)]
    return [Population(*key, tuple(groups[key])) for key in order if key in groups]


def absolute_answers(suite: Suite, records: Records, entry: ComparisonEntry) -> list[Answers]:
    """The answers of the trials to the absolute budgets; costs are in the unit of the prices."""
    return [
        answers
        for dataset, budgets in entry.absolute.items()
        for answers, _ in _answers(suite, records, budgets, [dataset], cost=None)
    ]


def _answers(
    suite: Suite, records: Records, budgets: Sequence[float], datasets: Sequence[str] = (), cost: str | None = "cost"
) -> Iterator[tuple[Answers, Task]]:
    why = _lacking(records)
    for place in suite.grids:
        if datasets and place[0] not in datasets:
            continue
        cell = cells_of(records).get(place)
        quality = default_quality(suite, records, cell) if cell is not None else None
        if cell is None or quality is None:
            continue
        answers = answers_of(records, cell, suite.methods_on(place[0]), quality, budgets, cost, why.get(place, {}))
        if answers is not None:
            yield answers, _task(records, list(cell["name"].unique()))


def _task(records: Records, names: Sequence[str]) -> Task:
    task = records.infos[names[0]]["task"]
    if task == "ranking":
        return "ranking"
    if task == "regression":
        return "regression"
    refuses = refusal_threshold(records.identities[name] for name in names) is not None
    return "classification with refusals" if refuses else "classification"


def _lacking(records: Records) -> Mapping[tuple[str, str], Mapping[str, str]]:
    """(data set, cost scheme) → method → why a trial of it has no number; ``failed`` prevails."""
    frame = records.policies
    if frame.empty:
        return {}
    reasons: dict[tuple[str, str], dict[str, str]] = {}
    rest = frame[frame["status"] != "ok"]
    for row in rest[["dataset", "costs", "method", "name", "status"]].itertuples(index=False):
        by_method = reasons.setdefault((str(row.dataset), str(row.costs)), {})
        reason = str(row.status)
        if reason == "failed" and is_over_limit(records.infos[str(row.name)]):
            reason = "over the limit"
        if by_method.get(str(row.method)) != "failed":
            by_method[str(row.method)] = reason
    return reasons
