"""The registry: everything that the loaded plugins offer, by name.

Two plugins that claim one name are an error that names both, raised when that name is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import pluggy

from bench_core.contract.canonical import source_hash
from bench_core.contract.costs import CostScheme
from bench_core.contract.dataset import DataSource
from bench_core.contract.errors import ContractError, RequestError, did_you_mean
from bench_core.contract.method import Method
from bench_core.contract.metric import Metric, resolve_metric
from bench_core.plugins.sections import SuiteSection

__all__ = ["Plugin", "Registry"]

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """One plugin, loaded or broken.

    Attributes:
        name: the entry point's name.
        distribution: the distribution it is installed as; may be empty.
        version: that distribution's version.
        module: what the entry point names.
        error: why it could not be loaded; empty when it was.
        folder: where its code is, for the source hash: a folder, or a single file.
    """

    name: str
    distribution: str
    version: str
    module: str
    error: str = ""
    folder: Path | None = None

    @property
    def source(self) -> str:
        """SHA-256 of the plugin's Python files (provenance); empty when they cannot be found."""
        cached = self.__dict__.get("_source")
        if cached is None:
            cached = source_hash(self.folder) if self.folder is not None and self.folder.exists() else ""
            object.__setattr__(self, "_source", cached)
        return cast(str, cached)


@dataclass
class _Shelf(Generic[T]):
    """Registered things of one kind, by name, with the plugin each came from."""

    kind: str
    things: dict[str, T] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    taken: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, thing: T, plugin: str) -> None:
        if name in self.things:
            self.taken.setdefault(name, [self.origins[name]]).append(plugin)
            return
        self.things[name], self.origins[name] = thing, plugin

    def drop(self, plugin: str) -> None:
        """Forget what a plugin registered before it failed."""
        for name in [name for name, origin in self.origins.items() if origin == plugin]:
            del self.things[name], self.origins[name]
        for name, claimants in list(self.taken.items()):
            left = [claimant for claimant in claimants if claimant != plugin]
            if len(left) > 1:
                self.taken[name] = left
            else:
                del self.taken[name]


class Registry:
    """Everything the loaded plugins offer, by name.

    Attributes:
        manager: the one plugin manager, for hooks that are called later.
        plugins: every plugin found, broken ones too, in order of name, built-ins first.
    """

    def __init__(self, manager: pluggy.PluginManager) -> None:
        self.manager = manager
        self.plugins: dict[str, Plugin] = {}
        self._datasets: _Shelf[type[DataSource]] = _Shelf("data set")
        self._cost_schemes: _Shelf[type[CostScheme]] = _Shelf("cost scheme")
        self._methods: _Shelf[type[Method]] = _Shelf("method")
        self._metrics: _Shelf[Metric] = _Shelf("metric")
        self._sections: _Shelf[SuiteSection] = _Shelf("suite section")
        self._shelves: tuple[_Shelf[Any], ...] = (
            self._datasets, self._cost_schemes, self._methods, self._metrics, self._sections,
        )  # fmt: skip

    @property
    def datasets(self) -> Mapping[str, type[DataSource]]:
        """Data sources by name."""
        return self._datasets.things

    @property
    def cost_schemes(self) -> Mapping[str, type[CostScheme]]:
        """Cost schemes by name."""
        return self._cost_schemes.things

    @property
    def methods(self) -> Mapping[str, type[Method]]:
        """Methods by name."""
        return self._methods.things

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics by name (``ndcg@k`` stands for every k)."""
        return self._metrics.things

    @property
    def sections(self) -> Mapping[str, SuiteSection]:
        """Sections of suite files by key."""
        return self._sections.things

    @property
    def broken(self) -> list[Plugin]:
        """Plugins that could not be loaded."""
        return [plugin for plugin in self.plugins.values() if plugin.error]

    def dataset(self, name: str, where: str = "") -> type[DataSource]:
        """A data source by name.

        Raises:
            RequestError: unknown (the nearest name and any broken plugin are said), or claimed twice.
        """
        return self._get(self._datasets, name, where)

    def cost_scheme(self, name: str, where: str = "") -> type[CostScheme]:
        """A cost scheme by name; raises like `dataset`."""
        return self._get(self._cost_schemes, name, where)

    def method(self, name: str, where: str = "") -> type[Method]:
        """A method by name; raises like `dataset`."""
        return self._get(self._methods, name, where)

    def metric(self, name: str, where: str = "") -> Metric:
        """A metric by name, ``ndcg@5`` from ``ndcg@k``; raises like `dataset`."""
        registered = name if name in self.metrics else f"{name.partition('@')[0]}@k"
        if registered in self._metrics.taken:
            return self._get(self._metrics, registered, where)
        try:
            return resolve_metric(name, self.metrics)
        except RequestError as error:
            raise RequestError(
                f"{where}: {error}{self._broken()}" if where else f"{error}{self._broken()}"
            ) from None

    def plugin_of(self, kind: str, name: str) -> Plugin:
        """The plugin that registered a name; ``kind`` is ``datasets``, ``cost_schemes``, ``methods``, ``metrics``."""
        shelf = cast("_Shelf[Any]", getattr(self, f"_{kind}"))
        return self.plugins[shelf.origins[name]]

    def conflicts(self) -> list[str]:
        """A sentence for every name that several plugins claim."""
        return [self._conflict(shelf, name) for shelf in self._shelves for name in shelf.taken]

    @staticmethod
    def _conflict(shelf: _Shelf[Any], name: str) -> str:
        return f"the {shelf.kind} name {name!r} is claimed by plugins {' and '.join(map(repr, shelf.taken[name]))}"

    def _get(self, shelf: _Shelf[T], name: str, where: str) -> T:
        prefix = f"{where}: " if where else ""
        if name in shelf.taken:
            raise RequestError(f"{prefix}{self._conflict(shelf, name)}; uninstall one of them")
        if name in shelf.things:
            return shelf.things[name]
        hint = did_you_mean(name, shelf.things)
        raise RequestError(
            f"{prefix}there is no {shelf.kind} {name!r}; {hint or 'none is installed'}{self._broken()}"
        )

    def _broken(self) -> str:
        """What to add to a message about a name that is missing: it may be in a plugin that did not load."""
        return "".join(f"; plugin {p.name!r} could not be loaded ({p.error})" for p in self.broken)

    def registrars(self, plugin: str) -> dict[str, Callable[..., None]]:
        """Hook → the ``register`` that a plugin is given by it."""
        return {
            "bench_register_datasets": self._registrar(self._datasets, DataSource, plugin),
            "bench_register_cost_schemes": self._registrar(self._cost_schemes, CostScheme, plugin),
            "bench_register_methods": self._registrar(self._methods, Method, plugin),
            "bench_register_metrics": lambda metric: self._add_metric(metric, plugin),
            "bench_register_suite_sections": lambda section: self._add_section(section, plugin),
        }

    def drop(self, plugin: str) -> None:
        """Forget what a plugin registered before it failed."""
        for shelf in self._shelves:
            shelf.drop(plugin)

    def _registrar(self, shelf: _Shelf[Any], base: type, plugin: str) -> Callable[[str, Any], None]:
        def register(name: str, thing: Any) -> None:
            if not isinstance(name, str) or not name.strip():
                raise ContractError(f"a {shelf.kind} needs a name, not {name!r}")
            if not (isinstance(thing, type) and issubclass(thing, base)):
                raise ContractError(
                    f"{shelf.kind} {name!r} must be a subclass of {base.__name__}, not {thing!r}"
                )
            if not hasattr(thing, "__dataclass_fields__"):
                raise ContractError(
                    f"{shelf.kind} {name!r}: {thing.__name__} must be a dataclass (frozen=True)"
                )
            shelf.add(name, thing, plugin)

        return register

    def _add_metric(self, metric: Any, plugin: str) -> None:
        if not isinstance(metric, Metric):
            raise ContractError(f"a metric must be a bench_core.Metric, not {metric!r}")
        if not isinstance(metric.name, str) or not metric.name.strip():
            raise ContractError(f"a metric needs a name, not {metric.name!r}")
        self._metrics.add(metric.name, metric, plugin)

    def _add_section(self, section: Any, plugin: str) -> None:
        if not isinstance(section, SuiteSection):
            raise ContractError(f"a section of suites must be a bench_core.SuiteSection, not {section!r}")
        self._sections.add(section.key, section, plugin)
