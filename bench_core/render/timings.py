"""A suite's page of timings: the only one that depends on the machine."""

from __future__ import annotations

import math
from collections import defaultdict

from bench_core.analysis.records import Records
from bench_core.render.markdown import plain_number, table, text
from bench_core.render.provenance import processors
from bench_core.suite import Suite

__all__ = ["render_timings"]

_STEPS = ("fit", "decide", "audit", "metrics")


def render_timings(suite: Suite, records: Records) -> str:
    """Seconds by step, method and data set, in Markdown."""
    title = suite.file.suite.title or suite.name
    seconds: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for (dataset, _, method), names in records.trials.items():
        seconds[dataset, method] += [records.runs[name]["timings"] for name in names if name in records.runs]
    body = []
    for dataset in suite.dataset_names():
        for method in suite.methods_on(dataset):
            told = seconds.get((dataset, method), [])
            if told:
                cells = [_cell([one[step] for one in told if step in one]) for step in _STEPS]
                body.append([text(dataset), text(method), str(len(told)), *cells])
    total = math.fsum(s for told in seconds.values() for one in told for s in one.values())
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
            f"[Results](../{suite.name}.md)",
            "",
        ]
    )


def _cell(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{plain_number(math.fsum(values) / len(values), 3)} ({plain_number(max(values), 3)})"
