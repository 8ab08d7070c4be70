"""Find published records that a new page would lose, and records of trials that are now defined differently.

A committed record is kept if its trial is rendered, under any labels. It is replaced if the trial that now has its
labels in the suite is done. Otherwise it would be lost, and no page is rendered unless the user accepts the loss.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bench_core.suites import Plan, Suite, Trial, seed_list
from bench_records.checksums import SLOT
from bench_records.records import Records

__all__ = ["Loss", "changes", "find_losses", "outdated"]


@dataclass(frozen=True)
class Loss:
    """Committed records of a data set that would be lost for one reason.

    Attributes:
        dataset, costs: labels of their data set and costs.
        methods: labels of their methods, sorted.
        count: number of records.
        reason: why they are not among the suite's records.
    """

    dataset: str
    costs: str
    methods: tuple[str, ...]
    count: int
    reason: str

    def __str__(self) -> str:
        shown = ", ".join(self.methods[:3])
        if len(self.methods) > 3:
            shown += f" and {len(self.methods) - 3} more methods"
        return f"{self.dataset} ({self.costs}), {shown}: {self.count} record(s): {self.reason}"


def find_losses(
    suite: Suite, plan: Plan, committed: Records | None, records: Records, drop: Collection[str] = ()
) -> list[Loss]:
    """The records of an export that would be lost, grouped by data set, costs and reason.

    Args:
        suite: the suite.
        plan: the plan of all trials of the suite.
        committed: the export, including trials that lack a metric; None if there is no export.
        records: the records to render.
        drop: labels of data sets, costs or methods whose records may be lost.
    """
    if committed is None:
        return []
    rendered = _by_slot(records)
    done = records.done
    shown = done | set(records.infos)
    reasons = _Reasons(suite, plan, committed)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for slot, (name, status) in _by_slot(committed).items():
        worked = status == "ok"
        instead = rendered.get(slot)
        if name in (done if worked else shown) or (instead and (instead[1] == "ok" or not worked)):
            continue
        dataset, costs, method = slot[:3]
        if not {dataset, costs, method} & set(drop):
            groups.setdefault((dataset, costs, reasons.of(slot, name, instead)), []).append(method)
    return [
        Loss(dataset, costs, tuple(sorted(set(methods))), len(methods), reason)
        for (dataset, costs, reason), methods in groups.items()
    ]


def outdated(suite: Suite, records: Records) -> dict[tuple[str, str], int]:
    """Count records whose trials the suite now defines differently, apart from changes of the data.

    Returns:
        (method, changes in words) → number of records.
    """
    if records.policies.empty:
        return {}
    trials = {(t.dataset, t.costs, t.method, t.seed, t.point): t for t in suite.trials()}
    counts: Counter[tuple[str, str]] = Counter()
    frame = records.policies.drop_duplicates([*SLOT, "name"])
    for *slot, name in frame[[*SLOT, "name"]].to_numpy().tolist():
        trial, before = trials.get(tuple(slot)), records.identities.get(name)
        if trial is None or before is None:
            continue
        now = trial.identity(before["dataset"])
        if now != records.infos[name]["trial"]:
            counts[trial.method, "; ".join(changes(before, json.loads(now)))] += 1
    return dict(counts)


def _by_slot(records: Records) -> dict[tuple[Any, ...], tuple[str, str]]:
    """Labels of a trial → its name and status."""
    if records.policies.empty:
        return {}
    frame = records.policies.drop_duplicates([*SLOT, "name"])
    return {tuple(slot): (name, status) for *slot, name, status in frame[[*SLOT, "name", "status"]].to_numpy()}


@dataclass
class _Reasons:
    suite: Suite
    plan: Plan
    committed: Records

    @cached_property
    def _trials(self) -> dict[tuple[Any, ...], Trial]:
        return {(t.dataset, t.costs, t.method, t.seed, t.point): t for t in self.suite.trials()}

    def of(self, slot: tuple[Any, ...], name: str, instead: tuple[str, str] | None) -> str:
        """Why a committed record is not among the records to render."""
        dataset, costs, method, seed, _ = slot
        suite = self.suite
        if dataset not in suite.dataset_names():
            return "the suite does not have this data set"
        if (dataset, costs) not in suite.grids:
            return "the suite does not have these costs"
        if method not in suite.method_names():
            return "the suite does not have this method"
        if method not in suite.methods_on(dataset):
            return "the suite does not run this method on it"
        trial = self._trials.get(slot)
        if trial is None:
            asked = seed in _seeds(suite, dataset)
            return "the suite's grid does not have this point" if asked else "the suite does not ask for this seed"
        before = self.committed.identities[name]
        now = json.loads(trial.identity(self.plan.contents.get(dataset, before["dataset"])))
        reasons = changes(before, now)
        if dataset not in self.plan.contents:
            old, new = (side.definitions.get(dataset, "{}") for side in (self.committed, self.plan))
            if old != new:
                differing = "; ".join(_differences(json.loads(old), json.loads(new), "its "))
                reasons.insert(0, f"the definition of the data set changed: {differing}")
        if instead is not None and instead[1] != "ok":
            reasons.append("its trial failed when it was run again")
        elif not reasons:
            reasons.append("it lacks a metric that the suite asks for")
        unavailable = self.plan.unavailable.get(dataset)
        return "; ".join(reasons) + (f" (the data set {unavailable})" if unavailable else "")


def _seeds(suite: Suite, dataset: str) -> Sequence[int]:
    for entry in suite.file.datasets:
        if (entry.name or entry.use) == dataset:
            return seed_list(suite.file.protocol.seeds if entry.seeds is None else entry.seeds)
    return []


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences between two identities of trials, in words."""
    descriptions = []
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if old == new:
            continue
        if key == "dataset":
            descriptions.append(f"its data changed ({str(old)[:8]} → {str(new)[:8]})")
        elif isinstance(old, dict) and isinstance(new, dict):
            descriptions += _differences(old, new, f"{key} ")
        else:
            descriptions.append(f"{key} {_short(old)} → {_short(new)}")
    return descriptions


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> list[str]:
    """The differences between two tables, in words: keys with old and new values. Nested tables are compared by key."""
    descriptions = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key), new.get(key)
        if a == b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            descriptions += _differences(a, b, what)
        else:
            descriptions.append(f"{what}{key} {_short(a)} → {_short(b)}")
    return descriptions


def _short(value: Any) -> str:
    shown = "none" if value is None else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 40 else shown[:39] + "…"
