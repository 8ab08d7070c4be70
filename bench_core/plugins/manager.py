"""Loading plugins: one pluggy manager, entry points loaded one by one.

A plugin that fails to import, was built for another version of the contract, has a hook that nobody knows, or fails to
register is kept by name with its error. It is an error only for a suite that needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pluggy

from bench_core.contract.errors import ContractError, did_you_mean
from bench_core.plugins import hookspecs

if TYPE_CHECKING:
    import click

    from bench_core.plugins.registry import Plugin, Registry

__all__ = ["BUILT_IN_PLUGIN", "COMMANDS", "GROUP", "load_commands", "load_registry", "new_manager"]

GROUP = "budgetbench"
COMMANDS = "budgetbench.commands"
BUILT_IN_PLUGIN = "bench-core"
_BUILT_IN = "bench_core.builtin"
_VERSION = "BENCH_CONTRACT_VERSION"


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the core's hooks."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def load_commands(manager: pluggy.PluginManager, group: click.Group) -> list[str]:
    """Let the plugins of the group ``budgetbench.commands`` add their commands; a line for each that fails."""
    failed = []
    for point in _points(COMMANDS):
        name = f"{point.name} (commands)"
        try:
            _register(manager, point.load(), name)
            _refuse_unknown_hooks(manager, manager.get_plugin(name))
            _only(manager, "bench_register_commands", name)(group=group)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            _unregister(manager, name)
            failed.append(f"the commands of plugin {point.name!r} could not be loaded: {_one_line(error)}")
    return failed


def load_registry(
    extra: Iterable[tuple[str, ModuleType | object]] = (),
    *,
    entry_points: bool = True,
    manager: pluggy.PluginManager | None = None,
) -> Registry:
    """The built-ins, then every installed plugin in order of name, then ``extra`` ones.

    Args:
        extra: (name, module or object with hook implementations), for tests and notebooks.
        entry_points: whether to look for installed plugins.
        manager: what to register them with; a new one by default.

    Raises:
        ContractError: an extra plugin has the name of another.
    """
    from bench_core.plugins.registry import Registry

    registry = Registry(manager or new_manager())
    modules: dict[str, object] = {}
    for plugin, module in _found(extra, entry_points):
        if plugin.name in registry.plugins:
            other = registry.plugins[plugin.name].distribution
            if not plugin.distribution:
                raise ContractError(f"the plugin name {plugin.name!r} is already taken")
            said = f"the plugin name {plugin.name!r} is already taken by {other!r}"
            plugin = replace(plugin, name=f"{plugin.name} ({plugin.distribution})", error=said)
        registry.plugins[plugin.name] = plugin
        if not plugin.error and module is not None:
            modules[plugin.name] = module
            _attempt(
                registry, plugin.name, lambda name, thing=module: _register(registry.manager, thing, name)
            )
    # Only now is every hook known that a plugin adds.
    for name, module in modules.items():
        if not registry.plugins[name].error:
            _attempt(
                registry, name, lambda name, thing=module: _refuse_unknown_hooks(registry.manager, thing)
            )
    registry.manager.check_pending()
    for name in modules:
        if not registry.plugins[name].error:
            _attempt(registry, name, lambda name: _call_registering_hooks(registry, name))
    return registry


def _found(extra: Iterable[tuple[str, object]], entry_points: bool) -> Iterator[tuple[Plugin, object | None]]:
    """Every plugin with its module, or with what happened when that was imported."""
    from bench_core import __version__
    from bench_core.plugins.registry import Plugin

    core = Path(__file__).parent.parent
    yield (
        Plugin(BUILT_IN_PLUGIN, "budgetbench", __version__, _BUILT_IN, folder=core),
        import_module(_BUILT_IN),
    )
    for point in _points(GROUP) if entry_points else ():
        plugin = Plugin(point.name, *_distribution(point), point.value)
        try:
            module = point.load()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            yield replace(plugin, error=_one_line(error)), None
            continue
        yield replace(plugin, folder=_folder(module)), module
    for name, thing in extra:
        yield Plugin(name, "", "", getattr(thing, "__name__", repr(thing)), folder=_folder(thing)), thing


def _points(group: str) -> list[metadata.EntryPoint]:
    return sorted(metadata.entry_points(group=group), key=lambda point: point.name)


def _attempt(registry: Registry, name: str, step: object) -> None:
    """Do a step of loading a plugin; where it fails, the plugin is gone and its error kept."""
    try:
        step(name)  # type: ignore[operator]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        registry.drop(name)
        _unregister(registry.manager, name)
        registry.plugins[name] = replace(registry.plugins[name], error=_one_line(error))


def _register(manager: pluggy.PluginManager, module: object, name: str) -> None:
    from bench_core import CONTRACT_VERSION

    built_for = getattr(module, _VERSION, None)
    if built_for != CONTRACT_VERSION:
        if built_for is None:
            raise ContractError(
                f"it does not say which contract it was built for: set {_VERSION} = {CONTRACT_VERSION}"
            )
        raise ContractError(f"it was built for contract {built_for!r}; this is contract {CONTRACT_VERSION}")
    hash(module)  # the manager keeps plugins in sets: one that has no hash fails here, alone
    manager.register(module, name=name)
    _only(manager, "bench_add_hookspecs", name)(manager=manager)


def _unregister(manager: pluggy.PluginManager, name: str) -> None:
    if manager.has_plugin(name):
        manager.unregister(name=name)


def _call_registering_hooks(registry: Registry, name: str) -> None:
    for hook, register in registry.registrars(name).items():
        _only(registry.manager, hook, name)(register=register)


def _only(manager: pluggy.PluginManager, hook: str, name: str) -> pluggy.HookCaller:
    """A hook as one plugin alone implements it."""
    others = [plugin for other, plugin in manager.list_name_plugin() if other != name and plugin is not None]
    return manager.subset_hook_caller(hook, others)


def _refuse_unknown_hooks(manager: pluggy.PluginManager, module: object) -> None:
    """A function that looks like a hook but is none would be ignored in silence: say so instead.

    Raises:
        ContractError: the nearest hook is named.
    """
    known = [name for name, hook in vars(manager.hook).items() if hook.spec is not None]
    for name in dir(module):
        marked = manager.parse_hookimpl_opts(module, name)
        if marked is None:
            if name in known:
                raise ContractError(f"{name} is not marked with @hookimpl")
        elif (marked.get("specname") or name) not in known and not marked.get("optionalhook"):
            raise ContractError(f"there is no hook {name!r}; {did_you_mean(name, known)}")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _folder(module: object) -> Path | None:
    """The package's folder; the file itself for a module that is in no package (its folder is not its own)."""
    file = getattr(module, "__file__", None)
    if not file:
        return None
    return Path(file).parent if getattr(module, "__package__", "") else Path(file)


def _distribution(point: metadata.EntryPoint) -> tuple[str, str]:
    """Name and version of an entry point's distribution; empty where its metadata are damaged."""
    try:
        return (point.dist.name or "", point.dist.version or "") if point.dist else ("", "")
    except Exception:
        return "", ""
