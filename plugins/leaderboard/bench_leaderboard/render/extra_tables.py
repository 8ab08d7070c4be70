"""Further tables a suite asks for with ``[[tables]]``: diagnostics of a method, series of its history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench_analysis import by_policy, mean_with_margin, overlap, quantity_metric
from bench_records import Records

from bench_core import Metric
from bench_core.suites import Suite
from bench_leaderboard.render.markdown import number, plain_number, table, text
from bench_leaderboard.render.tables import heading
from bench_leaderboard.tables_schema import TableEntry

__all__ = ["extra_sections"]


def extra_sections(suite: Suite, records: Records) -> list[str]:
    """The sections of all ``[[tables]]``, in the suite's order."""
    lines: list[str] = []
    kinds = {"diagnostics": _diagnostics, "history": _history, "policies": _policies}
    for entry in suite.section("tables"):
        make = kinds[entry.kind]
        lines += [f"## {text(entry.title)}", ""]
        if entry.note:
            lines += [text(entry.note), ""]
        lines += [make(suite, records, entry), ""]
    return lines


def _entered(
    suite: Suite, records: Records, methods: list[str]
) -> Iterator[tuple[str, str, str, list[dict[str, Any]]]]:
    """Data set, its heading, method, and infos by seed; for the methods that the suite runs on each data set."""
    for dataset, costs in suite.grids:
        for method in methods:
            if method in suite.methods_on(dataset):
                done = records.trials.get((dataset, costs, method), [])
                yield (dataset, heading(suite, dataset, costs), method, [records.infos[trial] for trial in done])


def _diagnostics(suite: Suite, records: Records, entry: TableEntry) -> str:
    """A row per data set, cost scheme and method: each field's mean and range over seeds, and the paper's number."""
    head = ["Data set", "Method", *(text(name) for name in entry.fields), "Seeds"]
    if entry.paper:
        head.append("Paper")
    body = []
    for dataset, place, method, infos in _entered(suite, records, entry.methods):
        cells = [_spread([info["diagnostics"].get(name) for info in infos]) for name in entry.fields]
        row = [text(place), text(method), *cells, str(len(infos))]
        if entry.paper:
            row.append(_count(float(entry.paper.get(dataset, {}).get(method, float("nan")))))
        body.append(row)
    return table(head, body)


def _spread(values: list[Any]) -> str:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if not numbers:
        return "–"
    mean = _count(sum(numbers) / len(numbers))
    if min(numbers) == max(numbers):
        return mean
    return f"{mean} ({_count(min(numbers))}–{_count(max(numbers))})"


def _count(value: float) -> str:
    """Integers as they are, other numbers with four significant digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else plain_number(value)


def _history(suite: Suite, records: Records, entry: TableEntry) -> str:
    """A row per data set, cost scheme and method: a series' mean over seeds at chosen indices, with its 95 % margin.

    A series that stops early counts with its last value from there on.
    """
    head = ["Data set", "Method", *(f"{entry.axis} {place}" for place in entry.at)]
    body = []
    for dataset, name, method, infos in _entered(suite, records, entry.methods):
        shared = overlap(infos[0], suite.drawn_from(dataset)) if infos else 0.0
        series = [info["history"].get(entry.series) for info in infos]
        cells = []
        for place in entry.at:
            values = [float(numbers[min(place, len(numbers) - 1)]) for numbers in series if numbers]
            cells.append(number(mean_with_margin(values, shared, suite.seed_count(dataset))))
        body.append([text(name), text(method), *cells])
    return table(head, body)


def _policies(suite: Suite, records: Records, entry: TableEntry) -> str:
    """A row per data set, method and policy: quantities of the policy, means over seeds with their 95 % margins."""
    metrics = [quantity_metric(suite, name) for name in entry.fields]
    heads = entry.heads or [_head(name, metric) for name, metric in zip(entry.fields, metrics, strict=True)]
    percent = [entry.percent if metric is None else metric.percent for metric in metrics]
    body = []
    for place in suite.grids:
        name = heading(suite, *place)
        for method in entry.methods:
            for label, means in by_policy(records, place, method, entry.fields, suite).items():
                cells = [number(mean, shares) for mean, shares in zip(means, percent, strict=True)]
                body.append([text(name), text(method), text(label), *cells])
    shown = [f"{text(head)} %" if shares else text(head) for head, shares in zip(heads, percent, strict=True)]
    return table(["Data set", "Method", "Policy", *shown], body, left=3)


def _head(name: str, metric: Metric | None) -> str:
    """What a quantity is called: ``Accuracy (validation)``, ``actual cost``."""
    part, _, rest = name.partition(".")
    return f"{metric.title or metric.name} ({part})" if metric else rest.replace("_", " ")
