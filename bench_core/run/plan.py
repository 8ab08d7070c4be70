"""The plan: a suite's trials by name, and which of them the store already holds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bench_core.contract.canonical import canonical_json
from bench_core.contract.errors import DataUnavailable, attempt, with_hint
from bench_core.contract.facts import DataFacts
from bench_core.contract.known import KnownTrials
from bench_core.contract.parameters import given_parameters
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.store import Store
from bench_core.run.trial import Trial, fragment

OVER_LIMIT = "over the limit"
"""The state of a trial that took longer than the time limit: an outcome, which is not tried again unasked."""


@dataclass(frozen=True)
class Planned:
    """A trial with its data set's content hash, its name, and how it stands.

    Attributes:
        state: ``done``, ``failed``, ``missing``, ``over the limit``: it took longer than the time limit, or
            ``not applicable``: its method cannot be tried on its data set.
        reason: why it is not applicable; else empty.
    """

    trial: Trial
    content: str
    name: str
    state: str
    reason: str = ""

    @property
    def preparation(self) -> Hashable:
        """What trials with the same prepared data have in common."""
        trial = self.trial
        scheme = fragment(trial.costs_use, trial.scheme)
        return self.content, scheme, trial.split, trial.encode, trial.seed, trial.audit_rounds


@dataclass
class Plan:
    """What a suite asks for, and what is there.

    Attributes:
        planned: every trial whose data can be had, in the suite's order.
        unavailable: data set label → ``is missing: …``, ``cannot be used: …`` or ``cannot be priced …``, with the
            remedy.
        contents: data set label → content hash, of those whose trials can be named.
        definitions: data set label → see `definition_of`.
    """

    planned: list[Planned] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)

    def to_run(self, retry_failed: bool = False, retry_over_limit: bool = False) -> list[Planned]:
        """Trials still to be computed, each name once."""
        states = ["missing"] + ["failed"] * retry_failed + [OVER_LIMIT] * retry_over_limit
        remaining: dict[str, Planned] = {}
        for planned in self.planned:
            if planned.state in states:
                remaining.setdefault(planned.name, planned)
        return list(remaining.values())

    def forget(self, names: Set[str]) -> None:
        """Trials of these names are missing after all."""
        self.planned = [replace(p, state="missing") if p.name in names else p for p in self.planned]

    def count(self, state: str) -> int:
        """How many trials are in a state."""
        return sum(planned.state == state for planned in self.planned)


def definition_of(trial: Trial) -> str:
    """What a suite says its data set is, as canonical JSON: what is used, its version, and the parameters given.

    Where the data cannot be had, an equal definition is the reason to believe that its records are still of it.
    Parameters that are their defaults are left out, so that a new one does not make a new definition.
    """
    given = given_parameters(trial.source)
    return canonical_json({"use": trial.dataset_use, "version": type(trial.source).version, "parameters": given})


def make_plan(trials: Iterable[Trial], store: Store, cache: DatasetCache, known: KnownTrials | None = None) -> Plan:
    """Name every trial and look it up in the store and among those known otherwise.

    Data sets that cannot be had are noted, the rest goes on. What is known of such a data set counts as done when it
    is defined as it was then, and when that is all of it, the data is not missed. A method that cannot be tried on a
    data set is not applicable there, unless there is a record of it.
    """
    plan, known = Plan(), known or KnownTrials()
    done, failed = store.names()
    done |= known.done
    failed = (failed | known.failed) - done
    contents = plan.contents
    unusable: dict[str, str] = {}
    applicability = _Applicability(cache)
    rows: list[tuple[Trial, str, str, str, str]] = []
    for trial in trials:
        if trial.dataset in plan.unavailable and trial.dataset not in contents:
            continue
        if trial.dataset not in contents:
            definition = plan.definitions[trial.dataset] = definition_of(trial)
            content = attempt(partial(cache.content, trial.dataset_use, trial.source))
            if isinstance(content, BaseException):
                unusable[trial.dataset] = _unusable(content)
                if definition not in known.contents:
                    plan.unavailable[trial.dataset] = unusable[trial.dataset]
                    continue
                content = known.contents[definition]
            contents[trial.dataset] = content
        content = contents[trial.dataset]
        name = trial.name(content)
        state, reason = "done", ""
        if name not in done:
            if trial.dataset in unusable:
                reason = known.inapplicable.get(name, "")
            else:
                trouble = applicability.want(trial, content)
                if trouble:
                    plan.unavailable.setdefault(trial.dataset, trouble)
                    continue
            state = "failed" if name in failed else "missing"
            if state == "failed" and (name in known.over_limit or store.failure_kind(name) == "time"):
                state = OVER_LIMIT
            if state == "missing" and not reason and trial.dataset in unusable:
                plan.unavailable[trial.dataset] = unusable[trial.dataset]
                continue
        rows.append((trial, content, name, state, reason))
    applicability.ask()
    for trial, content, name, state, reason in rows:
        if state != "done":
            reason = reason or applicability.of(trial)
        plan.planned.append(Planned(trial, content, name, "not applicable" if reason else state, reason))
    cache.save()
    return plan


def _unusable(error: BaseException) -> str:
    kind = "is missing" if isinstance(error, DataUnavailable) else "cannot be used"
    return f"{kind}: {with_hint(error)}"


class _Applicability:
    """Whether data, prices and method go together: noted for all trials, then asked at once, once for all seeds."""

    def __init__(self, cache: DatasetCache) -> None:
        self._cache = cache
        self._priced: dict[tuple[str, str, float | None], DataFacts | str] = {}
        self._questions: dict[tuple[str, str, float | None, str], tuple[Any, DataFacts]] = {}
        self._reasons: dict[tuple[str, str, float | None, str], str] = {}

    def want(self, trial: Trial, content: str) -> str:
        """Note that a trial's method is to be asked; or why the data set cannot be used under the trial's prices."""
        key = trial.dataset, trial.costs, trial.threshold
        if key not in self._priced:
            self._priced[key] = self._met(trial, content)
        met = self._priced[key]
        if isinstance(met, str):
            return met
        self._questions.setdefault((*key, fragment(trial.method_use, trial.estimator)), (trial.estimator, met))
        return ""

    def ask(self) -> None:
        """Ask the methods; an error of one is the trial's, whose record says what is wrong with the method."""
        answers = self._cache.registry.ask_methods("inapplicable", list(self._questions.values()))
        self._reasons = {key: answer or "" for key, answer in zip(self._questions, answers, strict=True)}

    def of(self, trial: Trial) -> str:
        """Why a trial's method does not apply; empty where it does, or was not asked."""
        key = trial.dataset, trial.costs, trial.threshold, fragment(trial.method_use, trial.estimator)
        return self._reasons.get(key, "")

    def _met(self, trial: Trial, content: str) -> DataFacts | str:
        """The data set as methods meet it, or what is wrong with it or its prices."""
        facts = attempt(partial(self._cache.facts, trial.dataset_use, trial.source, content))
        if isinstance(facts, BaseException):
            return _unusable(facts)
        missing = facts.missing and trial.encode == "raw"
        facts = replace(facts, name=trial.dataset, missing=missing, threshold=trial.threshold)
        units = attempt(partial(trial.scheme.units, facts))
        if isinstance(units, BaseException):
            return f"cannot be priced by {trial.costs!r}: {with_hint(units)}"
        return replace(facts, n_units=units)
