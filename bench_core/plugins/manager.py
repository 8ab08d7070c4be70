"""Loading plugins: one pluggy manager, entry points loaded one by one.

A plugin is broken if it cannot be imported, was built for another version of the contract, has an unknown hook, or
fails to register. The registry keeps its name and error. Only a suite that needs this plugin fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from bench_core.contract.errors import ContractError, ProbeError, attempt, did_you_mean, refused_name
from bench_core.plugins import hookspecs

if TYPE_CHECKING:
    import click

    from bench_core.plugins.catalogue import Plugin
    from bench_core.plugins.registry import Registry

GROUP = "budgetbench"
_COMMANDS = "budgetbench.commands"
_KIT = metadata.EntryPoint("contract-kit", "bench_core.testing.commands", _COMMANDS)
_KIT_COMMANDS = ("new", "check")
_VERSION = "BENCH_CONTRACT_VERSION"


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the core's hooks."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def command_names(manager: pluggy.PluginManager) -> list[str]:
    """The commands that plugins add, or add options to, from their metadata. Nothing is imported."""
    return [*_KIT_COMMANDS, *(point.name for point in _points(_COMMANDS, manager))]


def load_command(manager: pluggy.PluginManager, group: click.Group, name: str) -> list[str]:
    """Import, once, all modules that add a command or add options to it; return a line for each module that fails.

    These are the contract kit, and the modules of the entry points in `budgetbench.commands` with the command's name.
    """
    points = [point for point in _points(_COMMANDS, manager) if point.name == name]
    failed = []
    for point in [*([_KIT] if name in _KIT_COMMANDS else []), *points]:
        plugin = f"{point.value} (commands)"
        if manager.has_plugin(plugin) or manager.is_blocked(plugin):
            continue
        if (error := attempt(partial(_add_commands, manager, group, plugin, point.load))) is not None:
            manager.set_blocked(plugin)
            failed.append(f"the commands in {point.value} could not be loaded: {one_line(error)}")
    return failed


def _add_commands(manager: pluggy.PluginManager, group: click.Group, name: str, load: Callable[[], object]) -> None:
    _register(manager, load, name)
    check_hooks(manager, name)
    _call_hook(manager, "bench_register_commands", name, group=group)


def load_registry(
    extra: Iterable[tuple[str, ModuleType | object]] = (),
    *,
    entry_points: bool = True,
    manager: pluggy.PluginManager | None = None,
) -> Registry:
    """Load the built-ins, then every installed plugin in order of name, then ``extra`` ones.

    Args:
        extra: (name, module or object with hook implementations), for tests and notebooks.
        entry_points: whether to load installed plugins.
        manager: the plugin manager; a new one by default.

    Raises:
        ContractError: an extra plugin has the name of another plugin.
    """
    from bench_core.plugins.registry import Registry

    registry = Registry(manager or new_manager())
    fill(registry, candidates(extra, _points(GROUP, registry.manager) if entry_points else ()))
    return registry


def fill(registry: Registry, found: Iterable[tuple[Plugin, Callable[[], object]]]) -> None:
    """Import plugins into a registry; each comes with a function that returns its module. Raises as `load_registry`."""
    for plugin, load in found:
        if plugin.name in registry.plugins and not plugin.distribution:
            raise ContractError(f"the plugin name {plugin.name!r} is already taken")
        plugin = registry.with_own_name(plugin)
        registry.plugins[plugin.name] = plugin
        take_step(registry, plugin.name, partial(_register, registry.manager, load, plugin.name))
    # Only now are all hooks known, including those that plugins add.
    for name in registry.plugins:
        take_step(registry, name, partial(check_hooks, registry.manager, name))
    registry.manager.check_pending()
    for name in registry.plugins:
        take_step(registry, name, partial(_call_registrars, registry, name))


def registered_alone(name: str, value: str) -> Registry:
    """A registry of one plugin only, without the built-ins.

    Every exception is the plugin's error. Its hooks are not checked, because other plugins may define them.
    """
    from bench_core.plugins.registry import Registry

    registry = Registry(new_manager())
    _register(registry.manager, metadata.EntryPoint(name, value, GROUP).load, name)
    _call_registrars(registry, name)
    return registry


def installed(manager: pluggy.PluginManager) -> list[Plugin]:
    """Every installed plugin in order of name. None is imported."""
    return [_plugin_of(point) for point in _points(GROUP, manager)]


def _plugin_of(point: metadata.EntryPoint) -> Plugin:
    """Convert an entry point to a plugin that is not loaded; it is broken if its name is invalid."""
    from bench_core.plugins.catalogue import Plugin
    from bench_core.plugins.distributions import code_of

    fields: Any = {}
    with suppress(Exception):  # damaged metadata
        fields = (point.dist and point.dist.metadata) or {}  # read once: it takes half a millisecond
    about = (fields.get("Name") or "", fields.get("Version") or "")
    return Plugin(point.name, *about, point.value, refused_name(point.name), code_of(point.value))


def candidates(
    extra: Iterable[tuple[str, object]] = (), points: Iterable[metadata.EntryPoint] = ()
) -> Iterator[tuple[Plugin, Callable[[], object]]]:
    """The built-ins, the plugins of entry points, and extra ones, each with a function that returns its module."""
    from bench_core import __version__
    from bench_core.plugins.catalogue import BUILT_IN, CORE, Plugin
    from bench_core.plugins.distributions import code_of

    core = Path(__file__).parent.parent  # the built-ins' source is all of the core
    yield Plugin(CORE, "budgetbench", __version__, BUILT_IN, folder=core), partial(import_module, BUILT_IN)
    for point in points:
        yield _plugin_of(point), point.load
    for name, thing in extra:
        module = getattr(thing, "__name__", repr(thing))
        yield Plugin(name, "", "", module, refused_name(name), code_of(module)), partial(lambda thing: thing, thing)


@lru_cache(maxsize=2)
def _points(group: str, manager: pluggy.PluginManager) -> list[metadata.EntryPoint]:
    """The installed entry points of a group, in order of name; cached per manager, since finding them is slow."""
    points: Any = metadata.entry_points()  # of another type before Python 3.12; both can select
    return sorted(points.select(group=group), key=lambda point: str(point.name))


def take_step(registry: Registry, name: str, step: Callable[[], None]) -> None:
    """Do one step of loading an intact plugin. If it fails, remove the plugin's objects and keep the error."""
    if registry.plugins[name].error:
        return
    if (error := attempt(step)) is not None:
        registry.drop(name, one_line(error))
        unregister(registry.manager, name)


def _register(manager: pluggy.PluginManager, load: Callable[[], object], name: str) -> None:
    from bench_core import CONTRACT_VERSION

    module = load()
    if (built_for := getattr(module, _VERSION, None)) is None:
        raise ContractError(f"it does not say which contract it was built for: set {_VERSION} = {CONTRACT_VERSION}")
    if built_for != CONTRACT_VERSION:
        raise ContractError(f"it was built for contract {built_for!r}; this is contract {CONTRACT_VERSION}")
    hash(module)  # the manager keeps plugins in sets: an unhashable one must fail here, without affecting others
    manager.register(module, name=name)
    _call_hook(manager, "bench_add_hookspecs", name, manager=manager)


def unregister(manager: pluggy.PluginManager, name: str) -> None:
    if manager.has_plugin(name):
        manager.unregister(name=name)


def _call_registrars(registry: Registry, name: str) -> None:
    """Call the registering hooks of a plugin that the manager has."""
    for hook, register in registry.registrars(name).items():
        _call_hook(registry.manager, hook, name, register=register)


def _call_hook(manager: pluggy.PluginManager, hook: str, name: str, /, **arguments: object) -> None:
    """Call one plugin's implementation of a hook."""
    others = [plugin for other, plugin in manager.list_name_plugin() if other != name and plugin is not None]
    manager.subset_hook_caller(hook, others)(**arguments)


def hooks_of(manager: pluggy.PluginManager, plugin: str) -> dict[str, bool | None]:
    """Hook of a registered plugin → whether it is optional; None for a function that lacks the mark of a hook."""
    module = manager.get_plugin(plugin)
    named = [name for name in dir(module) if name.startswith("bench_") and callable(getattr(module, name))]
    marked = [
        (caller.name, impl) for caller in manager.get_hookcallers(module) or () for impl in caller.get_hookimpls()
    ]
    return dict.fromkeys(named) | {name: impl.optionalhook for name, impl in marked if impl.plugin is module}


def check_hooks(manager: pluggy.PluginManager, plugin: str, hooks: Mapping[str, bool | None] | None = None) -> None:
    """Refuse functions that are named like hooks but are none, since they would be ignored silently.

    Args:
        manager: has the hook specs.
        plugin: a registered plugin.
        hooks: its hooks, from `hooks_of`, if it is not registered.

    Raises:
        ContractError: a function is no hook; the nearest hook is named.
    """
    known = [name for name, hook in vars(manager.hook).items() if hook.spec is not None]
    for name, optional in (hooks_of(manager, plugin) if hooks is None else hooks).items():
        if optional is None and name in known:
            raise ContractError(f"{name} is not marked with @hookimpl")
        if optional is False and name not in known:
            raise ContractError(f"there is no hook {name!r}; {did_you_mean(name, known)}")


def one_line(error: BaseException) -> str:
    """An error in one line, with its type. A `ProbeError` names the type of the plugin's error in its message."""
    text = " ".join(str(error).split())
    return text if isinstance(error, ProbeError) else f"{type(error).__name__}: {text}".removesuffix(": ")
