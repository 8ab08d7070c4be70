"""``bench verify``: recompute a random sample of published records, and compare them.

If a record names this machine's processor, kernels and libraries, every number must be equal to the last bit. But a
record may name any machine, so differences have limits for all records (`bench_records.differences`). A record beyond
them is *refuted*. A record within them that differs by more than rounding is *undecided*. So is one that differs only
in the description of a fit (parameters of models, history, bought features), which no ranking uses.

Trials without a result are sampled like the others, since their records can be forged, too: a bad result could be
published as a failure. A trial that was published as failed or not applicable and now succeeds is refuted. If it was
published as ended by a limit that another machine may not reach (`OVER_A_LIMIT`), it is undecided.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench_core import Metric, RequestError
from bench_core.execution import DatasetCache, Options, execute
from bench_core.records import Store
from bench_core.suites import Plan, Planned, SuiteSession, Trial
from bench_records.checksums import SLOT
from bench_records.committed import published
from bench_records.differences import ROUNDING, Stray, gaps_of_info, gaps_of_policies, is_given, strays
from bench_records.files import write_files
from bench_records.hints import command_for
from bench_records.records import Records, collect, is_over_limit
from bench_records.verified import VERIFIED, read_verified, with_verified

__all__ = ["OUTCOMES", "OVER_A_LIMIT", "Verdict", "Verified", "note", "sample_of", "verify"]

OUTCOMES = ("equal", "equal but for rounding", "undecided", "refuted")
OVER_A_LIMIT = ("time", "memory", "killed")
"""Kinds of failures that depend on the machine and on what else it runs."""
_SECONDS = 600.0
"""Time limit for recomputing a trial that was published as over the time limit, if the suite has no limit."""
_ENVIRONMENT = ("python", "libraries", "platform", "processor", "kernels")


@dataclass(frozen=True)
class Verdict:
    """The result of verifying one record.

    Attributes:
        planned: its trial.
        outcome: one of `OUTCOMES`.
        same_machine: whether the record names the processor, kernels, platform and libraries that recomputed it.
        reason: the place and size of the difference, or why the record was not recomputed.
        cause: if it is undecided: why, in words that many records share.
    """

    planned: Planned
    outcome: str
    same_machine: bool
    reason: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Verified:
    """A sample's verdicts.

    Attributes:
        verdicts: one for each sampled trial.
        published: number of the trials that the sample was drawn from.
    """

    verdicts: tuple[Verdict, ...]
    published: int

    @property
    def refuted(self) -> list[Verdict]:
        """Verdicts on records whose differences no other machine can explain, or whose trials now end differently."""
        return [verdict for verdict in self.verdicts if verdict.outcome == "refuted"]

    @property
    def summary(self) -> str:
        """How many records had each outcome, and why some are undecided."""
        outcomes = Counter(verdict.outcome for verdict in self.verdicts)
        causes = Counter(verdict.cause for verdict in self.verdicts if verdict.outcome == "undecided")
        why = {"undecided": f" ({', '.join(f'{count} {cause}' for cause, count in sorted(causes.items()))})"}
        return ", ".join(f"{outcomes[word]} {word}{why.get(word, '')}" for word in OUTCOMES if outcomes[word])


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
    """Recompute a sample of a suite's published trials, in a temporary store.

    Args:
        session: the suite and its folders; its own store is neither read nor written.
        sample: see `sample_of`.
        seed: seed of the sample.
        options: how to run.
        kernels: sample only records that name these kernels, such as ``Haswell``, and trials that are published as not
            applicable, which name none; None: all trials.
        progress: called after every trial.

    Raises:
        RequestError: ``sample`` is invalid, nothing is published, or no published trial is one of the suite.
    """
    whole = published(session).whole
    if whole is None:
        raise RequestError(f"{session.folder}: nothing is published there; run: {command_for(session)}")
    plan, names = session.plan(), set(whole.policies["name"])
    by_name = {planned.name: planned for planned in plan.planned if planned.name in names}
    if not by_name:
        raise RequestError(f"{session.folder}: the suite has none of the trials that are published there")
    if kernels is not None:
        named = {name: whole.runs.get(name, {}).get("provenance", {}).get("kernels") or () for name in by_name}
        kept = {name for name in by_name if kernels in named[name]} | {key[-1] for key in whole.inapplicable}
        by_name = {name: planned for name, planned in by_name.items() if name in kept}
    chosen = [by_name[name] for name in sample_of(list(by_name), sample, seed)]
    again = _recomputed(session, replace(plan, planned=chosen), whole, options, progress)
    metrics = session.suite.needed_metrics()
    return Verified(tuple(_verdict(planned, whole, again, metrics) for planned in chosen), len(by_name))


def note(session: SuiteSession, verified: Verified) -> Path:
    """Add the records that came out equal to ``verified.json`` beside the page, and return its path."""
    whole = published(session).whole
    if whole is None:
        raise RequestError(f"{session.folder}: nothing is published there")
    names = [v.planned.name for v in verified.verdicts if v.outcome in OUTCOMES[:2] and v.planned.name in whole.done]
    path = session.folder / VERIFIED
    write_files({path: with_verified(read_verified(session.folder), whole, names)})
    return path


def _recomputed(
    session: SuiteSession, plan: Plan, whole: Records, options: Options, progress: Callable[[Planned, Any], None]
) -> Records:
    """Run a plan's trials in a temporary store, except those that their methods declare as not applicable."""
    metrics = session.suite.needed_metrics()
    loads = {p.trial.dataset: _loads(session, p.trial) for p in plan.planned if p.state == "not applicable"}
    # If the data cannot be loaded, only the published record says that a trial is not applicable.
    known = [p.state == "not applicable" and loads[p.trial.dataset] for p in plan.planned]
    asked = [p if is_known else replace(p, state="missing") for p, is_known in zip(plan.planned, known, strict=True)]
    slow = {p.name for p in asked if is_over_limit(whole.infos[p.name])}
    limited = replace(options, timeout=options.timeout or session.suite.file.protocol.timeout or _SECONDS)
    with tempfile.TemporaryDirectory(prefix="bench-verify-") as folder:
        store = Store(Path(folder))
        cache = DatasetCache(session.context, session.registry, store.path)
        for is_slow, how in ((False, options), (True, limited)):
            part = replace(plan, planned=[p for p in asked if (p.name in slow) is is_slow])
            execute(part, cache, tuple(metrics), how, progress)
        return collect(replace(plan, planned=asked), store, metrics)


def _loads(session: SuiteSession, trial: Trial) -> bool:
    """Whether a trial's data set can be loaded here."""
    try:
        session.cache.content(trial.dataset_use, trial.source)
    except Exception:  # sources of plugins raise any exception
        return False
    return True


def _verdict(planned: Planned, before: Records, after: Records, metrics: Mapping[str, Metric]) -> Verdict:
    name = planned.name
    then, now = (records.runs.get(name, {}).get("provenance", {}) for records in (before, after))
    same = "kernels" in then and all(then.get(key) == now.get(key) for key in _ENVIRONMENT)
    both = name in before.done and name in after.done
    outcome, *why = _compared(name, before, after, metrics, same) if both else _ended(name, before, after)
    return Verdict(planned, outcome, same, *why)


def _ended(name: str, before: Records, after: Records) -> tuple[str, str, str]:
    """Outcome, reason and cause for a trial that has no result before or after."""
    then, now = (records.infos.get(name, {}).get("error") or {} for records in (before, after))
    message = now.get("message", "it was not run")
    if now.get("type") == "DataUnavailable":
        return "undecided", f"no data: {message}", "without data"
    if name in before.done:
        return "refuted", message, ""
    status = before.policies.loc[before.policies["name"] == name, "status"].iloc[0]
    was = f"published as {status} ({then.get('message', 'without a reason')})"
    if name not in after.done:
        same = all(then.get(key) == now.get(key) for key in ("type", "kind"))
        again = same and ("kind" in now or then == now)  # a failure's message may depend on the machine
        return ("equal", "", "") if again else ("undecided", f"{was}; now: {message}", "ending differently")
    if status == "failed" and (then.get("kind") in OVER_A_LIMIT or then.get("type") == "DataUnavailable"):
        return "undecided", f"{was}; it now succeeds", "published as over a limit or without data"
    return "refuted", f"{was}; it now succeeds", ""


def _compared(
    name: str, before: Records, after: Records, metrics: Mapping[str, Metric], same: bool
) -> tuple[str, str, str]:
    """Outcome, reason and cause for a trial that is done before and after."""
    new = after.policies[after.policies["name"] == name].drop_duplicates("policy")
    measured = [column for column in new.columns if column.partition(".")[2] in metrics]
    rows = before.policies[before.policies["name"] == name]
    rows = rows.reindex(columns=rows.columns.union(measured, sort=False))  # exports leave out columns without numbers
    # A page may show a trial under several labels, each with its own copy of the numbers.
    slots = [old for _, old in rows.groupby(SLOT, sort=False)]
    gaps = list(gaps_of_info(before.infos[name], after.infos[name]))
    gaps += [gap for old in slots for gap in gaps_of_policies(old, new)]
    where, largest = max(gaps, key=lambda gap: gap[1], default=("", 0.0))
    if not largest:
        return "equal", "", ""
    if same:
        return "refuted", _worded(where, largest), ""
    given = [gap for gap in gaps if is_given(gap[0]) and gap[1] > ROUNDING]
    if given:
        return "refuted", _worded(*given[0]), ""
    counts = after.infos[name]["rows"]
    invented = [stray for old in slots for stray in strays(old, new, counts, metrics)]
    if invented:
        return "refuted", _described(max(invented)), ""
    left_out = [stray for old in slots for stray in strays(new, old, counts, metrics)]
    if left_out:
        return "refuted", _missing(max(left_out)), ""
    outcome = "undecided" if largest > ROUNDING else "equal but for rounding"
    return outcome, _worded(where, largest), "with small differences"


def _worded(where: str, gap: float) -> str:
    return where if math.isinf(gap) else f"{where} by {gap:.2g} of its value"


def _described(stray: Stray) -> str:
    """A published policy that was not recomputed."""
    values = f"published as {stray.value:.6g}, recomputed as {stray.nearest:.6g}"
    return f"{stray.metric} of {stray.label!r} is {values}: more than other kernels explain"


def _missing(stray: Stray) -> str:
    """A recomputed policy that is not published."""
    values = f"recomputed as {stray.value:.6g}, published as {stray.nearest:.6g} of the nearest policy"
    return f"no published policy is like {stray.label!r}: {stray.metric} is {values}"
