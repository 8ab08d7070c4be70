"""The registry of a judge: what plugins offer, by their descriptions; no plugin is imported for its methods.

A plugin is imported here when a data set, cost scheme, metric, executor or section of it is asked for by name: what a
suite uses of these kinds runs in the judge, by the suite's own choice. A distribution that brings no method may act in
the judge by other hooks, and is imported at once.
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
"""Plugin and facts of the data set that is asked about → places of the questions."""
_REGISTERING = {f"bench_register_{kind}" for kind in ("datasets", "cost_schemes", "methods", "metrics", "executors")}


def described_registry(
    manager: pluggy.PluginManager | None = None,
    cache: Path | None = None,
    closed: Iterable[Path] = (),
    *,
    acting: bool = True,
) -> Registry:
    """The built-ins, and what every installed plugin offers by its description.

    Args:
        manager: what to register plugins with; a new one by default.
        cache: the folder where descriptions are kept; that of the environment by default.
        closed: what plugins must not read while they are described.
        acting: whether to import the plugins that act by hooks that register nothing.
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
    """A registry whose methods are descriptions, and whose other things are imported when they are asked for.

    Args:
        manager: the plugin manager.
        probe: describes plugins, and asks them about their methods.

    Attributes:
        descriptions: by plugin.
        imported: the plugins among those that have been imported.
    """

    def __init__(self, manager: pluggy.PluginManager, probe: Probe) -> None:
        super().__init__(manager)
        self._probe = probe
        self.descriptions: dict[str, PluginDescription] = {}
        self.imported: set[str] = set()

    def add(self, plugin: Plugin) -> None:
        """Register what a plugin offers by its description; keep it as broken where it has none."""
        plugin = self.with_own_name(plugin)
        self.plugins[plugin.name] = plugin
        loading.take_step(self, plugin.name, partial(self._offer, plugin))

    def _offer(self, plugin: Plugin) -> None:
        """Register what a plugin's description names.

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
        """Import the plugins that act by hooks that register nothing, of distributions that bring no method.

        The texts that other plugins register by hooks beyond the core's are registered for them.
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
        """Import a plugin into this process, but for its methods.

        Raises:
            RequestError: it cannot be imported, or does not offer what its description says.
        """
        if plugin in self.imported or plugin not in self.descriptions:
            return
        self.imported.add(plugin)
        loading.unregister(self.manager, plugin)  # what registers its texts
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
                    error = f"its description has a {mine.kind} {name!r}, and it has none"
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
        """The description of a method that is to have some parameters; raises as `build_method`."""
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
        """Place of a question, plugin, answer; where a plugin does not answer, the same error for each question."""
        for (plugin, facts), here in places.items():
            try:
                answers = self._probe.ask(self.plugins[plugin], what, [questions[i] for i in here], facts)
            except ProbeError as error:
                answers = [error] * len(here)
            yield from zip(here, [plugin] * len(here), answers, strict=True)

    def close(self) -> None:
        self._probe.close()

    def _register_texts(self, name: str) -> None:
        """Let an object that holds none of a plugin's code register the texts that it registers by others' hooks.

        Raises:
            ContractError: the plugin has an unknown hook.
        """
        loading.check_hooks(self.manager, name, self.descriptions[name].hooks)
        substitute = ModuleType(name)
        for hook, calls in self.descriptions[name].registrations.items():
            setattr(substitute, hook, _registering(calls))  # the attribute's name is the hook's
        self.manager.register(substitute, name=name)


def _registering(calls: Sequence[Sequence[str]]) -> Callable[..., None]:
    """A hook that registers these texts."""

    @hookspecs.hookimpl(optionalhook=True)
    def register_all(register: Callable[..., object]) -> None:
        for texts in calls:
            register(*texts)

    return register_all


def _acts(description: PluginDescription) -> bool:
    """Whether a plugin has a hook that does anything but register what its description holds."""
    hooks = {hook for hook, optional in description.hooks.items() if optional is not None}
    return bool(hooks - _REGISTERING - set(description.registrations))
