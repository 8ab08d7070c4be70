"""What every verb about a suite needs: the registry, the suite, the store, the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench_core.analysis.export import Committed, state_of
from bench_core.analysis.records import Records, collect
from bench_core.contract.dataset import DataContext
from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.registry import Registry, load_registry
from bench_core.run.plan import DatasetCache, Plan, make_plan
from bench_core.run.store import Store
from bench_core.run.suite import Suite, load_suite

__all__ = ["SuiteSession", "parse_only"]

KINDS = ("dataset", "method", "costs")


@dataclass
class SuiteSession:
    """A suite with the places it is run in.

    Attributes:
        suite: the checked suite.
        registry: the loaded plugins.
        store: the directory of records.
        out: the leaderboard's directory.
        context: where data comes from.
    """

    suite: Suite
    registry: Registry
    store: Store
    out: Path
    context: DataContext
    _committed: Committed | None = field(default=None, init=False, repr=False)

    @classmethod
    def open(cls, path: Path, store: Path, out: Path, context: DataContext | None = None) -> SuiteSession:
        """Load the plugins and the suite.

        Raises:
            RequestError: the suite is wrong, or needs a plugin that is broken.
        """
        registry = load_registry()
        suite = load_suite(path, registry)
        return cls(suite, registry, Store(store), out, context or DataContext.from_environment())

    @cached_property
    def cache(self) -> DatasetCache:
        """Loaded data sets and remembered content hashes."""
        return DatasetCache(self.context, self.registry, self.store.path)

    @property
    def committed(self) -> Committed:
        """The suite's committed export as it is now, read again when its file changed; it need not be there."""
        if self._committed is None or self._committed.state != state_of(self.folder):
            self._committed = Committed(self.folder, self.suite.needed_metrics())
        return self._committed

    def plan(self, seeds: int | None = None, only: Mapping[str, list[str]] | None = None) -> Plan:
        """The suite's plan, or a part of it. Trials of the store and of the committed export are done."""
        return make_plan(self.suite.trials(seeds, only), self.store, self.cache, self.committed)

    @property
    def folder(self) -> Path:
        """Where the suite's export lies."""
        return self.out / self.suite.name

    def warnings(self) -> list[str]:
        """A line for everything that was found damaged so far, and is not believed."""
        return [*self.store.warnings(), *([self.cache.fault] if self.cache.fault else [])]

    def records(self, plan: Plan | None = None) -> Records:
        """The suite's records: the store's, and from the committed export what the store does not have."""
        metrics = self.suite.needed_metrics()
        return collect(plan or self.plan(), self.store, metrics, self.committed.records)


def parse_only(given: tuple[str, ...], suite: Suite) -> dict[str, list[str]]:
    """``--only KIND=NAME`` options as a filter.

    Raises:
        RequestError: not KIND=NAME, an unknown kind, or a name that the suite does not have.
    """
    known = {
        "dataset": suite.dataset_names(),
        "method": suite.method_names(),
        "costs": [costs for _, costs in suite.grids],
    }
    wanted: dict[str, list[str]] = {}
    for option in given:
        kind, equals, name = option.partition("=")
        if not equals or kind not in KINDS:
            raise RequestError(f"--only {option}: say KIND=NAME with KIND one of {', '.join(KINDS)}")
        if name not in known[kind]:
            hint = did_you_mean(name, known[kind])
            raise RequestError(f"--only {option}: the suite has no {kind} {name!r}; {hint}")
        wanted.setdefault(kind, []).append(name)
    return wanted
