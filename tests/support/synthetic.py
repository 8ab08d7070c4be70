"""Synthetic records for tests that run no trials: a suite with any names, and records with any numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench_records.records import Labels, Records, tabulate

from bench_core import Costs
from bench_core.contract.canonical import canonical_json, sha256_text
from bench_core.plugins.manager import load_registry
from bench_core.run.record_file import RECORD_FORMAT
from bench_core.run.suite import Suite
from bench_core.run.suite_file import parse_suite
from support import tiny_plugin
from support.publishing import PUBLISHING

METRICS = ("coverage", "conclusive-accuracy", "cost", "combined")
Values = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
"""(data set, method) → metric → numbers by seed."""


def toml(text: str) -> str:
    """A text as a TOML string."""
    return json.dumps(text, ensure_ascii=False)


def suite_of(
    datasets: Sequence[str],
    methods: Sequence[str],
    seeds: int = 3,
    *,
    metrics: Sequence[str] = METRICS,
    threshold: float | None = 0.7,
    more: str = "",
    title: str = "",
    description: str = "",
) -> Suite:
    """A suite with these names; nothing in it is ever loaded or fitted."""
    lines = [f"metrics = {json.dumps(list(metrics))}", "[suite]", 'name = "synthetic"', f"title = {toml(title)}"]
    lines += [f"description = {toml(description)}", "[protocol]", f"seeds = {seeds}", 'select = "first"']
    lines += [f"threshold = {threshold}"] if threshold is not None else []
    for name in datasets:
        lines += ["[[datasets]]", 'use = "blobs"', f"name = {toml(name)}"]
    for name in methods:
        lines += ["[[methods]]", 'use = "slopes"', f"name = {toml(name)}"]
    registry = load_registry([*PUBLISHING, ("tiny", tiny_plugin)], entry_points=False)
    return parse_suite("\n".join([*lines, more]), "suites/synthetic.toml", registry)


def record_of(
    dataset: str,
    method: str,
    seed: int,
    numbers: Mapping[str, float] | None,
    *,
    threshold: float | None = 0.7,
    reject: bool = True,
    split: str = "random",
    diagnostics: Mapping[str, Any] | None = None,
    history: Mapping[str, Any] | None = None,
    error: str = "it broke",
    date: str = "2026-01-01",
    version: int = 1,
) -> dict[str, Any]:
    """A stored record; a failed one if there are no numbers."""
    identity = {
        "contract": 1,
        "costs": {"parameters": {}, "use": "uniform", "version": 1},
        "dataset": sha256_text(dataset),
        "encode": "ordinal",
        "method": {"parameters": {"name": method}, "use": "slopes", "version": version},
        "reject": reject,
        "seed": seed,
        "split": {"kind": split, "train": 0.5, "validation": 0.25, "test": 0.25},
        "threshold": threshold,
    }
    text = canonical_json(identity)
    record: dict[str, Any] = {
        "format": RECORD_FORMAT,
        "name": sha256_text(text),
        "trial": text,
        "provenance": {
            "date": date,
            "dataset": dataset,
            "libraries": {"numpy": "2.0"},
            "platform": "linux",
            "plugins": {"tiny": {"version": "1.0", "source": "abc"}},
            "processor": "a processor",
            "python": "3.11",
        },
        "timings": {"fit": 0.1234, "decide": 0.5},
    }
    if numbers is None:
        said = {"type": "ValueError", "message": error, "step": "fit", "traceback": "/somewhere/else.py"}
        return {**record, "status": "failed", "error": said}
    part = {name: [float(value)] for name, value in numbers.items()}
    return {
        **record,
        "status": "ok",
        "task": "binary",
        "history": dict(history or {}),
        "diagnostics": dict(diagnostics or {}),
        "features": ["a", "b"],
        "costs": Costs([1.0, 1.0]).as_plain(),
        "rows": {"train": 50, "validation": 25, "test": 25},
        "policies": policies_of(part),
    }


def policies_of(
    validation: Mapping[str, Sequence[float]],
    test: Mapping[str, Sequence[float]] | None = None,
    labels: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The policies of a record: metric → number of each policy on either part; on both the same without ``test``."""
    count = len(next(iter(validation.values())))
    table = {"label": list(labels or [""] * count), "details": [{}] * count, "budget": [None] * count}
    return {**table, "validation": validation, "test": validation if test is None else test}


def family_of(points: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The policies of a record: (share of the price, accuracy) of each; all features cost 2."""
    shares, accuracies = [share for share, _ in points], [accuracy for _, accuracy in points]
    return policies_of(
        {
            "cost-share": shares,
            "cost": [2 * share for share in shares],
            "accuracy": accuracies,
            "error": [1 - accuracy for accuracy in accuracies],
        }
    )


def labelled(records: Iterable[dict[str, Any]]) -> list[tuple[Labels, dict[str, Any]]]:
    """Records with the labels that `record_of` was given."""
    pieces = []
    for record in records:
        identity = json.loads(record["trial"])
        method = identity["method"]["parameters"]["name"]
        labels = Labels(record["provenance"]["dataset"], "uniform", method, identity["seed"], 0)
        pieces.append((labels, record))
    return pieces


def records_of(values: Values, **more: Any) -> Records:
    """Records with these numbers."""
    return tabulate(labelled(stored(values, **more)))


def stored(values: Values, **more: Any) -> list[dict[str, Any]]:
    """The records of a table of numbers by seed."""
    return [
        record_of(dataset, method, seed, {name: numbers[name][seed] for name in numbers}, **more)
        for (dataset, method), numbers in values.items()
        for seed in range(len(next(iter(numbers.values()))))
    ]
