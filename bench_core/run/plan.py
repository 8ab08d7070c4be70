"""The plan: a suite's trials by name, and the state of each in the store."""

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
"""The state of a trial that took longer than the time limit. It is run again on request only."""


@dataclass(frozen=True)
class Planned:
    """A trial with its data set's content hash, its name, and its state.

    Attributes:
        state: ``done``, ``failed``, ``missing``, ``over the limit`` (it took longer than the time limit) or ``not
            applicable`` (its method cannot be used on its data set).
        reason: why it is not applicable; else empty.
    """

    trial: Trial
    content: str
    name: str
    state: str
    reason: str = ""

    @property
    def preparation(self) -> Hashable:
        """A key that is equal for trials with the same prepared data."""
        trial = self.trial
        scheme = fragment(trial.costs_use, trial.scheme)
        return self.content, scheme, trial.split, trial.encode, trial.seed, trial.audit_rounds


@dataclass
class Plan:
    """A suite's trials with their states.

    Attributes:
        planned: every trial whose data is available, in the suite's order.
        unavailable: data set label → ``is missing: …``, ``cannot be used: …`` or ``cannot be priced …``, with the
            remedy.
        contents: data set label → content hash, for data sets whose trials can be named.
        definitions: data set label → definition (`definition_of`).
    """

    planned: list[Planned] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)

    def to_run(self, retry_failed: bool = False, retry_over_limit: bool = False) -> list[Planned]:
        """Trials that must be computed, each name once."""
        states = ["missing"] + ["failed"] * retry_failed + [OVER_LIMIT] * retry_over_limit
        remaining: dict[str, Planned] = {}
        for planned in self.planned:
            if planned.state in states:
                remaining.setdefault(planned.name, planned)
        return list(remaining.values())

    def forget(self, names: Set[str]) -> None:
        """Change the state of the trials with these names to missing."""
        self.planned = [replace(p, state="missing") if p.name in names else p for p in self.planned]

    def count(self, state: str) -> int:
        """How many trials are in a state."""
        return sum(planned.state == state for planned in self.planned)


def definition_of(trial: Trial) -> str:
    """A data set's definition in a suite, as canonical JSON: the data source, its version, and the given parameters.

    If the data is not available, known records of a data set with an equal definition are used. Parameters with default
    values are left out, so that adding a parameter does not change definitions.
    """
    given = given_parameters(trial.source)
    return canonical_json({"use": trial.dataset_use, "version": type(trial.source).version, "parameters": given})


def make_plan(trials: Iterable[Trial], store: Store, cache: DatasetCache, known: KnownTrials | None = None) -> Plan:
    """Name every trial and look it up in the store and among the known trials.

    Data sets that are not available are noted; the others are planned. A known trial of such a data set counts as done
    if the data set's definition has not changed. If all its trials are known, the data set is not reported as missing.
    A trial is not applicable if its method cannot be used on its data set, unless there is a record of it.
    """
    plan, known = Plan(), known or KnownTrials()
    done, failed = store.names()
    done |= known.done
    failed = (failed | known.failed) - done
    unusable: dict[str, str] = {}
    applicability = _Applicability(cache)
    rows: list[tuple[Trial, str, str, str, str]] = []
    for trial in trials:
        if trial.dataset in plan.unavailable and trial.dataset not in plan.contents:
            continue
        if trial.dataset not in plan.contents:
            definition = plan.definitions[trial.dataset] = definition_of(trial)
            content = attempt(partial(cache.content, trial.dataset_use, trial.source))
            if isinstance(content, BaseException):
                unusable[trial.dataset] = _unusable(content)
                if definition not in known.contents:
                    plan.unavailable[trial.dataset] = unusable[trial.dataset]
                    continue
                content = known.contents[definition]
            plan.contents[trial.dataset] = content
        content = plan.contents[trial.dataset]
        name = trial.name(content)
        state, reason = "done", ""
        if name not in done:
            if trial.dataset in unusable:
                reason = known.inapplicable.get(name, "")
            else:
                if trouble := applicability.want(trial, content):
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
    return f"{'is missing' if isinstance(error, DataUnavailable) else 'cannot be used'}: {with_hint(error)}"


class _Applicability:
    """Checks whether methods apply to data and prices. Questions are asked together, once for all seeds."""

    def __init__(self, cache: DatasetCache) -> None:
        self._cache = cache
        self._priced: dict[tuple[str, str, float | None], DataFacts | str] = {}
        self._questions: dict[tuple[str, str, float | None, str], tuple[Any, DataFacts]] = {}
        self._reasons: dict[tuple[str, str, float | None, str], str] = {}

    def want(self, trial: Trial, content: str) -> str:
        """Collect a question for a trial's method; return an error if its data cannot be used with its prices."""
        key = trial.dataset, trial.costs, trial.threshold
        if key not in self._priced:
            self._priced[key] = self._met(trial, content)
        met = self._priced[key]
        if isinstance(met, str):
            return met
        self._questions.setdefault((*key, fragment(trial.method_use, trial.estimator)), (trial.estimator, met))
        return ""

    def ask(self) -> None:
        """Ask the methods. An error of a method is ignored here: the trial will fail, and its record names it."""
        answers = self._cache.registry.ask_methods("inapplicable", list(self._questions.values()))
        self._reasons = {key: answer or "" for key, answer in zip(self._questions, answers, strict=True)}

    def of(self, trial: Trial) -> str:
        """Why a trial's method does not apply; empty if it does or was not asked."""
        key = trial.dataset, trial.costs, trial.threshold, fragment(trial.method_use, trial.estimator)
        return self._reasons.get(key, "")

    def _met(self, trial: Trial, content: str) -> DataFacts | str:
        """The facts of the data set as methods get it, or an error of the data set or its prices."""
        facts = attempt(partial(self._cache.facts, trial.dataset_use, trial.source, content))
        if isinstance(facts, BaseException):
            return _unusable(facts)
        missing = facts.missing and trial.encode == "raw"
        facts = replace(facts, name=trial.dataset, missing=missing, threshold=trial.threshold)
        units = attempt(partial(trial.scheme.units, facts))
        if isinstance(units, BaseException):
            return f"cannot be priced by {trial.costs!r}: {with_hint(units)}"
        return replace(facts, n_units=units)
