"""Records as one table: a row per policy, from the store and from a suite's committed export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_core import Metric, canonical_json
from bench_core.records import Store, stored_records
from bench_core.suites import Plan, Planned
from bench_records.once import Once

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KEY", "Labels", "Records", "collect", "is_over_limit", "sort_policies", "tabulate"]

KEY = ["dataset", "costs", "method", "seed"]
"""The columns that identify a row after selection. All points of a method's grid have the same values in them."""


class Labels(NamedTuple):
    """A suite's labels for a trial: the fields of `KEY`, and the point of the method's grid."""

    dataset: str
    costs: str
    method: str
    seed: int
    point: int


_TRIAL_FIELDS = (
    "trial",
    "status",
    "task",
    "history",
    "diagnostics",
    "features",
    "costs",
    "rows",
    "usage",
    "evaluations",
    "empty",
    "error",
)


@dataclass
class Records(Once):
    """The records of a suite.

    Attributes:
        policies: pandas table, a row per policy of every trial: ``dataset costs method seed point name status
            policy label details budget`` and ``validation.<metric>``, ``test.<metric>``. A trial that failed or is
            not applicable has one row with policy −1.
        infos: trial name → the rest of its record (task, history, diagnostics, costs, error, …).
        runs: trial name → its provenance and timings.
        definitions: data set → its definition in the suite, see `bench_core.run.plan.definition_of`.
    """

    policies: pd.DataFrame
    infos: dict[str, dict[str, Any]]
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)

    def same_results(self, other: Records) -> bool:
        """Whether infos, definitions and tables equal those of ``other``.

        Tables are compared by value, as labels may have changed. `runs` is not compared.
        """
        same = self.infos == other.infos and self.definitions == other.definitions
        return same and self.policies.equals(other.policies)

    @cached_property
    def identities(self) -> dict[str, dict[str, Any]]:
        """Trial name → its identity (everything that determines the trial), parsed."""
        return {name: json.loads(info["trial"]) for name, info in self.infos.items() if info["trial"]}

    @cached_property
    def done(self) -> set[str]:
        """Names of the trials that are done."""
        frame = self.policies
        return set(frame.loc[frame["status"] == "ok", "name"].unique()) if len(frame) else set()

    @cached_property
    def inapplicable(self) -> dict[tuple[str, str, str, str], str]:
        """(data set, cost scheme, method, trial name) → why the trial is not applicable."""
        if self.policies.empty:
            return {}
        frame = self.policies[self.policies["status"] == "not applicable"]
        rows = frame[["dataset", "costs", "method", "name"]].itertuples(index=False)
        return {
            (dataset, costs, method, name): str(self.infos[name]["error"]["message"])
            for dataset, costs, method, name in rows
        }

    @cached_property
    def ended(self) -> dict[tuple[str, str, str], dict[str, int]]:
        """(data set, cost scheme, method) → ``not applicable`` or ``over the limit`` → number of seeds.

        A seed with a result at another grid point is not counted.
        """
        seeds: dict[tuple[str, str, str], dict[str, set[int]]] = {}
        whole: dict[tuple[str, str, str], set[int]] = {}
        keys = ["dataset", "costs", "method", "name", "seed", "status"]
        rows = self.policies[keys].drop_duplicates().itertuples(index=False) if len(self.policies) else ()
        for *place, name, seed, status in rows:
            key = place[0], place[1], place[2]
            if status == "ok":
                whole.setdefault(key, set()).add(seed)
            elif status == "not applicable" or is_over_limit(self.infos[name]):
                why = status if status == "not applicable" else "over the limit"
                seeds.setdefault(key, {}).setdefault(why, set()).add(seed)
        return {
            key: {why: len(left) for why, those in sorted(by_reason.items()) if (left := those - whole.get(key, set()))}
            for key, by_reason in seeds.items()
        }

    @cached_property
    def trials(self) -> dict[tuple[str, str, str], list[str]]:
        """(data set, cost scheme, method) → names of its done trials, by seed and grid point."""
        if self.policies.empty:
            return {}
        done = self.policies[self.policies["status"] == "ok"]
        done = done.drop_duplicates(["dataset", "costs", "method", "name"])
        names: dict[tuple[str, str, str], list[str]] = {}
        for dataset, costs, method, name in done[["dataset", "costs", "method", "name"]].itertuples(index=False):
            names.setdefault((dataset, costs, method), []).append(name)
        return names


def is_over_limit(info: Mapping[str, Any]) -> bool:
    """Whether a trial exceeded the time limit, according to its information."""
    error = info.get("error")
    return isinstance(error, Mapping) and error.get("kind") == "time"


def collect(plan: Plan, store: Store, metrics: Mapping[str, Metric], committed: Records | None = None) -> Records:
    """The records of a plan's trials: from the store, or from a committed export if the store lacks them.

    Metrics that a stored record lacks are computed from its stored decisions. A trial that failed in the store and
    is done in the export counts as done. Trials without a record are left out. So are damaged records, which
    `bench_core.run.store.Store.warnings` lists.
    """
    done = set() if committed is None else committed.done
    pieces: list[tuple[Labels, dict[str, Any]]] = []
    rest: list[Planned] = []
    for planned, record in stored_records(plan, store, metrics):
        if record is None or (record["status"] == "failed" and planned.name in done):
            rest.append(planned)
        else:
            pieces.append((_labels(planned), record))
    stored = tabulate(pieces, plan.definitions)
    return stored if committed is None or not rest else _joined(stored, rest, committed)


def _joined(stored: Records, rest: list[Planned], committed: Records) -> Records:
    """The store's records, and those of the other trials from an export, under the suite's present labels."""
    import pandas as pd

    labels = pd.DataFrame([(*_labels(planned), planned.name) for planned in rest], columns=[*Labels._fields, "name"])
    rows = committed.policies.drop(columns=[*KEY, "point"]).drop_duplicates(["name", "policy"])
    added = labels.merge(rows, on="name", how="inner")
    if added.empty:
        return stored
    added = added.drop(columns=[c for c in added.columns if "." in c and added[c].isna().all()])
    both = pd.concat([stored.policies, added], ignore_index=True) if len(stored.policies) else added
    names = list(dict.fromkeys(added["name"]))
    return Records(
        sort_policies(both),
        stored.infos | {name: committed.infos[name] for name in names},
        stored.runs | {name: committed.runs[name] for name in names if name in committed.runs},
        stored.definitions,
    )


def _labels(planned: Planned) -> Labels:
    trial = planned.trial
    return Labels(trial.dataset, trial.costs, trial.method, trial.seed, trial.point)


def tabulate(pieces: Iterable[tuple[Labels, dict[str, Any]]], definitions: Mapping[str, str] | None = None) -> Records:
    """Stored records as one table, with the labels given for each."""
    import pandas as pd

    columns: dict[str, list[Any]] = {}
    infos: dict[str, dict[str, Any]] = {}
    runs: dict[str, dict[str, Any]] = {}
    length = 0
    for labels, record in pieces:
        name = record["name"]
        table = record.get("policies") or {"label": [""], "details": [{}], "budget": [None]}
        count = len(table["label"])
        ok = record["status"] == "ok"
        piece: dict[str, list[Any]] = {
            **{key: [label] * count for key, label in labels._asdict().items()},
            "name": [name] * count,
            "status": [record["status"]] * count,
            "policy": list(range(count)) if ok else [-1],
            "label": table["label"],
            "details": [canonical_json(details) for details in table["details"]],
            "budget": table["budget"],
        }
        for part in ("validation", "test"):
            for metric, values in table.get(part, {}).items():
                piece[f"{part}.{metric}"] = values
        for key, values in piece.items():
            column = columns.setdefault(key, [])
            if len(column) < length:
                column.extend([None] * (length - len(column)))
            column.extend(values)
        length += count
        if name not in infos:
            infos[name] = {key: record[key] for key in _TRIAL_FIELDS if key in record}
            if "error" in record:  # a traceback names paths of one machine, so it stays in the store
                infos[name]["error"] = {k: v for k, v in record["error"].items() if k != "traceback"}
            if "provenance" in record:
                runs[name] = {"provenance": record["provenance"], "timings": record["timings"]}
    for column in columns.values():
        column.extend([None] * (length - len(column)))
    frame = pd.DataFrame(columns)
    for key in frame.columns:
        if "." in key or key == "budget":
            frame[key] = pd.to_numeric(frame[key])
    return Records(sort_policies(frame), infos, runs, dict(definitions or {}))


def sort_policies(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with rows and columns in the canonical order."""
    if frame.empty:
        return frame
    metrics = sorted(column for column in frame.columns if "." in column)
    first = [column for column in frame.columns if "." not in column]
    return frame[first + metrics].sort_values([*KEY, "point", "policy"], kind="stable", ignore_index=True)
