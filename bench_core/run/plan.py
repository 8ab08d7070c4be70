"""The plan: a suite's trials by name, and which of them the store already holds."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench_core.contract.canonical import canonical_json, sha256_text
from bench_core.contract.dataset import DataContext, Dataset, DataSource
from bench_core.contract.errors import BenchError, DataUnavailable
from bench_core.contract.facts import DataFacts, facts_of
from bench_core.contract.parameters import given
from bench_core.plugins.registry import Registry
from bench_core.run.known import NOTHING_KNOWN, KnownTrials
from bench_core.run.sealed import seal, unseal
from bench_core.run.store import Store
from bench_core.run.threads import one_blas_thread
from bench_core.run.trial import Trial, fragment

__all__ = ["DatasetCache", "Plan", "Planned", "definition_of", "make_plan", "with_hint"]


@dataclass(frozen=True)
class Planned:
    """A trial with its data set's content hash, its name, and how it stands.

    Attributes:
        state: ``done``, ``failed``, ``missing``, or ``not applicable``: its method cannot be tried on its data set.
        reason: why it is not applicable; else empty.
    """

    trial: Trial
    content: str
    name: str
    state: str
    reason: str = ""


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

    def to_run(self, retry_failed: bool = False) -> list[Planned]:
        """Trials still to be computed, each name once."""
        wanted: OrderedDict[str, Planned] = OrderedDict()
        for planned in self.planned:
            if planned.state == "missing" or (retry_failed and planned.state == "failed"):
                wanted.setdefault(planned.name, planned)
        return list(wanted.values())

    def forget(self, names: Set[str]) -> None:
        """Trials of these names are missing after all."""
        if names:
            self.planned = [replace(p, state="missing") if p.name in names else p for p in self.planned]

    def count(self, state: str) -> int:
        """How many trials are in a state."""
        return sum(planned.state == state for planned in self.planned)

    def inapplicable(self) -> dict[tuple[str, str, str], str]:
        """(data set, cost scheme, method) → why a trial of it is not applicable."""
        return {
            (planned.trial.dataset, planned.trial.costs, planned.trial.method): planned.reason
            for planned in self.planned
            if planned.state == "not applicable"
        }


def definition_of(trial: Trial) -> str:
    """What a suite says its data set is, as canonical JSON: what is used, its version, and the parameters given.

    Where the data cannot be had, an equal definition is the reason to believe that its records are still of it.
    Parameters that are their defaults are left out, so that a new one does not make a new definition.
    """
    source = trial.source
    return canonical_json(
        {"use": trial.dataset_use, "version": type(source).version, "parameters": given(source)}
    )


class DatasetCache:
    """Loads data sets, keeps the last ones up to half a gigabyte, and remembers hashes and facts in the store.

    They are remembered under the source's parameters, the code of its plugin, and its own fingerprint of what it
    would read, so an unchanged data set need not be loaded to name its trials.

    Attributes:
        fault: what is wrong with what is remembered; empty when nothing is. It is then made anew.
    """

    _KEPT_BYTES = 2**29

    def __init__(self, context: DataContext, registry: Registry, store: Path) -> None:
        self.context = context
        self.registry = registry
        self._index_path = store / "datasets.json"
        self._loaded: OrderedDict[str, Dataset] = OrderedDict()
        self._known: dict[str, Any] = {}
        self._bytes = 0
        self._dirty = False
        self.fault = ""
        try:
            known = unseal(self._index_path.read_bytes())["hashes"]
            self._known = known if isinstance(known, dict) else {}
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError, KeyError) as error:
            self.fault = f"{self._index_path} is not believed ({error}); data sets are hashed again"
            self._dirty = True

    def content(self, use: str, source: DataSource) -> str:
        """The content hash of a source's data set, loading it only when nothing is remembered.

        Raises:
            BenchError: it cannot be loaded.
        """
        print_of_source = source.fingerprint(self.context)
        if print_of_source is None:
            return self._content(use, source)
        plugin = self.registry.plugin_of("datasets", use).source
        key = sha256_text(f"{plugin}|{fragment(use, source)}|{print_of_source}")
        if not isinstance(self._known.get(key), str):
            self._known[key] = self._content(use, source)
            self._dirty = True
        return str(self._known[key])

    def facts(self, use: str, source: DataSource, content: str) -> DataFacts:
        """The facts of the data set with a content hash, loading it only when nothing is remembered.

        Raises:
            BenchError: it cannot be loaded.
        """
        key = f"facts|{content}"
        try:
            return DataFacts.from_plain(self._known[key])
        except (KeyError, TypeError):
            facts = facts_of(self.load(use, source))
            self._known[key] = facts.as_plain()
            self._dirty = True
            return facts

    def _content(self, use: str, source: DataSource) -> str:
        with one_blas_thread():
            known = source.content(self.context)
        return known if known is not None else self.load(use, source).content

    def load(self, use: str, source: DataSource) -> Dataset:
        """The data set of a source."""
        key = fragment(use, source)
        if key in self._loaded:
            self._loaded.move_to_end(key)
            return self._loaded[key]
        with one_blas_thread():
            dataset = source.load(self.context)
        self._loaded[key] = dataset
        self._bytes += dataset.values.nbytes
        while self._bytes > self._KEPT_BYTES and len(self._loaded) > 1:
            self._bytes -= self._loaded.popitem(last=False)[1].values.nbytes
        return dataset

    def forget(self, use: str, source: DataSource) -> None:
        """Load the data set of a source anew when it is next asked for."""
        dataset = self._loaded.pop(fragment(use, source), None)
        self._bytes -= 0 if dataset is None else dataset.values.nbytes

    def save(self) -> None:
        """Write the remembered hashes, if there are new ones; where that cannot be done, they are not remembered."""
        if not self._dirty:
            return
        temporary = self._index_path.with_name(f"datasets.json.{os.getpid()}")
        try:
            self._index_path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(seal({"hashes": self._known}))
            os.replace(temporary, self._index_path)
        except OSError:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        self._dirty = False


def make_plan(
    trials: Iterable[Trial], store: Store, cache: DatasetCache, known: KnownTrials = NOTHING_KNOWN
) -> Plan:
    """Name every trial and look it up in the store and among those known otherwise.

    Data sets that cannot be had are noted, the rest goes on. What is known of such a data set counts as done when it
    is defined as it was then, and when that is all of it, the data is not missed. A method that cannot be tried on a
    data set is not applicable there, unless there is a record of it.
    """
    plan = Plan()
    done, failed = store.names()
    done |= known.done
    failed = (failed | known.failed) - done
    contents = plan.contents
    faults: dict[str, str] = {}
    fit = _Fit(cache)
    for trial in trials:
        if trial.dataset in plan.unavailable and trial.dataset not in contents:
            continue
        if trial.dataset not in contents:
            definition = plan.definitions[trial.dataset] = definition_of(trial)
            try:
                contents[trial.dataset] = cache.content(trial.dataset_use, trial.source)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # sys.exit() in a plugin, too
                faults[trial.dataset] = _unusable(error)
                if definition not in known.contents:
                    plan.unavailable[trial.dataset] = faults[trial.dataset]
                    continue
                contents[trial.dataset] = known.contents[definition]
        content = contents[trial.dataset]
        name = trial.name(content)
        if name in done:
            plan.planned.append(Planned(trial, content, name, "done"))
            continue
        if trial.dataset in faults:
            reason = known.inapplicable.get(name)
        else:
            fault, reason = fit.of(trial, content)
            if fault:
                plan.unavailable.setdefault(trial.dataset, fault)
                continue
        if reason:
            plan.planned.append(Planned(trial, content, name, "not applicable", reason))
        elif name in failed:
            plan.planned.append(Planned(trial, content, name, "failed"))
        elif trial.dataset in faults:
            plan.unavailable[trial.dataset] = faults[trial.dataset]
        else:
            plan.planned.append(Planned(trial, content, name, "missing"))
    cache.save()
    return plan


def _unusable(error: BaseException) -> str:
    kind = "is missing" if isinstance(error, DataUnavailable) else "cannot be used"
    return f"{kind}: {with_hint(error)}"


class _Fit:
    """Whether data, prices and method go together, asked once for all seeds."""

    def __init__(self, cache: DatasetCache) -> None:
        self._cache = cache
        self._priced: dict[tuple[str, str], DataFacts | str] = {}
        self._reasons: dict[tuple[str, str, int], str | None] = {}

    def of(self, trial: Trial, content: str) -> tuple[str, str | None]:
        """Why the data set cannot be used under the trial's prices, and why its method does not apply there."""
        key = trial.dataset, trial.costs
        if key not in self._priced:
            self._priced[key] = self._met(trial, content)
        met = self._priced[key]
        if isinstance(met, str):
            return met, None
        asked = (*key, id(trial.estimator))
        if asked not in self._reasons:
            try:
                self._reasons[asked] = trial.estimator.inapplicable(met)
            except KeyboardInterrupt:
                raise
            except BaseException:  # the trial will say what is wrong with the method
                self._reasons[asked] = None
        return "", self._reasons[asked]

    def _met(self, trial: Trial, content: str) -> DataFacts | str:
        """The data set as methods meet it, or what is wrong with it or its prices."""
        try:
            facts = self._cache.facts(trial.dataset_use, trial.source, content)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _unusable(error)
        facts = replace(facts, name=trial.dataset, missing=facts.missing and trial.encode == "raw")
        try:
            return replace(facts, n_units=trial.scheme.units(facts))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return f"cannot be priced by {trial.costs!r}: {with_hint(error)}"


def with_hint(error: BaseException) -> str:
    """An error as one line for people, with what would bring data that cannot be had."""
    message = " ".join(str(error).split())
    if isinstance(error, DataUnavailable) and error.hint:
        return f"{message}; {error.hint}"
    return message if isinstance(error, BenchError) else f"{type(error).__name__}: {message}"
