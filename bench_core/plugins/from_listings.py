"""Registries of plugins that are not imported: filled with what they told, and importing what is used of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from bench_core.contract.errors import ContractError, RequestError, did_you_mean
from bench_core.plugins import hookspecs
from bench_core.plugins import manager as loading
from bench_core.plugins.listed import Listing, named
from bench_core.plugins.registry import Registry
from bench_core.plugins.shelf import Plugin

__all__ = ["import_acting", "listings_of", "register_listed", "registry_from"]

_LAZY = frozenset(f"bench_register_{kind}" for kind in ("datasets", "cost_schemes", "methods", "metrics", "executors"))


def register_listed(registry: Registry, plugins: Iterable[tuple[Plugin, Listing | None]]) -> None:
    """Register plugins, and what they told that they offer; nothing is imported.

    Args:
        registry: has the built-ins.
        plugins: plugins in order of name; without a listing one that could not be loaded.
    """
    registry.importer = _import_listed
    for plugin, listing in plugins:
        if plugin.name in registry.plugins:
            other = registry.plugins[plugin.name].distribution
            error = f"the plugin name {plugin.name!r} is already taken by {other!r}"
            plugin = replace(plugin, name=f"{plugin.name} ({plugin.distribution})", error=error)
        registry.plugins[plugin.name] = plugin
        if listing is not None and not plugin.error:
            registry.offer(plugin.name, listing)


def import_acting(registry: Registry) -> None:
    """Import the listed plugins that act in the judge by themselves: by hooks that register nothing.

    Only of distributions that bring no method. What others register by further hooks, as texts, something that is none
    of their code registers for them.
    """
    listings, plugins = registry.listings, registry.plugins
    with_methods = {plugins[name].distribution for name, listing in listings.items() if listing.methods}
    acting = [
        name
        for name, listing in listings.items()
        if plugins[name].distribution not in with_methods and set(listing.hooks) - _LAZY - set(listing.replays)
    ]
    for name in sorted(acting, key=lambda name: "bench_add_hookspecs" not in listings[name].hooks):
        with suppress(RequestError):  # kept as the plugin's error
            registry.fetch(name)
    for name in listings:
        if name in registry.imported or plugins[name].error:
            continue
        try:
            _refuse_listed_hooks(registry, name)
            _stand_in(registry, name)
        except ContractError as error:
            registry.drop(name)
            plugins[name] = replace(plugins[name], error=f"ContractError: {error}")


def listings_of(registry: Registry, used: Mapping[str, Iterable[str]]) -> list[Any] | None:
    """What a registry knows of listed plugins as plain values, for `registry_from`; None where it lists none.

    It is short, whatever the plugins told: multiprocessing waits for ever when a process that it starts is killed
    before it has read more than a pipe holds (64 KiB).

    Args:
        used: kind (``datasets``, ``cost_schemes``, ``methods``, ``metrics``) → names; nothing is told of others.
    """
    if not registry.listings:
        return None
    names: dict[str, dict[str, list[str]]] = {name: {kind: [] for kind in used} for name in registry.listings}
    for kind, names_of_kind in used.items():
        for name in names_of_kind:
            owner = registry.plugin_of(kind, name).name
            if owner in names:
                names[owner][kind].append(name)
    listings: list[Any] = []
    for plugin in registry.plugins.values():
        folder = None if plugin.folder is None else str(plugin.folder)
        about = [plugin.name, plugin.distribution, plugin.version, plugin.module, plugin.error, folder]
        listings.append([about, names.get(plugin.name)])
    return listings


def registry_from(listings: Sequence[Any]) -> Registry:
    """A registry of what another process was told; it asks no plugin, and imports what a trial uses, no methods."""
    registry = loading.load_registry(entry_points=False)
    plugins: list[tuple[Plugin, Listing | None]] = []
    for (name, distribution, version, module, error, folder), listing in listings:
        place = None if folder is None else Path(folder)
        plugin = Plugin(name, distribution, version, module, error, place)
        if plugin.name not in registry.plugins:
            plugins.append((plugin, None if listing is None else named(listing, plugin.name)))
    register_listed(registry, plugins)
    return registry


def _import_listed(registry: Registry, name: str) -> Registry:
    """Import one plugin of a registry that lists it, with the registry's own manager.

    Returns:
        A registry of its own with what it registers; where that fails, with nothing, and the error.
    """
    plugin, manager = registry.plugins[name], registry.manager
    real = Registry(manager)
    real.plugins[name] = plugin
    loading.unregister(manager, name)  # what stands for it
    point = metadata.EntryPoint(name, plugin.module, loading.GROUP)
    loading.take_step(real, name, partial(loading.import_plugin, real, plugin, point.load))
    loading.take_step(real, name, partial(loading.refuse_unknown_hooks, manager, name))
    for hook, register in real.registrars(name).items():
        loading.take_step(real, name, partial(loading.call_hook, manager, hook, name, register=register))
    return real


def _stand_in(registry: Registry, name: str) -> None:
    """Let something that is no code of a listed plugin register the texts that it registers by others' hooks."""

    class StandIn:
        pass

    stand_in = StandIn()
    for hook, calls in registry.listings[name].replays.items():

        def replay(register: Callable[..., object], calls: list[list[str]] = calls) -> None:
            for texts in calls:
                register(*texts)

        # The attribute's name is the hook's; pluggy leaves out arguments with defaults.
        setattr(stand_in, hook, hookspecs.hookimpl(optionalhook=True)(replay))
    registry.manager.register(stand_in, name=name)


def _refuse_listed_hooks(registry: Registry, name: str) -> None:
    """As a plugin's hooks are checked when it is imported, but as it told of them.

    Raises:
        ContractError: one is unknown, or not marked as a hook.
    """
    listing = registry.listings[name]
    known = loading.known_hooks(registry.manager)
    for hook in listing.unmarked:
        if hook in known:
            raise ContractError(f"{hook} is not marked with @hookimpl")
    for hook, optional in listing.hooks.items():
        if hook not in known and not optional:
            raise ContractError(f"there is no hook {hook!r}; {did_you_mean(hook, known)}")
