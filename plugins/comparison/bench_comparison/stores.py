"""Two stores (or exports) beside each other: which trials changed, and by how much, paired by data set and seed.

Two trials are matched if all that determines them is equal except versions (of the method, the cost scheme and the
contract): a changed method raises its version, which gives its trials new names.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_analysis import Cells, Mean, mean_with_margin, overlap
from bench_records import Labels, Records, Rules, export_files, read_export, refusal_threshold, select, tabulate

from bench_core import Metric, RequestError, canonical_json
from bench_core.records import DEFAULT_METRICS, Store, default_metric, resolve_metric

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["CHANGES", "Changed", "DefaultRules", "Difference", "compare", "read_side"]

CHANGES = ("same", "changed", "now fails", "now works", "fails in both", "only in A", "only in B")
_SHOWN = {
    "classes with a threshold": ("coverage", "conclusive-accuracy", "cost", "combined"),
    "classes": ("error", "cost"),
    "ranking": ("ndcg@5", "cost"),
    "regression": ("mse", "cost"),
}


@dataclass(frozen=True)
class Changed:
    """How the trials of a method on a data set changed: counts by `CHANGES`."""

    dataset: str
    method: str
    counts: Counter[str]


@dataclass(frozen=True)
class Difference:
    """A metric of a method on a data set, before and after.

    Attributes:
        before, after: means over the common seeds.
        gap: mean of after − before, paired by seed, with its 95 % t interval.
        verdict: ``better`` or ``worse`` when the interval excludes zero (or every seed differs alike), ``same`` when
            no seed differs, ``over budget`` when a side misses the cap it was selected within, else ``unclear``.
    """

    dataset: str
    costs: str
    method: str
    metric: str
    before: float
    after: float
    gap: Mean
    verdict: str


@dataclass(frozen=True)
class DefaultRules:
    """The rules of selection without a suite: the defaults of a suite."""

    known: Mapping[str, Metric]
    least_coverage: float = 0.0

    def selection_of(self, dataset: str, method: str, task: str, threshold: float | None) -> str:
        """See `bench_core.run.suite.Suite.selection_of`."""
        return default_metric(task, threshold)

    def selection_metrics(self) -> dict[str, Metric]:
        """The metrics of these rules."""
        return {name: resolve_metric(name, self.known) for name in DEFAULT_METRICS}


@dataclass(frozen=True)
class _Trial:
    """A record with its trial's identity, parsed."""

    identity: dict[str, Any]
    dataset: str
    record: dict[str, Any]

    @property
    def key(self) -> str:
        """All that determines the trial except versions and the content of the data."""
        return _key(self.dataset, self.identity)


def _key(dataset: str, identity: Mapping[str, Any]) -> str:
    remaining = {k: v for k, v in identity.items() if k not in ("dataset", "contract")}
    for part in ("method", "costs"):
        remaining[part] = {k: v for k, v in remaining[part].items() if k != "version"}
    return canonical_json([dataset, remaining])


def read_side(path: Path, warn: Callable[[list[str]], None] = lambda lines: None) -> list[_Trial]:
    """Every record of a store, or of an export's folder.

    Args:
        path: the store or folder.
        warn: called with a line for each damaged record of a store; such a record counts as missing.

    Raises:
        RequestError: there is no store or export at ``path``, or it holds no records.
    """
    if export_files(path):
        return list(_from_export(path))
    if not path.is_dir():
        raise RequestError(f"there is no store {path}")
    store = Store(path)
    done, failed = store.names()
    if not done and not failed:
        raise RequestError(f"{path} holds no records: give a store, or the folder of an export")
    records = [store.read(name) for name in sorted(done | failed)]
    warn(store.warnings())
    return [_Trial(json.loads(r["trial"]), r["provenance"].get("dataset", ""), r) for r in records if r is not None]


def _from_export(path: Path) -> Iterator[_Trial]:
    exported = read_export(path)
    if exported is None:
        return
    frame = exported.policies.drop_duplicates(["name", "policy"])
    parts = [(c, *c.partition(".")[::2]) for c in frame.columns if "." in c]
    for name, rows in frame.groupby("name", sort=True):
        info = exported.infos[str(name)]
        record: dict[str, Any] = {**info, "name": name, "provenance": {}, "timings": {}}
        if info["status"] == "ok":
            table: dict[str, Any] = {
                "label": list(rows["label"]),
                "details": [json.loads(text) for text in rows["details"]],
                "budget": _plain(rows["budget"]),
                "validation": {},
                "test": {},
            }
            for column, part, metric in parts:
                if not rows[column].isna().all():
                    table[part][metric] = _plain(rows[column])
            record["policies"] = table
        yield _Trial(json.loads(info["trial"]), str(rows["dataset"].iloc[0]), record)


def _plain(column: Iterable[float]) -> list[float | None]:
    """Numbers as a store has them: None where an export has NaN."""
    return [None if np.isnan(value) else float(value) for value in column]


def compare(
    before: Sequence[_Trial],
    after: Sequence[_Trial],
    known: Mapping[str, Metric],
    suite: Suite | None = None,
    metrics: Sequence[str] = (),
) -> tuple[list[Changed], list[Difference]]:
    """What changed between two sides.

    Args:
        before, after: from `read_side`.
        known: the registered metrics.
        suite: gives labels, selection and metrics; only its trials are compared.
        metrics: metrics to compare, in place of the suite's or of those that are usual for the task.

    Raises:
        RequestError: a metric is unknown.
    """
    labels = _labels_of_suite(suite) if suite else _labels_of([*before, *after])
    rules: Rules = suite if suite else DefaultRules(known)
    sides = [{(t.key, t.identity["dataset"]): t for t in side if t.key in labels} for side in (before, after)]
    changed = _changes(sides[0], sides[1], labels)
    common = sides[0].keys() & sides[1].keys()
    tables = [_records([(labels[key], side[key, content]) for key, content in sorted(common)]) for side in sides]
    cells = [Cells(select(table, rules)) for table in tables]
    differences: list[Difference] = []
    for place in tables[0].trials:
        if place not in tables[1].trials:
            continue
        name = tables[0].trials[place][0]
        task, threshold = tables[0].infos[name]["task"], refusal_threshold([tables[0].identities[name]])
        shared = overlap(tables[0].infos[name], suite.drawn_from(place[0]) if suite else None)
        for metric in metrics or (suite.metrics if suite else _usual(task, threshold)):
            differences += _difference(cells, place, resolve_metric(metric, known), shared)
    return changed, differences


def _usual(task: str, threshold: float | None) -> tuple[str, ...]:
    if task in ("binary", "multiclass"):
        return _SHOWN["classes" if threshold is None else "classes with a threshold"]
    return _SHOWN[task]


def _changes(
    before: Mapping[tuple[str, str], _Trial], after: Mapping[tuple[str, str], _Trial], labels: Mapping[str, Labels]
) -> list[Changed]:
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for key in sorted(before.keys() | after.keys()):
        label = labels[key[0]]
        counts[label.dataset, label.method][_change(before.get(key), after.get(key))] += 1
    return [Changed(dataset, method, count) for (dataset, method), count in sorted(counts.items())]


def _change(before: _Trial | None, after: _Trial | None) -> str:
    if before is None or after is None:
        return "only in B" if before is None else "only in A"
    worked, works = before.record["status"] == "ok", after.record["status"] == "ok"
    if not worked or not works:
        return "now fails" if worked else "now works" if works else "fails in both"
    return "same" if _results(before.record) == _results(after.record) else "changed"


def _results(record: Mapping[str, Any]) -> Any:
    return {part: record["policies"][part] for part in ("validation", "test")}


def _records(pieces: Sequence[tuple[Labels, _Trial]]) -> Records:
    return tabulate((labels, trial.record) for labels, trial in pieces)


def _difference(cells: Sequence[Cells], place: tuple[str, str, str], metric: Metric, shared: float) -> list[Difference]:
    seeds = [side.seeds(*place) for side in cells]
    values = [side.values(*place, metric.name) for side in cells]
    if not all(map(len, values)):
        return []
    _, at, at_other = np.intersect1d(seeds[0], seeds[1], return_indices=True)
    if not len(at):
        return []
    first, second = values[0][at], values[1][at_other]
    gap = mean_with_margin(second - first, shared)
    if not (second != first).any():
        verdict = "same"
    elif any(side.over_budget(*place) for side in cells):
        verdict = "over budget"
    elif abs(gap.value) > gap.margin:
        verdict = "better" if metric.better(gap.value, 0.0) else "worse"
    else:
        verdict = "unclear"
    dataset, costs, method = place
    means = mean_with_margin(first, shared).value, mean_with_margin(second, shared).value
    return [Difference(dataset, costs, method, metric.name, *means, gap, verdict)]


def _labels_of_suite(suite: Suite) -> dict[str, Labels]:
    return {
        _key(t.dataset, json.loads(t.identity(""))): Labels(t.dataset, t.costs, t.method, t.seed, t.point)
        for t in suite.trials()
    }


def _labels_of(trials: Sequence[_Trial]) -> dict[str, Labels]:
    """Labels without a suite: the registered name, with the parameters that differ between trials."""
    used: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for trial in trials:
        for part in ("method", "costs"):
            thing = trial.identity[part]
            for name, value in thing["parameters"].items():
                used[part, thing["use"]][name].add(canonical_json(value))

    def label_of(trial: _Trial, part: str) -> str:
        thing = trial.identity[part]
        differing = [n for n, values in sorted(used[part, thing["use"]].items()) if len(values) > 1]
        inside = ", ".join(f"{n}={canonical_json(thing['parameters'].get(n))}" for n in differing)
        return str(thing["use"]) + (f" ({inside})" if inside else "") + _reject(trial, part)

    return {
        t.key: Labels(t.dataset, label_of(t, "costs"), label_of(t, "method"), t.identity["seed"], 0) for t in trials
    }


def _reject(trial: _Trial, part: str) -> str:
    refuses = trial.identity["reject"] or trial.identity["threshold"] is None
    return "" if part == "costs" or refuses else ", no reject"
