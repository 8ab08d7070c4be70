"""``bench verify``: recompute a random sample of published records, and compare them.

On the machine and with the libraries that a record was computed with, every number must be the same to the last bit.
Elsewhere other kernels may round otherwise, and where a fit hangs on the last bit it may turn: then it says what
differs, and by how much. What was given to the method must be the same everywhere.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench_core import Options, Plan, Planned, RequestError, Store, SuiteSession, execute
from bench_leaderboard.analysis.export import published
from bench_leaderboard.analysis.records import Records, collect

__all__ = ["Verdict", "Verified", "sample_of", "verify"]

_COMPARED = ("task", "history", "diagnostics", "features", "costs", "rows", "usage", "evaluations")
_ORDER = "order of policies"
_OF_ANY_LENGTH = ("history.", "evaluations.")
"""What is as long as a method took steps, or as a row ran base models: between machines its length is a number that
differs, as others do."""
_GIVEN = ("task", "features", "costs", "rows")
"""What a fit does not decide: names, counts and prices. Prices may differ by rounding, too."""
_ENVIRONMENT = ("python", "libraries", "platform", "processor", "kernels")


@dataclass(frozen=True)
class Verdict:
    """What became of one record.

    Attributes:
        planned: its trial.
        outcome: ``equal``, ``differs`` or ``not recomputed``.
        same_machine: whether it was published by the same processor, kernels, platform and libraries; False where that
            is not known.
        reason: where the largest difference is and how large, or why it was not recomputed.
        largest: the largest relative difference of two numbers; infinite where something else than a number differs.
        given: whether what was given to the method differs, by more than rounding.
    """

    planned: Planned
    outcome: str
    same_machine: bool
    reason: str = ""
    largest: float = 0.0
    given: bool = False


@dataclass(frozen=True)
class Verified:
    """A sample's verdicts."""

    verdicts: tuple[Verdict, ...]
    published: int

    @property
    def refuted(self) -> list[Verdict]:
        """Those that cannot be explained by another machine: they differ on the same one, or failed."""
        return [
            verdict
            for verdict in self.verdicts
            if (verdict.outcome == "differs" and (verdict.same_machine or verdict.given))
            or (verdict.outcome == "not recomputed" and not verdict.reason.startswith("no data"))
        ]


def sample_of(names: list[str], sample: str, seed: int) -> list[str]:
    """A random sample of trials, in the order given.

    Args:
        names: all of them.
        sample: a number, or a share such as ``5%`` (rounded up).
        seed: of the choice.

    Raises:
        RequestError: ``sample`` is neither.
    """
    text, percent = sample.removesuffix("%").strip(), sample.endswith("%")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0 or (percent and value > 100) or (not percent and value != int(value)):
        raise RequestError(f"--sample {sample}: give a number of records, or a share such as 5%")
    count = min(len(names), math.ceil(value / 100 * len(names)) if percent else int(value))
    random = np.random.PCG64(seed).random_raw(len(names))
    chosen = set(np.argsort(random, kind="stable")[:count].tolist())
    return [name for i, name in enumerate(names) if i in chosen]


def verify(
    session: SuiteSession,
    sample: str,
    seed: int,
    options: Options,
    progress: Callable[[Planned, Any], None] = lambda planned, done: None,
) -> Verified:
    """Recompute a sample of a suite's published records in a store of their own.

    Args:
        session: the suite and its places; its own store is neither read nor written.
        sample: see `sample_of`.
        seed: of the sample.
        options: how to run.
        progress: called after every trial.

    Raises:
        RequestError: nothing is published, or the suite asks for none of it.
    """
    whole = published(session).whole
    if whole is None:
        raise RequestError(f"{session.folder}: nothing is published there; run: bench run {session.suite.path}")
    plan = session.plan()
    by_name = {planned.name: planned for planned in plan.planned if planned.name in whole.done}
    if not by_name:
        raise RequestError(f"{session.folder}: the suite asks for none of the trials that are published there")
    chosen = [replace(by_name[name], state="missing") for name in sample_of(list(by_name), sample, seed)]
    asked = Plan(chosen, contents=plan.contents, definitions=plan.definitions)
    metrics = session.suite.needed_metrics()
    with tempfile.TemporaryDirectory(prefix="bench-verify-") as folder:
        store = Store(Path(folder))
        summary = execute(asked, session.registry, store.path, session.context, tuple(metrics), options, None, progress)
        failures = {planned.name: message for planned, message in summary.failures}
        again = collect(asked, store, metrics)
    verdicts = [_verdict(planned, whole, again, failures) for planned in chosen]
    return Verified(tuple(verdicts), len(by_name))


def _verdict(planned: Planned, before: Records, after: Records, failures: Mapping[str, str]) -> Verdict:
    name = planned.name
    then, now = (records.runs.get(name, {}).get("provenance", {}) for records in (before, after))
    same = "kernels" in then and all(then.get(key) == now.get(key) for key in _ENVIRONMENT)
    if name not in after.done:
        why = failures.get(name, "it was not run")
        data = after.infos.get(name, {}).get("error", {}).get("type") == "DataUnavailable"
        return Verdict(planned, "not recomputed", same, f"no data: {why}" if data else why)
    gaps = [(place, _gap(a, b)) for place, a, b in _pairs(name, before, after)]
    where, largest = max(gaps, key=lambda found: (_is_given(*found), found[1]))
    if not largest:
        return Verdict(planned, "equal", same)
    reason = where if math.isinf(largest) or where == _ORDER else f"{where} by {largest:.2g} of its value"
    return Verdict(planned, "differs", same, reason, largest, _is_given(where, largest))


def _is_given(place: str, gap: float) -> bool:
    """Whether something differs that was given to the method, by more than rounding."""
    return math.isinf(gap) and place.partition(".")[0] in _GIVEN


def _pairs(name: str, before: Records, after: Records) -> Iterator[tuple[str, Any, Any]]:
    """Every value of a record beside its recomputed one: where it stands, then, now."""
    old, new = (
        records.policies[records.policies["name"] == name].drop_duplicates("policy").set_index("policy")
        for records in (before, after)
    )
    yield "number of policies", len(old), len(new)
    if list(old["label"]) != list(new["label"]) and sorted(old["label"]) == sorted(new["label"]):
        # Validation puts another policy first where two are nearly as good: the same policies are compared.
        yield _ORDER, 0, 1
        old, new = (policies.sort_values("label", kind="stable") for policies in (old, new))
    for column in sorted(set(old.columns) & set(new.columns)):
        if "." in column or column in ("label", "budget", "status"):
            yield from ((column, a, b) for a, b in zip(old[column], new[column], strict=False))
        elif column == "details":
            for a, b in zip(old[column], new[column], strict=False):
                yield from _leaves(column, json.loads(a), json.loads(b))
    for key in _COMPARED:
        if key in before.infos[name]:  # what later versions keep besides cannot be compared
            yield from _leaves(key, before.infos[name][key], after.infos[name].get(key))


def _leaves(place: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            if not key.endswith("seconds"):  # a measured time is never the same
                yield from _leaves(f"{place}.{key}", a[key], b[key])
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            yield from _leaves(place, x, y)
    elif place.startswith(_OF_ANY_LENGTH) and isinstance(a, list) and isinstance(b, list):
        yield f"{place}: length", len(a), len(b)
    else:
        yield place, a, b


def _gap(a: Any, b: Any) -> float:
    """The relative difference of two numbers; infinite for anything else that differs."""
    numbers = [isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in (a, b)]
    if not all(numbers):
        missing = [x is None or (isinstance(x, float) and math.isnan(x)) for x in (a, b)]
        return 0.0 if a == b or all(missing) else math.inf
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    gap = abs(a - b) / max(abs(a), abs(b))
    return math.inf if math.isnan(gap) else float(gap)
