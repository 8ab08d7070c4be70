"""The plan: a suite's trials by name, and which of them the store already holds."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from bench_core.canonical import canonical_json, sha256_text
from bench_core.dataset import DataContext, Dataset, DataSource
from bench_core.errors import BenchError, DataUnavailable
from bench_core.parameters import given
from bench_core.plugins import Registry
from bench_core.sealed import seal, unseal
from bench_core.store import Store
from bench_core.threads import one_blas_thread
from bench_core.trial import Trial, fragment

__all__ = ["DatasetCache", "Known", "Plan", "Planned", "definition_of", "make_plan", "with_hint"]


@dataclass(frozen=True)
class Planned:
    """A trial with its data set's content hash, its name, and its state: ``done``, ``failed`` or ``missing``."""

    trial: Trial
    content: str
    name: str
    state: str


@dataclass
class Plan:
    """What a suite asks for, and what is there.

    Attributes:
        planned: every trial whose data can be had, in the suite's order.
        unavailable: data set label → ``is missing: …`` or ``cannot be used: …``, with the remedy.
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
    """Loads data sets, keeps the last ones up to half a gigabyte, and remembers content hashes in the store.

    A content hash is remembered under the source's parameters, the code of its plugin, and its own fingerprint of
    what it would read, so an unchanged data set need not be loaded to name its trials.

    Attributes:
        fault: what is wrong with the remembered hashes; empty when nothing is. They are then made anew.
    """

    _KEPT_BYTES = 2**29

    def __init__(self, context: DataContext, registry: Registry, store: Path) -> None:
        self.context = context
        self.registry = registry
        self._index_path = store / "datasets.json"
        self._loaded: OrderedDict[str, Dataset] = OrderedDict()
        self._hashes: dict[str, str] = {}
        self._bytes = 0
        self._dirty = False
        self.fault = ""
        try:
            self._hashes = unseal(self._index_path.read_bytes())["hashes"]
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
        if key not in self._hashes:
            self._hashes[key] = self._content(use, source)
            self._dirty = True
        return self._hashes[key]

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
            temporary.write_bytes(seal({"hashes": self._hashes}))
            os.replace(temporary, self._index_path)
        except OSError:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        self._dirty = False


class Known(Protocol):
    """Trials that are known beside the store's: those of a committed export."""

    @property
    def done(self) -> Set[str]:
        """Names of the trials that are done."""

    @property
    def failed(self) -> Set[str]:
        """Names of the trials that failed."""

    @property
    def contents(self) -> Mapping[str, str]:
        """Definition of a data set (see `definition_of`) → its content hash."""


def make_plan(trials: Iterable[Trial], store: Store, cache: DatasetCache, known: Known | None = None) -> Plan:
    """Name every trial and look it up in the store and among those known otherwise.

    Data sets that cannot be had are noted, the rest goes on. What is known of such a data set counts as done when it
    is defined as it was then, and when that is all of it, the data is not missed.
    """
    plan = Plan()
    done, failed = store.names()
    if known is not None:
        done |= known.done
        failed = (failed | known.failed) - done
    contents = plan.contents
    faults: dict[str, str] = {}
    for trial in trials:
        if trial.dataset in plan.unavailable and trial.dataset not in contents:
            continue
        if trial.dataset not in contents:
            definition = plan.definitions[trial.dataset] = definition_of(trial)
            try:
                contents[trial.dataset] = cache.content(trial.dataset_use, trial.source)
            except Exception as error:
                kind = "is missing" if isinstance(error, DataUnavailable) else "cannot be used"
                faults[trial.dataset] = f"{kind}: {with_hint(error)}"
                if known is None or definition not in known.contents:
                    plan.unavailable[trial.dataset] = faults[trial.dataset]
                    continue
                contents[trial.dataset] = known.contents[definition]
        name = trial.name(contents[trial.dataset])
        state = "done" if name in done else "failed" if name in failed else "missing"
        if state == "missing" and trial.dataset in faults:
            plan.unavailable[trial.dataset] = faults[trial.dataset]
            continue
        plan.planned.append(Planned(trial, contents[trial.dataset], name, state))
    cache.save()
    return plan


def with_hint(error: Exception) -> str:
    """An error as one line for people, with what would bring data that cannot be had."""
    message = " ".join(str(error).split())
    if isinstance(error, DataUnavailable) and error.hint:
        return f"{message}; {error.hint}"
    return message if isinstance(error, BenchError) else f"{type(error).__name__}: {message}"
