"""A suite's page of timings: the only one that depends on the machine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from bench_records import Records, select

from bench_core import Suite
from bench_leaderboard.render.markdown import plain_number, table, text
from bench_leaderboard.render.provenance import processors

__all__ = ["render_timings"]

_STEPS = ("fit", "decide", "audit", "metrics")
_BESIDE = {"test.disagreement": "Share of rows that differ", "test.mean-base-models": "Base models"}
"""Columns of the selected policies beside their times, where there is a full model to compare with."""


def render_timings(suite: Suite, records: Records) -> str:
    """Seconds by step, method and data set, and microseconds per decided row, in Markdown."""
    title = suite.file.suite.title or suite.name
    seconds: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for (dataset, _, method), names in records.trials.items():
        seconds[dataset, method] += [records.runs[name]["timings"] for name in names if name in records.runs]
    body = []
    for dataset in suite.dataset_names():
        for method in suite.methods_on(dataset):
            timings = seconds.get((dataset, method), [])
            if timings:
                cells = [_cell([timing[step] for timing in timings if step in timing]) for step in _STEPS]
                body.append([text(dataset), text(method), str(len(timings)), *cells])
    total = math.fsum(timing.get(step, 0.0) for timings in seconds.values() for timing in timings for step in _STEPS)
    head = ["Data set", "Method", "Trials", *(f"{step.capitalize()} s" for step in _STEPS)]
    return "\n".join(
        [
            f"# Timings: {text(title)}",
            "",
            f"Wall time of a trial by step, mean (greatest) over trials, on: {processors(records)}. Deciding is over "
            "all policies of the family, on validation and test; compiling kernels and loading data count where they "
            "happened. These numbers depend on the machine and its load.",
            "",
            table(head, body, 2) if body else "No trial is done.",
            "",
            f"All trials together: {plain_number(total / 3600, 3)} hours.",
            "",
            *_deciding(suite, records),
            *_in_judge(records),
            f"[Results](../{suite.name}.md)",
            "",
        ]
    )


def _in_judge(records: Records) -> list[str]:
    """The distributions whose code plugins brought into the process that runs the suite, commands included."""
    brought = {name for run in records.runs.values() for name in run["provenance"].get("judge", ())}
    if not brought:
        return []
    names = ", ".join(map(text, sorted(brought)))
    return [f"Distributions that plugins brought into the judge's process, commands included: {names}.", ""]


def _deciding(suite: Suite, records: Records) -> list[str]:
    """Time to decide a test row: the selected policy, and the family's reference beside it where there is one."""
    chosen: dict[tuple[str, str], list[tuple[float, float | None]]] = defaultdict(list)
    beside: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    selected = select(records, suite) if records.done else None
    columns = [] if selected is None else [column for column in _BESIDE if column in selected]
    keys = ["name", "policy", "dataset", "method", *columns]
    for row in () if selected is None else selected[keys].itertuples(index=False, name=None):
        name, policy, dataset, method, *numbers = row
        timings = records.runs.get(name, {}).get("timings", {})
        seconds = timings.get("decide_per_policy", [])
        rows = records.infos[name].get("rows", {}).get("test", 0)
        if policy < len(seconds) and rows:
            whole = timings.get("decide_reference")
            chosen[dataset, method].append(
                (1e6 * seconds[policy] / rows, None if whole is None else 1e6 * whole / rows)
            )
            beside[dataset, method].append(tuple(map(float, numbers)))
    if not chosen:
        return []
    compared = any(whole is not None for times in chosen.values() for _, whole in times)
    body = []
    for dataset in suite.dataset_names():
        for method in suite.methods_on(dataset):
            times = chosen.get((dataset, method), [])
            if not times:
                continue
            cells = [text(dataset), text(method), str(len(times))]
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
    head = ["Data set", "Method", "Trials", *titles, "µs a row", *ends]
    full = (
        " Beside it the same for the full model that the family approximates, how many times faster the policy is, and "
        "what else the records tell of the two."
        if compared
        else ""
    )
    return [
        "What a fit took over from an earlier one in the same process counts in it as if it had been made anew.",
        "",
        "## Time to decide a row",
        "",
        "Processor time of the selected policy, all threads, on all test rows at once, one run per trial: mean over "
        f"trials ± their standard deviation in percent.{full}",
        "",
        table(head, body, 2),
        "",
    ]


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
