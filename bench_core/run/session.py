"""The session that every command for suites uses: registry, suite, store and plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.known import KnownTrials
from bench_core.contract.sources import DataContext
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.plan import Plan, make_plan
from bench_core.run.store import Store
from bench_core.run.suite import Suite
from bench_core.run.suite_file import load_suite


@dataclass
class SuiteSession:
    """A suite, the loaded plugins, and the folders for records, pages and data."""

    suite: Suite
    registry: Registry
    store: Store
    out: Path
    context: DataContext
    _known: KnownTrials = field(default_factory=KnownTrials, init=False, repr=False)

    @classmethod
    def open(
        cls, path: Path, store: Path, out: Path, context: DataContext, registry: Registry | None = None
    ) -> SuiteSession:
        """Load the suite, and the plugins unless a registry is given; raises as `load_suite`, or if out is in store."""
        registry = registry or load_registry()
        if out.resolve().is_relative_to(store.resolve()):
            raise RequestError(f"--out {out} is the store {store} or inside it: choose another folder")
        return cls(load_suite(path, registry), registry, Store(store), out, context)

    @cached_property
    def cache(self) -> DatasetCache:
        """Loaded data sets and remembered content hashes."""
        return DatasetCache(self.context, self.registry, self.store.path)

    @property
    def known(self) -> KnownTrials:
        """Trials that a plugin knows in addition to the store; read again if they have changed."""
        if not self._known.is_current:
            self._known = self.registry.manager.hook.bench_known_trials(session=self) or KnownTrials()
        return self._known

    def plan(self, seeds: int | None = None, only: Mapping[str, list[str]] | None = None) -> Plan:
        """The suite's plan, or a part of it. Trials in the store and known trials are done.

        Raises:
            RequestError: a metric of selection fits none of its data sets (`Suite.check_tasks`).
        """
        plan = make_plan(self.suite.trials(seeds, only), self.store, self.cache, self.known)
        self.suite.check_tasks({name: self.cache.task(content) for name, content in plan.contents.items()})
        return plan

    @property
    def folder(self) -> Path:
        """The suite's own folder in `out`."""
        return self.out / self.suite.name

    def warnings(self) -> list[str]:
        """A line for every damaged file found so far; damaged files are not used."""
        return [*self.store.warnings(), *(filter(None, [self.cache.damage]))]


def parse_only(options: tuple[str, ...], suite: Suite) -> dict[str, list[str]]:
    """``--only KIND=NAME`` options as a filter.

    Raises:
        RequestError: not KIND=NAME, an unknown kind, or a name that the suite does not have.
    """
    known = {"dataset": suite.dataset_names(), "method": suite.method_names(), "costs": [c for _, c in suite.grids]}
    chosen: dict[str, list[str]] = {}
    for option in options:
        kind, equals, name = option.partition("=")
        if not equals or kind not in known:
            raise RequestError(f"--only {option}: say KIND=NAME with KIND one of {', '.join(known)}")
        if name not in known[kind]:
            raise RequestError(f"--only {option}: the suite has no {kind} {name!r}; {did_you_mean(name, known[kind])}")
        chosen.setdefault(kind, []).append(name)
    return chosen
