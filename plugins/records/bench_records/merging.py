"""Merge stores: collect the records of several machines in one store, and report records that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench_core import RequestError, did_you_mean
from bench_core.records import Store

__all__ = ["Difference", "MergeReport", "merge_stores"]

_MACHINES = ("time", "memory", "killed", "crash", "exit")
"""Kinds of failures that depend on the machine: limits, load, signals."""
_MAY_DIFFER = ("timings", "provenance", "decisions", "error")


@dataclass(frozen=True)
class Difference:
    """Two different records of one trial.

    Attributes:
        name: the trial's name.
        trial: the trial as canonical JSON.
        dataset: name of its data set.
        numbers: for every value that differs: its path, the value in the store that is kept, and the other value.
    """

    name: str
    trial: str
    dataset: str
    numbers: tuple[tuple[str, Any, Any], ...]


@dataclass
class MergeReport:
    """The result of merging one store into another.

    Attributes:
        source: the store that was merged.
        added: number of new records.
        same: number of records that were there already.
        differ: trials with different records in the two stores; the record that was there is kept.
        done_now: number of trials that failed in one store and are done in the other; the done record is kept.
        damage: a line for every damaged record, which is not merged.
        old: number of records of an earlier format, which are skipped.
    """

    source: Path
    added: int = 0
    same: int = 0
    differ: list[Difference] = field(default_factory=list)
    done_now: int = 0
    damage: list[str] = field(default_factory=list)
    old: int = 0


def merge_stores(sources: Sequence[Path], into: Path) -> Iterator[MergeReport]:
    """Merge stores into another one after the other, and yield a report for each. No done record is overwritten.

    The record of a done trial replaces a failure of that trial, as in a repeated run. An interrupted merge can be
    repeated: records that were added stay.

    Raises:
        RequestError: a store does not exist, is another folder, or is the store to merge into.
        StoreError: a record cannot be read or written.
    """
    for path in sources:
        if not path.is_dir():
            near = [str(other) for other in path.parent.iterdir() if other.is_dir()] if path.parent.is_dir() else []
            raise RequestError(f"there is no store {path}; {did_you_mean(str(path), near)}".rstrip("; "))
        if path.resolve() == into.resolve():
            raise RequestError(f"the store {path} cannot be merged into itself")
        entries = {entry.name for entry in path.iterdir()}
        if entries and not entries & {*Store.others} and not any(True for _ in Store(path).files()):
            raise RequestError(f"{path} is not a store: it has no records of trials")
    store = Store(into)
    for path in sources:
        yield _merge(Store(path), store)


def _merge(source: Store, store: Store) -> MergeReport:
    report = MergeReport(source.path)
    report.damage += [file.misplaced for file in source.files() if file.misplaced]
    done, failed = store.names()
    theirs, theirs_failed = source.names()
    for name in sorted(theirs | theirs_failed):
        record = source.read(name)
        if record is None:
            continue
        if name not in done and (record["status"] == "ok" or name not in failed):
            report.done_now += name in failed
            try:
                store.add(name, *source.copy_of(name))
            except ValueError as error:
                report.damage.append(f"{source.path_of_attachment(name).with_suffix('')}… is damaged: {error}")
                continue
            report.added += 1
            continue
        ours = store.read(name)
        if ours is None:  # damaged: reported below
            continue
        if ours["status"] != record["status"]:
            report.done_now += 1
            continue
        numbers = tuple(_differences(ours, record, store, source))
        if numbers:
            dataset = str(ours["provenance"].get("dataset", "?"))
            report.differ.append(Difference(name, ours["trial"], dataset, numbers))
        else:
            report.same += 1
    report.damage += [*source.damage, *store.damage]
    report.old = len(source.outdated | store.outdated)
    return report


def _differences(ours: dict[str, Any], theirs: dict[str, Any], store: Store, source: Store) -> Iterator[Any]:
    """Yield the values in which two records of one trial differ, except those that depend on the machine."""
    if ours["status"] == "failed":
        left, right = ours["error"], theirs["error"]
        if {left.get("kind"), right.get("kind")} & set(_MACHINES):
            return
        audited = left.get("step") == right.get("step") == "audit"  # audits draw random rows, so their messages differ
        for key in ("type", "step") if audited else ("type", "message", "step"):
            if left.get(key) != right.get(key):
                yield f"error.{key}", left.get(key), right.get(key)
        return
    for key in sorted((ours.keys() | theirs.keys()) - set(_MAY_DIFFER) - {"policies", "empty"}):
        yield from _unequal(key, ours.get(key), theirs.get(key))
    empty = [record.get("empty", {}) for record in (ours, theirs)]
    # Earlier records lack the empty policy.
    for key in sorted(empty[0].keys() & empty[1].keys() - {"validation", "test"}):
        yield from _unequal(f"empty.{key}", empty[0][key], empty[1][key])
    left, right = dict(ours["policies"]), dict(theirs["policies"])
    for part in ("validation", "test"):
        # Compare only metrics of both records: one that was added later may be in one record, from the same decisions.
        mine, yours = left.pop(part), right.pop(part)
        for metric in sorted(mine.keys() & yours.keys()):
            yield from _unequal(f"{part}.{metric}", mine[metric], yours[metric])
    yield from _unequal("policies", left, right)
    noted = [record.get("decisions", {}) for record in (ours, theirs)]
    if noted[0].get("sha256") != noted[1].get("sha256"):
        yield from _unequal_decisions(ours, store, source)


def _unequal(what: str, left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the leaves in which two plain values differ: path, left value, right value."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            yield from _unequal(f"{what}.{key}", left.get(key), right.get(key))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for place, (mine, yours) in enumerate(zip(left, right, strict=True)):
            yield from _unequal(f"{what}[{place}]", mine, yours)
    elif left != right:
        yield what, left, right


def _unequal_decisions(ours: dict[str, Any], store: Store, source: Store) -> Iterator[tuple[str, Any, Any]]:
    """Yield the columns of decisions that differ; none if only the file's encoding differs."""
    name, task = ours["name"], ours["task"]
    for mine, yours in zip(store.outcomes(name, task, None), source.outcomes(name, task, None), strict=False):
        place = f"decisions of policy {mine.policy} on {mine.part}"
        columns = [
            (key, getattr(mine.outcome.decisions, key), getattr(yours.outcome.decisions, key))
            for key in ("acquired", "probabilities", "score", "stage", "evaluations")
        ]
        columns += [(key, getattr(mine.outcome, key), getattr(yours.outcome, key)) for key in ("y", "bill")]
        for key, left, right in columns:
            if left is None and right is None:
                continue
            if left is None or right is None or np.shape(left) != np.shape(right):
                yield f"{place}: {key}", _shape(left), _shape(right)
            elif not np.array_equal(left, right, equal_nan=np.asarray(left).dtype.kind == "f"):
                rows = np.flatnonzero(np.any(np.atleast_2d((left != right).T), axis=0))
                first = int(rows[0])
                yield f"{place}: {key}, {len(rows)} row(s), first {first}", _cell(left, first), _cell(right, first)


def _shape(column: Any) -> str:
    return "nothing" if column is None else f"shape {np.shape(column)}"


def _cell(column: Any, row: int) -> Any:
    return np.asarray(column)[row].tolist()
