"""Further tables a suite asks for with ``[[tables]]``: diagnostics of a method, series of its history."""

from __future__ import annotations

from typing import Any

from bench_core.analysis.records import Records
from bench_core.analysis.summary import mean_with_margin
from bench_core.render.markdown import number, plain_number, table, text
from bench_core.suite import Suite, TableEntry

__all__ = ["extra_sections"]


def extra_sections(suite: Suite, records: Records) -> list[str]:
    """The sections of all ``[[tables]]``, in the suite's order."""
    lines: list[str] = []
    for entry in suite.file.tables:
        make = _diagnostics if entry.kind == "diagnostics" else _history
        lines += [f"## {text(entry.title)}", ""]
        if entry.note:
            lines += [text(entry.note), ""]
        lines += [make(suite, records, entry), ""]
    return lines


def _trials(records: Records, dataset: str, method: str) -> list[dict[str, Any]]:
    """The records' infos of a method on a data set, by seed."""
    return [
        records.infos[name]
        for (its_dataset, _, its_method), names in records.trials.items()
        if its_dataset == dataset and its_method == method
        for name in names
    ]


def _diagnostics(suite: Suite, records: Records, entry: TableEntry) -> str:
    """A row per data set and method: each field's mean, least and greatest value over seeds, and the paper's."""
    head = ["Data set", "Method", *(text(name) for name in entry.fields), "Seeds"]
    if entry.paper:
        head.append("Paper")
    body = []
    for dataset in suite.dataset_names():
        for method in entry.methods:
            found = _trials(records, dataset, method)
            cells = [_spread([info["diagnostics"].get(name) for info in found]) for name in entry.fields]
            row = [text(dataset), text(method), *cells, str(len(found))]
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
    """Whole numbers as they are, others with four significant digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else plain_number(value)


def _history(suite: Suite, records: Records, entry: TableEntry) -> str:
    """A row per data set and method: a series' mean over seeds at chosen places, with its 95 % margin.

    A series that stops early counts with its last value from there on.
    """
    head = ["Data set", "Method", *(f"{entry.axis} {place}" for place in entry.at)]
    body = []
    for dataset in suite.dataset_names():
        for method in entry.methods:
            series = [info["history"].get(entry.series) for info in _trials(records, dataset, method)]
            cells = []
            for place in entry.at:
                values = [float(one[min(place, len(one) - 1)]) for one in series if one]
                cells.append(number(mean_with_margin(values)))
            body.append([text(dataset), text(method), *cells])
    return table(head, body)
