"""The registry: everything that the loaded plugins offer, by name.

If two plugins claim a name, requesting it raises an error that names both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from bench_core.contract.errors import ContractError, RequestError, attempt, did_you_mean
from bench_core.contract.method import Method
from bench_core.contract.metric import Metric, resolve_metric
from bench_core.contract.parameters import build
from bench_core.contract.sources import CostScheme, DataSource
from bench_core.plugins.catalogue import Catalogue, Plugin
from bench_core.plugins.hookspecs import SuiteSection

if TYPE_CHECKING:
    from bench_core.contract.facts import DataFacts

T = TypeVar("T")


class Registry:
    """Everything the loaded plugins offer, by name.

    Attributes:
        manager: the plugin manager, for hooks that are called later.
        plugins: every installed plugin, broken ones too, in order of name, built-ins first.
        datasets, cost_schemes, methods: classes by name.
        metrics: metrics by name (``ndcg@k`` for every k).
        sections: sections of suite files by key.
        executors: executors of plugins by name.
    """

    def __init__(self, manager: pluggy.PluginManager) -> None:
        self.manager = manager
        self.plugins: dict[str, Plugin] = {}
        self.datasets: Catalogue[type[DataSource]] = Catalogue("data set", DataSource)
        self.cost_schemes: Catalogue[type[CostScheme]] = Catalogue("cost scheme", CostScheme)
        self.methods: Catalogue[type[Method]] = Catalogue("method", Method)
        self.metrics: Catalogue[Metric] = Catalogue("metric", Metric)
        self.sections: Catalogue[SuiteSection] = Catalogue("suite section", SuiteSection, "key")
        self.executors: Catalogue[Callable[[Any], None]] = Catalogue("executor", object)

    def _catalogues(self) -> tuple[Catalogue[Any], ...]:
        return self.datasets, self.cost_schemes, self.methods, self.metrics, self.sections, self.executors

    @property
    def broken(self) -> list[Plugin]:
        """Plugins that could not be loaded."""
        return [plugin for plugin in self.plugins.values() if plugin.error]

    def dataset(self, name: str, where: str = "") -> type[DataSource]:
        """A data source by name.

        Raises:
            RequestError: the name is unknown (the message names the nearest one and broken plugins), or claimed twice.
        """
        return self._get(self.datasets, name, where)

    def cost_scheme(self, name: str, where: str = "") -> type[CostScheme]:
        """A cost scheme by name; raises like `dataset`."""
        return self._get(self.cost_schemes, name, where)

    def method(self, name: str, where: str = "") -> type[Method]:
        """A method by name; raises like `dataset`.

        If its plugin is not imported, it is a `MethodDescription` instead of the class.
        """
        return self._get(self.methods, name, where)

    def build_methods(self, requests: Sequence[tuple[str, Mapping[str, Any], str]]) -> list[Any]:
        """Build methods with parameters, all at once.

        Args:
            requests: name, parameters as read from TOML, and the place for messages.

        Returns:
            For each an instance, or a `ConfiguredMethod` if the plugin is not imported, or a `RequestError` with the
            reason of the refusal.
        """
        return [attempt(partial(self._built, *request)) for request in requests]

    def _built(self, name: str, parameters: Mapping[str, Any], where: str) -> Method:
        return build(self.method(name, where), parameters, where)

    def build_method(self, name: str, parameters: Mapping[str, Any], where: str) -> Any:
        """Build one method with parameters, as `build_methods`; raises as `dataset` and `bench_core.build`."""
        (built,) = self.build_methods([(name, parameters, where)])
        if isinstance(built, BaseException):
            raise built
        return built

    def ask_methods(self, what: str, asked: Sequence[tuple[Any, DataFacts]]) -> list[Any]:
        """Ask methods about data sets, all at once.

        Args:
            what: ``inapplicable`` or ``memory_needed``.
            asked: methods with parameters, and facts.

        Returns:
            The answers; None if a method has no answer or failed.
        """
        answers = [attempt(partial(getattr(method, what), facts)) for method, facts in asked]
        return [None if isinstance(answer, BaseException) else answer for answer in answers]

    def fetch_sections(self, keys: Sequence[str]) -> None:
        """Import the plugins that own these top-level keys of a suite file, if they are not imported."""

    def close(self) -> None:
        """End the processes in which plugins are asked. They are started again when needed."""

    def metric(self, name: str, where: str = "") -> Metric:
        """A metric by name, ``ndcg@5`` from ``ndcg@k``; raises like `dataset`."""
        registered = self._registered_metric(name)
        if registered in self.metrics.claims:
            return self._get(self.metrics, registered, where)
        try:
            return resolve_metric(name, self.metrics)
        except RequestError as error:
            raise RequestError(f"{where}: {error}{self._broken()}" if where else f"{error}{self._broken()}") from None

    def plugin_of(self, kind: str, name: str) -> Plugin:
        """The plugin that registered a name; ``kind`` is ``datasets``, ``cost_schemes``, ``methods``, ``metrics``.

        A metric may have a cut, such as ``ndcg@5`` for ``ndcg@k``.
        """
        if kind == "metrics":
            name = self._registered_metric(name)
        return self.plugins[getattr(self, kind).origins[name]]

    def _registered_metric(self, name: str) -> str:
        return name if name in self.metrics else f"{name.partition('@')[0]}@k"

    def conflicts(self) -> list[str]:
        """An error message for every name that several plugins claim."""
        return [catalogue.conflict(name) for catalogue in self._catalogues() for name in catalogue.claims]

    def _get(self, catalogue: Catalogue[T], name: str, where: str) -> T:
        prefix = f"{where}: " if where else ""
        if name in catalogue.claims:
            raise RequestError(f"{prefix}{catalogue.conflict(name)}; uninstall one of them")
        if name in catalogue:
            return catalogue[name]
        hint = did_you_mean(name, catalogue) or "none is installed"
        raise RequestError(f"{prefix}there is no {catalogue.kind} {name!r}; {hint}{self._broken()}")

    def _broken(self) -> str:
        """The end of a message about an unknown name: plugins that could not be loaded, which may have it."""
        return "".join(f"; plugin {p.name!r} could not be loaded ({p.error})" for p in self.broken)

    def registrars(self, plugin: str) -> dict[str, Callable[..., None]]:
        """Hook → the ``register`` function that it passes to a plugin."""
        return {
            "bench_register_datasets": partial(self.datasets.add_class, plugin),
            "bench_register_cost_schemes": partial(self.cost_schemes.add_class, plugin),
            "bench_register_methods": partial(self.methods.add_class, plugin),
            "bench_register_metrics": partial(self.metrics.add_object, plugin),
            "bench_register_suite_sections": partial(self.sections.add_object, plugin),
            "bench_register_executors": partial(self._add_executor, plugin),
        }

    def with_own_name(self, plugin: Plugin) -> Plugin:
        """Return the plugin; if its name is taken, return it with another name and an error."""
        if plugin.name not in self.plugins:
            return plugin
        error = f"the plugin name {plugin.name!r} is already taken by {self.plugins[plugin.name].distribution!r}"
        return replace(plugin, name=f"{plugin.name} ({plugin.distribution})", error=error)

    def drop(self, plugin: str, error: str) -> None:
        """Mark a plugin as broken, and remove everything that it registered."""
        for catalogue in self._catalogues():
            catalogue.drop(plugin)
        self.plugins[plugin] = replace(self.plugins[plugin], error=error)

    def _add_executor(self, plugin: str, name: str, executor: Any) -> None:
        if not callable(executor):
            raise ContractError(f"an executor must be called with its work, not {executor!r}")
        self.executors.add(plugin, name, executor)
