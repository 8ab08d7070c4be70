"""Compare two runs of one suite on two machines, number by number and decision by decision."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bench_records import Records, read_export

from bench_core.records import Store

__all__ = ["Compared", "compare_pages", "compare_runs"]

ROUNDING = 1e-6
"""Two predicted values count as equal within this share of the predictions' standard deviation."""


@dataclass
class Compared:
    """The differences between two runs of a suite.

    Attributes:
        names: trial names that only one of them has.
        largest: the largest difference of two numbers, relative to the larger of them and 1.
        where: the number that differs most.
        trials: a line for each trial whose decisions differ.
    """

    names: list[str] = field(default_factory=list)
    largest: float = 0.0
    where: str = ""
    trials: list[str] = field(default_factory=list)

    def number(self, where: str, a: float, b: float) -> None:
        """Note the difference of two numbers; NaN and infinity are equal to themselves only."""
        if a == b or (math.isnan(a) and math.isnan(b)):
            return
        gap = abs(a - b) / max(1.0, abs(a), abs(b))
        gap = math.inf if math.isnan(gap) else gap
        if gap > self.largest:
            self.largest, self.where = gap, where


def compare_runs(suite: str, first: Path, second: Path) -> Compared:
    """Compare the records of a suite in two folders, each with ``store`` and ``leaderboard``."""
    one, two = (_records(folder, suite) for folder in (first, second))
    found = Compared(names=sorted(set(one.infos) ^ set(two.infos)))
    stores = Store(first / "store"), Store(second / "store")
    rows = one.policies.drop_duplicates("name").set_index("name")
    for name in sorted(set(one.infos) & set(two.infos), key=lambda n: list(rows.loc[n, _TRIAL])):
        said = ", ".join(str(word) for word in rows.loc[name, _TRIAL])
        a, b = one.infos[name], two.infos[name]
        if a["status"] != b["status"]:
            found.trials.append(f"{said}: {a['status']} against {b['status']}")
            continue
        if a["status"] != "ok":
            continue
        for (path, x), (other, y) in zip(_numbers(a), _numbers(b), strict=False):
            if path == other:
                found.number(f"{said}: {path}", x, y)
        table, against = (r.policies[r.policies["name"] == name] for r in (one, two))
        for metric in (c for c in table.columns if c.startswith(("test.", "validation."))):
            for policy, x, y in zip(table["policy"], table[metric], against[metric], strict=False):
                found.number(f"{said}: policy {policy}, {metric}", float(x), float(y))
        decided = _decisions(name, a, stores)
        if decided:
            gap = max(
                (
                    float(np.nanmax(np.abs(table[m].to_numpy() - against[m].to_numpy()), initial=0.0))
                    for m in _SHARES
                    if m in table and len(table) == len(against) and table[m].notna().any()
                ),
                default=0.0,
            )
            found.trials.append(f"{said}: {decided}; accuracy, coverage, MSE or NDCG by up to {gap:.3g}")
    return found


_TRIAL = ["dataset", "costs", "method", "seed", "point"]
_SHARES = [
    f"{part}.{metric}" for part in ("validation", "test") for metric in ("accuracy", "coverage", "mse", "ndcg@5")
]


def _records(folder: Path, suite: str) -> Records:
    records = read_export(folder / "leaderboard" / suite)
    if records is None:
        raise SystemExit(f"{folder}: {suite} left no records")
    return records


def _numbers(info: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Every number of a record except times, with its place."""
    for key in ("costs", "usage", "history", "diagnostics", "evaluations"):
        yield from _leaves(key, info.get(key))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if "seconds" in path:
        return
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _leaves(f"{path}.{key}", value[key])
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(f"{path}[{place}]", item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _decisions(name: str, info: Mapping[str, Any], stores: tuple[Store, Store]) -> str:
    """Describe how the decisions of a trial differ; empty if they do not."""
    threshold = json.loads(info["trial"])["threshold"] if json.loads(info["trial"])["reject"] else None
    judged = [list(store.outcomes(name, info["task"], threshold)) for store in stores]
    if len(judged[0]) != len(judged[1]):
        return f"{len(judged[0]) // 2} policies against {len(judged[1]) // 2}"
    count = total = policies = 0
    for one, two in zip(*judged, strict=True):
        a, b = one.outcome, two.outcome
        differs = (a.decisions.acquired != b.decisions.acquired).any(axis=1)
        differs |= a.conclusive != b.conclusive
        if a.decisions.probabilities is not None:
            differs |= a.decisions.probabilities.argmax(axis=1) != b.decisions.probabilities.argmax(axis=1)
        for column in ("stage", "evaluations"):
            x, y = getattr(a.decisions, column), getattr(b.decisions, column)
            if x is not None and y is not None:
                differs |= x != y
        if a.task == "ranking":
            differs |= _places(a) != _places(b)
        if a.task == "regression":
            x, y = a.decisions.score, b.decisions.score
            differs |= np.abs(x - y) > ROUNDING * max(float(np.std(x)), float(np.std(y)))
        count, total = count + int(differs.sum()), total + len(differs)
        policies += bool(differs.any())
    return (
        f"{policies} of {len(judged[0])} policies and parts decide differently on {count} of {total} rows"
        if count
        else ""
    )


def _places(outcome: Any) -> Any:
    """The rank of each row in its query."""
    order = np.lexsort((-outcome.decisions.score, outcome.query))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def compare_pages(suite: str, first: Path, second: Path) -> list[str]:
    """A line for each page or figure that differs between two runs, ignoring times."""
    said = []
    for path in sorted((first / "leaderboard").rglob("*")):
        inner = path.relative_to(first / "leaderboard")
        own = inner.parts[0] in (suite, f"{suite}.md")
        if not own or path.suffix not in (".md", ".svg") or path.name == "timings.md":
            continue
        other = second / "leaderboard" / inner
        if not other.exists():
            said.append(f"{inner} is missing")
        elif path.read_bytes() != other.read_bytes():
            lines = [text.read_text(encoding="utf-8").splitlines() for text in (path, other)]
            changed = [
                line
                for line in difflib.unified_diff(*lines, n=0, lineterm="")
                if line[:1] in "+-" and not line.startswith(("+++", "---"))
            ]
            shown = changed[:6] if path.suffix == ".md" else []
            said += [f"{inner} differs in {len(changed)} lines", *(f"    {line[:200]}" for line in shown)]
    return said
