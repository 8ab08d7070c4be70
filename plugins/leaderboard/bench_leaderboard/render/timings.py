"""A suite's page of timings: the only one that depends on the machine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from bench_analysis import Analysed

from bench_core.suites import Suite
from bench_leaderboard.render.markdown import plain_number, text
from bench_leaderboard.render.provenance import imported_by_judge, levels_of, processors
from bench_leaderboard.render.templates import rendered

__all__ = ["render_timings"]

_STEPS = ("fit", "decide", "audit", "metrics")
_BESIDE = {"test.disagreement": "Share of rows that differ", "test.mean-base-models": "Base models"}
"""Columns of the selected policies beside their times, where there is a full model to compare with."""


def render_timings(analysed: Analysed, by_dataset: bool = True) -> str:
    """Seconds by step, method and data set, and microseconds per decided row, in Markdown.

    Args:
        analysed: a suite and its records.
        by_dataset: a row for each data set and method; otherwise a row for each method, over all data sets.
    """
    suite, records = analysed.suite, analysed.records
    seconds: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for (dataset, _, method), names in records.trials.items():
        seconds[dataset if by_dataset else "", method] += [
            records.runs[name]["timings"] for name in names if name in records.runs
        ]
    steps = []
    for dataset, methods in _places(suite, by_dataset):
        for method in methods:
            timings = seconds.get((dataset, method), [])
            if timings:
                cells = [_cell([timing[step] for timing in timings if step in timing]) for step in _STEPS]
                steps.append([*([text(dataset)] if by_dataset else []), text(method), str(len(timings)), *cells])
    total = math.fsum(timing.get(step, 0.0) for timings in seconds.values() for timing in timings for step in _STEPS)
    return rendered(
        "timings",
        name=suite.name,
        title=suite.file.suite.title or suite.name,
        processors=processors(records),
        steps=steps,
        place=["Data set"] if by_dataset else [],
        hours=plain_number(total / 3600, 3),
        judge=imported_by_judge(records),
        levels=levels_of(records),
        **_deciding(analysed, by_dataset),
    )


def _places(suite: Suite, by_dataset: bool) -> list[tuple[str, list[str]]]:
    """What the tables have rows for: (data set, its methods), or all methods over all data sets."""
    if by_dataset:
        return [(dataset, list(suite.methods_on(dataset))) for dataset in suite.dataset_names()]
    return [("", list(suite.method_names()))]


def _deciding(analysed: Analysed, by_dataset: bool) -> dict[str, Any]:
    """Time to decide a test row: the selected policy, and the family's reference beside it where there is one."""
    chosen: dict[tuple[str, str], list[tuple[float, float | None]]] = defaultdict(list)
    beside: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    suite, records = analysed.suite, analysed.records
    selected = analysed.cells.chosen if records.done else None
    columns = [] if selected is None else [column for column in _BESIDE if column in selected]
    keys = ["name", "policy", "dataset", "method", *columns]
    for row in () if selected is None else selected[keys].itertuples(index=False, name=None):
        name, policy, dataset, method, *numbers = row
        dataset = dataset if by_dataset else ""
        timings = records.runs.get(name, {}).get("timings", {})
        seconds = timings.get("decide_per_policy", [])
        rows = records.infos[name].get("rows", {}).get("test", 0)
        if policy < len(seconds) and rows:
            whole = timings.get("decide_reference")
            chosen[dataset, method].append(
                (1e6 * seconds[policy] / rows, None if whole is None else 1e6 * whole / rows)
            )
            beside[dataset, method].append(tuple(map(float, numbers)))
    compared = any(whole is not None for times in chosen.values() for _, whole in times)
    body = []
    for dataset, methods in _places(suite, by_dataset):
        for method in methods:
            times = chosen.get((dataset, method), [])
            if not times:
                continue
            cells = [*([text(dataset)] if by_dataset else []), text(method), str(len(times))]
            if compared:
                cells += [_mean(values) for values in zip(*beside[dataset, method], strict=True)]
            cells.append(_spread([own for own, _ in times]))
            if compared:
                pairs = [(own, whole) for own, whole in times if whole is not None]
                cells.append(_spread([whole for _, whole in pairs]))
                ratios = [whole / own for own, whole in pairs if own > 0]
                cells.append(f"{math.fsum(ratios) / len(ratios):.2f}x" if ratios else "–")
            body.append(cells)
    titles = [_BESIDE[column] for column in columns] if compared else []
    ends = ["Full model, µs a row", "Speed-up"] if compared else []
    head = [*(["Data set"] if by_dataset else []), "Method", "Trials", *titles, "µs a row", *ends]
    return {"head": head, "deciding": body, "compared": compared}


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{plain_number(math.fsum(values) / len(values), 3)} ({plain_number(max(values), 3)})"


def _mean(values: Sequence[float]) -> str:
    known = [value for value in values if math.isfinite(value)]
    return plain_number(math.fsum(known) / len(known), 4) if known else "–"


def _spread(values: Sequence[float]) -> str:
    """``12.3 ± 4 %``: the mean and the standard deviation as a share of it."""
    if not values:
        return "–"
    mean = math.fsum(values) / len(values)
    if len(values) < 2 or mean <= 0:
        return plain_number(mean, 3)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{plain_number(mean, 3)} ± {100 * deviation / mean:.0f} %"
