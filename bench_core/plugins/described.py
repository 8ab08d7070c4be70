"""The judge's registry: it knows plugins by their descriptions and never imports them for their methods.

A plugin is imported here when one of its data sets, cost schemes, metrics, executors or sections is requested by name,
because these run in the judge if a suite uses them. Plugins of distributions without methods may have other hooks that
act in the judge; they are imported at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from bench_core.contract.errors import ProbeError, RequestError, attempt
from bench_core.contract.facts import DataFacts
from bench_core.contract.method import beyond
from bench_core.contract.parameters import check_values
from bench_core.contract.sources import DataContext
from bench_core.plugins import hookspecs
from bench_core.plugins import manager as loading
from bench_core.plugins.catalogue import Plugin
from bench_core.plugins.descriptions import (
    Built,
    ConfiguredMethod,
    MethodDescription,
    PluginDescription,
    Unimported,
    configured,
)
from bench_core.plugins.probe import Probe, Question
from bench_core.plugins.registry import Registry

__all__ = ["DescribedRegistry", "described_registry"]

_Places = dict[tuple[str, DataFacts | None], list[int]]
"""Plugin and facts of the data set in question → positions of the questions."""
_REGISTERING = {f"bench_register_{kind}" for kind in ("datasets", "cost_schemes", "methods", "metrics", "executors")}


def described_registry(
    manager: pluggy.PluginManager | None = None,
    cache: Path | None = None,
    closed: Iterable[Path] = (),
    *,
    acting: bool = True,
) -> Registry:
    """Make a registry of the built-ins and of the descriptions of all installed plugins.

    Args:
        manager: the plugin manager; a new one by default.
        cache: the folder for descriptions; by default the one that the environment names.
        closed: paths that plugins must not read while they are described.
        acting: whether to import the plugins with hooks other than registering ones.
    """
    cache = DataContext.from_environment().cache if cache is None else cache
    registry = DescribedRegistry(manager or loading.new_manager(), Probe(cache, closed))
    loading.fill(registry, loading.candidates())
    for plugin in loading.installed(registry.manager):
        registry.add(plugin)
    if acting:
        registry.import_acting()
    return registry


class DescribedRegistry(Registry):
    """A registry that holds descriptions instead of methods, and imports everything else on first access.

    Args:
        manager: the plugin manager.
        probe: describes plugins, and asks them about their methods.

    Attributes:
        descriptions: descriptions by plugin.
        imported: the plugins that have been imported.
    """

    def __init__(self, manager: pluggy.PluginManager, probe: Probe) -> None:
        super().__init__(manager)
        self._probe = probe
        self.descriptions: dict[str, PluginDescription] = {}
        self.imported: set[str] = set()

    def add(self, plugin: Plugin) -> None:
        """Register a plugin by its description; record it as broken if it cannot be described."""
        plugin = self.with_own_name(plugin)
        self.plugins[plugin.name] = plugin
        loading.take_step(self, plugin.name, partial(self._offer, plugin))

    def _offer(self, plugin: Plugin) -> None:
        """Register the names in a plugin's description.

        Raises:
            ProbeError: it cannot be described.
            ContractError: an invalid name.
        """
        description = self._probe.describe(plugin)
        self.descriptions[plugin.name] = description
        fetch = partial(self.fetch, plugin.name)
        for kind in ("datasets", "cost_schemes", "metrics"):
            for name, about in getattr(description, kind).items():
                getattr(self, kind).add(plugin.name, name, Unimported(about, fetch))
        for name in description.executors:
            self.executors.add(plugin.name, name, Unimported(None, fetch))
        for name, method in description.methods.items():
            self.methods.add(plugin.name, name, method)

    def import_acting(self) -> None:
        """Import plugins of distributions without methods, if they have hooks other than registering ones.

        Other plugins are not imported here. The texts that they register through each other's hooks are taken from
        their descriptions.
        """
        plugins, descriptions = self.plugins, self.descriptions
        with_methods = {plugins[name].distribution for name, found in descriptions.items() if found.methods}
        acting = [
            name
            for name, found in descriptions.items()
            if plugins[name].distribution not in with_methods and _acts(found)
        ]
        for name in sorted(acting, key=lambda name: "bench_add_hookspecs" not in descriptions[name].hooks):
            with suppress(RequestError):  # kept as the plugin's error
                self.fetch(name)
        for name in [name for name in descriptions if name not in self.imported]:
            loading.take_step(self, name, partial(self._register_texts, name))

    def fetch(self, plugin: str) -> None:
        """Import a plugin into this process. Its methods stay descriptions.

        Raises:
            RequestError: it cannot be imported, or lacks something that its description names.
        """
        if plugin in self.imported or plugin not in self.descriptions:
            return
        self.imported.add(plugin)
        loading.unregister(self.manager, plugin)  # the substitute that registered its texts
        real, point = Registry(self.manager), metadata.EntryPoint(plugin, self.plugins[plugin].module, loading.GROUP)
        loading.fill(real, [(self.plugins[plugin], point.load)])
        error = real.plugins[plugin].error
        for mine, there in zip(self._catalogues(), real._catalogues(), strict=True):
            for name in [name for name, origin in mine.origins.items() if origin == plugin]:
                if not isinstance(mine.data[name], Unimported):
                    continue
                if name in there:
                    mine[name] = there[name]
                elif not error:
                    error = f"its description names the {mine.kind} {name!r}, which it does not register"
        for key, section in real.sections.items():
            self.sections.add(plugin, key, section)
        if error:
            self.drop(plugin, error)
            raise RequestError(f"plugin {plugin!r} could not be loaded: {error}")

    def fetch_sections(self, keys: Sequence[str]) -> None:
        for plugin, description in self.descriptions.items():
            if any(key in keys for key in description.sections):
                self.fetch(plugin)

    def build_methods(self, requests: Sequence[Question]) -> list[Any]:
        built: list[Any] = [attempt(partial(self._checked, *request)) for request in requests]
        places: _Places = defaultdict(list)
        for i, description in enumerate(built):
            if isinstance(description, MethodDescription):
                places[self.methods.origins[requests[i][0]], None].append(i)
        for i, plugin, answer in self._answers("build", places, requests):
            name, _, where = requests[i]
            if isinstance(answer, ProbeError):
                answer = RequestError(f"{where}: plugin {plugin!r} cannot be asked about its methods: {answer}")
            built[i] = configured(name, plugin, built[i], answer) if isinstance(answer, Built) else answer
        return built

    def _checked(self, name: str, parameters: Mapping[str, Any], where: str) -> Any:
        """The description of a method, after a check of its parameters' values; raises as `build_method`."""
        description = self.method(name, where)
        check_values(parameters, where)
        return description

    def ask_methods(self, what: str, asked: Sequence[tuple[ConfiguredMethod, DataFacts]]) -> list[Any]:
        answers: list[Any] = [None] * len(asked)
        places: _Places = defaultdict(list)
        for i, (method, facts) in enumerate(asked):
            if what == "inapplicable" and method.limits is not None:
                answers[i] = beyond(method.limits, facts)
            elif what == "inapplicable" or method.asks_memory:
                places[method.plugin, facts].append(i)
        questions = [(method.use, method.given, method.use) for method, _ in asked]
        for i, _, answer in self._answers(what, places, questions):
            answers[i] = None if isinstance(answer, ProbeError) else answer
        return answers

    def _answers(self, what: str, places: _Places, questions: Sequence[Question]) -> Iterator[tuple[int, str, Any]]:
        """Yield position of a question, plugin, answer; if a plugin fails, its error is the answer to each question."""
        for (plugin, facts), here in places.items():
            try:
                answers = self._probe.ask(self.plugins[plugin], what, [questions[i] for i in here], facts)
            except ProbeError as error:
                answers = [error] * len(here)
            yield from zip(here, [plugin] * len(here), answers, strict=True)
        self._probe.save()

    def close(self) -> None:
        self._probe.close()

    def _register_texts(self, name: str) -> None:
        """Register a plugin's texts for hooks of other plugins, through a substitute object without the plugin's code.

        Raises:
            ContractError: the plugin has an unknown hook.
        """
        loading.check_hooks(self.manager, name, self.descriptions[name].hooks)
        substitute = ModuleType(name)
        for hook, calls in self.descriptions[name].registrations.items():
            setattr(substitute, hook, _registering(calls))  # the attribute's name is the hook's
        self.manager.register(substitute, name=name)


def _registering(calls: Sequence[Sequence[str]]) -> Callable[..., None]:
    """Make a hook implementation that registers these texts."""

    @hookspecs.hookimpl(optionalhook=True)
    def register_all(register: Callable[..., object]) -> None:
        for texts in calls:
            register(*texts)

    return register_all


def _acts(description: PluginDescription) -> bool:
    """Whether a plugin has a hook that does more than register the contents of its description."""
    hooks = {hook for hook, optional in description.hooks.items() if optional is not None}
    return bool(hooks - _REGISTERING - set(description.registrations))
