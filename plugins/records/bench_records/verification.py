"""``bench verify``: recompute a random sample of published records, and compare them.

If a record names this machine's processor, kernels and libraries, every number must be equal to the last bit. Other
kernels round differently, and a decision that depends on the last bit may then change. But a record may name any
machine, so differences have limits for all records:

- what the method was given (task, features, prices, numbers of rows) must be equal up to `ROUNDING`;
- for every published policy there must be a recomputed one whose metrics differ by no more than changed decisions on
  `CHANGED_ROWS` rows, or on the share `CHANGED_SHARE` of them if that is more, can explain. A changed row is taken to
  change the sum over rows by 1 in a metric of classification, or by the metric's value if that is larger; in any other
  metric by its value.

A record beyond these limits is *refuted*. A record within them that differs by more than rounding is *undecided*. So
is one that differs only in the description of a fit (parameters of models, history, bought features), which no ranking
uses.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import Metric, RequestError
from bench_core.execution import DatasetCache, Options, execute
from bench_core.records import Store
from bench_core.suites import Plan, Planned, SuiteSession
from bench_records.checksums import SLOT
from bench_records.committed import published
from bench_records.files import write_files
from bench_records.hints import command_for
from bench_records.records import Records, collect
from bench_records.verified import VERIFIED, read_verified, with_verified

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CHANGED_ROWS", "CHANGED_SHARE", "OUTCOMES", "ROUNDING", "Verdict", "Verified", "note", "sample_of", "verify",
]  # fmt: skip

ROUNDING = 1e-6
"""Numbers are equal up to rounding if they differ by at most this share of the larger one, or by `_NOTHING`."""
_NOTHING = 1e-12
CHANGED_ROWS, CHANGED_SHARE = 2, 0.002
"""Other kernels may change the decisions on this number of rows, or on this share of them if that is more."""
OUTCOMES = ("equal", "equal but for rounding", "undecided", "refuted")

_COMPARED = ("task", "history", "diagnostics", "features", "costs", "rows", "usage", "evaluations", "empty")
_GIVEN = ("task", "features", "costs", "rows", "empty")
"""Keys of a record that do not depend on the fit: names, counts and prices."""
_CLASSES = {"binary", "multiclass"}
_ENVIRONMENT = ("python", "libraries", "platform", "processor", "kernels")


@dataclass(frozen=True)
class Verdict:
    """The result of verifying one record.

    Attributes:
        planned: its trial.
        outcome: one of `OUTCOMES`.
        same_machine: whether the record names the processor, kernels, platform and libraries that recomputed it.
        reason: the place and size of the difference, or why the record was not recomputed.
    """

    planned: Planned
    outcome: str
    same_machine: bool
    reason: str = ""


@dataclass(frozen=True)
class Verified:
    """A sample's verdicts."""

    verdicts: tuple[Verdict, ...]
    published: int

    @property
    def refuted(self) -> list[Verdict]:
        """Verdicts on records whose differences no other machine can explain, or whose trials now fail."""
        return [verdict for verdict in self.verdicts if verdict.outcome == "refuted"]


def sample_of(names: list[str], sample: str, seed: int) -> list[str]:
    """A random sample of trials, in the order given.

    Args:
        names: names of all trials.
        sample: a number, or a share such as ``5%`` (rounded up).
        seed: seed of the random choice.

    Raises:
        RequestError: ``sample`` is neither a number nor a share.
    """
    text, percent = sample.removesuffix("%").strip(), sample.endswith("%")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or (percent and value > 100) or (not percent and value != int(value)):
        raise RequestError(
            f"--sample {sample}: give a number of records, or a share such as 5%, above 0 and at most 100%"
        )
    count = min(len(names), math.ceil(value / 100 * len(names)) if percent else int(value))
    random = np.random.PCG64(seed).random_raw(len(names))
    chosen = set(np.argsort(random, kind="stable")[:count].tolist())
    return [name for i, name in enumerate(names) if i in chosen]


def verify(
    session: SuiteSession,
    sample: str,
    seed: int,
    options: Options,
    kernels: str | None = None,
    progress: Callable[[Planned, Any], None] = lambda planned, done: None,
) -> Verified:
    """Recompute a sample of a suite's published records, in a temporary store.

    Args:
        session: the suite and its folders; its own store is neither read nor written.
        sample: see `sample_of`.
        seed: seed of the sample.
        options: how to run.
        kernels: sample only records that name these kernels, such as ``Haswell``; None: all records.
        progress: called after every trial.

    Raises:
        RequestError: ``sample`` is invalid, no record is published, or no published trial is one of the suite.
    """
    whole = published(session).whole
    if whole is None:
        raise RequestError(f"{session.folder}: nothing is published there; run: {command_for(session)}")
    plan = session.plan()
    by_name = {planned.name: planned for planned in plan.planned if planned.name in whole.done}
    if not by_name:
        raise RequestError(f"{session.folder}: the suite has none of the trials that are published there")
    if kernels is not None:
        named = {name: whole.runs.get(name, {}).get("provenance", {}).get("kernels", ()) for name in by_name}
        by_name = {name: planned for name, planned in by_name.items() if kernels in (named[name] or ())}
    chosen = [replace(by_name[name], state="missing") for name in sample_of(list(by_name), sample, seed)]
    asked = Plan(chosen, contents=plan.contents, definitions=plan.definitions)
    metrics = session.suite.needed_metrics()
    with tempfile.TemporaryDirectory(prefix="bench-verify-") as folder:
        store = Store(Path(folder))
        cache = DatasetCache(session.context, session.registry, store.path)
        summary = execute(asked, cache, tuple(metrics), options, progress)
        failures = {planned.name: message for planned, message in summary.failures}
        again = collect(asked, store, metrics)
    verdicts = [_verdict(planned, whole, again, failures, metrics) for planned in chosen]
    return Verified(tuple(verdicts), len(by_name))


def note(session: SuiteSession, verified: Verified) -> Path:
    """Add the records that came out equal to ``verified.json`` beside the page, and return its path."""
    whole = published(session).whole
    if whole is None:
        raise RequestError(f"{session.folder}: nothing is published there")
    names = [v.planned.name for v in verified.verdicts if v.outcome in OUTCOMES[:2]]
    path = session.folder / VERIFIED
    write_files({path: with_verified(read_verified(session.folder), whole, names)})
    return path


def _verdict(
    planned: Planned, before: Records, after: Records, failures: Mapping[str, str], metrics: Mapping[str, Metric]
) -> Verdict:
    name = planned.name
    then, now = (records.runs.get(name, {}).get("provenance", {}) for records in (before, after))
    same = "kernels" in then and all(then.get(key) == now.get(key) for key in _ENVIRONMENT)
    if name not in after.done:
        why = failures.get(name, "it was not run")
        data = after.infos.get(name, {}).get("error", {}).get("type") == "DataUnavailable"
        return Verdict(planned, "undecided" if data else "refuted", same, f"no data: {why}" if data else why)
    new = after.policies[after.policies["name"] == name].drop_duplicates("policy")
    measured = [column for column in new.columns if column.partition(".")[2] in metrics]
    rows = before.policies[before.policies["name"] == name]
    rows = rows.reindex(columns=rows.columns.union(measured, sort=False))  # exports leave out columns without numbers
    gaps = list(_gaps_of_info(before.infos[name], after.infos[name]))
    # A page may show a trial under several labels, each with its own copy of the numbers.
    slots = [old for _, old in rows.groupby(SLOT, sort=False)]
    for old in slots:
        gaps += _gaps_of_policies(old, new)
    where, largest = max(gaps, key=lambda gap: gap[1], default=("", 0.0))
    if not largest:
        return Verdict(planned, "equal", same)
    if same:
        return Verdict(planned, "refuted", same, _worded(where, largest))
    given = [gap for gap in gaps if gap[0].partition(".")[0] in _GIVEN and gap[1] > ROUNDING]
    if given:
        return Verdict(planned, "refuted", same, _worded(*given[0]))
    beyond = [gap for old in slots if (gap := _beyond_limits(old, new, after.infos[name]["rows"], metrics)) is not None]
    if beyond:
        return Verdict(planned, "refuted", same, max(beyond)[1])
    outcome = "undecided" if largest > ROUNDING else "equal but for rounding"
    return Verdict(planned, outcome, same, _worded(where, largest))


def _worded(where: str, gap: float) -> str:
    return where if math.isinf(gap) else f"{where} by {gap:.2g} of its value"


def _gaps_of_info(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield where two records differ outside their policies, and by how much."""
    for key in _COMPARED:
        if key == "history":
            yield from _published_leaves(key, before.get(key) or {}, after.get(key) or {})
        elif key in before:  # a key that is not published cannot be compared
            yield from _leaves(key, before[key], after.get(key))


def _gaps_of_policies(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield where two families differ, and by how much, policy by policy."""
    yield "number of policies", math.inf if len(old) != len(new) else 0.0
    for column in sorted(set(old.columns) & set(new.columns)):
        if "." in column or column in ("label", "budget", "status"):
            yield from ((column, _gap(a, b)) for a, b in zip(old[column], new[column], strict=False))
        elif column == "details":
            for a, b in zip(old[column], new[column], strict=False):
                yield from _published_leaves(column, json.loads(a), json.loads(b))


def _beyond_limits(
    old: pd.DataFrame, new: pd.DataFrame, rows: Mapping[str, int], metrics: Mapping[str, Metric]
) -> tuple[float, str] | None:
    """Find the published policy that is farthest from its nearest recomputed one, if that is beyond the limit.

    A policy is compared with the recomputed policies of the same label, or with all if none has its label: with other
    kernels, a family may have other members.

    Returns:
        The distance in multiples of the limit, and a description; None if all policies are within the limit.
    """
    columns = [column for column in new.columns if column.partition(".")[2] in metrics and column in old.columns]
    floors, changed = np.zeros(len(columns)), np.zeros(len(columns))
    for place, column in enumerate(columns):
        part, _, name = column.partition(".")
        floors[place] = metrics[name].percent or metrics[name].tasks <= _CLASSES
        changed[place] = max(CHANGED_ROWS / max(rows[part], 1), CHANGED_SHARE)
    recomputed = new[columns].to_numpy(dtype=float)
    labels = new["label"].to_numpy()
    farthest = (1.0, "")
    for label, numbers in zip(old["label"], old[columns].to_numpy(dtype=float), strict=True):
        others = recomputed[labels == label] if label in labels else recomputed
        size = np.fmax(np.fmax(np.abs(numbers), np.abs(others)), floors)
        with np.errstate(invalid="ignore"):
            gaps = np.abs(numbers - others) / (changed * size + _NOTHING)
        gaps[(numbers == others) | (np.isnan(numbers) & np.isnan(others))] = 0.0
        gaps[np.isnan(gaps)] = math.inf
        worst = gaps.max(axis=1, initial=0.0)
        nearest = int(worst.argmin())
        if worst[nearest] > farthest[0]:
            place = int(gaps[nearest].argmax())
            values = f"published as {numbers[place]:.6g}, recomputed as {others[nearest, place]:.6g}"
            farthest = (
                float(worst[nearest]),
                f"{columns[place]} of {label!r} is {values}: more than other kernels explain",
            )
    return farthest if farthest[1] else None


def _published_leaves(place: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield where two objects differ in published keys; `bench_records.published_form` leaves out the others."""
    for key in before:
        if not key.endswith("seconds"):  # measured times always differ
            yield from _leaves(f"{place}.{key}", before[key], after.get(key))


def _leaves(place: str, a: Any, b: Any) -> Iterator[tuple[str, float]]:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        yield from _published_leaves(place, a, b)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            yield from _leaves(place, x, y)
    else:
        yield place, _gap(a, b)


def _gap(a: Any, b: Any) -> float:
    """The relative difference of two numbers; infinite for anything else that differs."""
    numbers = [isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in (a, b)]
    if not all(numbers):
        missing = [x is None or (isinstance(x, float) and math.isnan(x)) for x in (a, b)]
        return 0.0 if a == b or all(missing) else math.inf
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    gap = float(abs(a - b) / max(abs(a), abs(b)))
    if abs(a - b) <= _NOTHING:
        return min(gap, ROUNDING)
    return math.inf if math.isnan(gap) else gap
