"""Finding and loading plugins: a private pluggy manager behind a typed registry.

Entry points of the group ``budgetbench`` are loaded one by one. A plugin that fails to import or to register is
kept by name with its error, and is an error only for a suite that needs it. Two plugins that claim one name are
an error that names both, raised when that name is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

import pluggy

from bench_core.contract.canonical import source_hash
from bench_core.contract.costs import CostScheme
from bench_core.contract.dataset import DataSource
from bench_core.contract.errors import ContractError, RequestError, did_you_mean
from bench_core.contract.method import Method
from bench_core.contract.metrics import Metric, resolve_metric
from bench_core.plugins import hookspecs

__all__ = ["BUILT_IN_PLUGIN", "GROUP", "Plugin", "Registry", "load_registry"]

GROUP = "budgetbench"
BUILT_IN_PLUGIN = "bench-core"

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
        plugins: every plugin found, broken ones too, in order of name, built-ins first.
    """

    def __init__(self) -> None:
        self.plugins: dict[str, Plugin] = {}
        self._datasets: _Shelf[type[DataSource]] = _Shelf("data set")
        self._cost_schemes: _Shelf[type[CostScheme]] = _Shelf("cost scheme")
        self._methods: _Shelf[type[Method]] = _Shelf("method")
        self._metrics: _Shelf[Metric] = _Shelf("metric")

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
        return [
            self._conflict(shelf, name)
            for shelf in (self._datasets, self._cost_schemes, self._methods, self._metrics)
            for name in shelf.taken
        ]

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

    def add(self, plugin: Plugin, module: object) -> None:
        """Call a module's hooks and keep what they register; a failure is kept as the plugin's error."""
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        try:
            manager.register(module, name=plugin.name)
            _refuse_unknown_hooks(manager, module)
            manager.hook.bench_register_datasets(register=self._registrar(self._datasets, DataSource, plugin))
            manager.hook.bench_register_cost_schemes(
                register=self._registrar(self._cost_schemes, CostScheme, plugin)
            )
            manager.hook.bench_register_methods(register=self._registrar(self._methods, Method, plugin))
            manager.hook.bench_register_metrics(register=lambda metric: self._add_metric(metric, plugin))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            for shelf in (self._datasets, self._cost_schemes, self._methods, self._metrics):
                shelf.drop(plugin.name)
            plugin = Plugin(**{**_fields(plugin), "error": _one_line(error)})
        self.plugins[plugin.name] = plugin

    def _registrar(self, shelf: _Shelf[Any], base: type, plugin: Plugin) -> Callable[[str, Any], None]:
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
            shelf.add(name, thing, plugin.name)

        return register

    def _add_metric(self, metric: Any, plugin: Plugin) -> None:
        if not isinstance(metric, Metric):
            raise ContractError(f"a metric must be a bench_core.Metric, not {metric!r}")
        if not isinstance(metric.name, str) or not metric.name.strip():
            raise ContractError(f"a metric needs a name, not {metric.name!r}")
        self._metrics.add(metric.name, metric, plugin.name)


def _refuse_unknown_hooks(manager: pluggy.PluginManager, module: object) -> None:
    """A function that looks like a hook but is none would be ignored in silence: say so instead."""
    known = [name for name in dir(hookspecs) if name.startswith("bench_register_")]
    for name in dir(module):
        marked = manager.parse_hookimpl_opts(module, name)
        if marked is None:
            if name in known:
                raise ContractError(f"{name} is not marked with @hookimpl")
        elif (marked.get("specname") or name) not in known and not marked.get("optionalhook"):
            raise ContractError(f"there is no hook {name!r}; {did_you_mean(name, known)}")


def _fields(plugin: Plugin) -> dict[str, Any]:
    return {name: getattr(plugin, name) for name in Plugin.__dataclass_fields__}


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def load_registry(
    extra: Iterable[tuple[str, ModuleType | object]] = (), *, entry_points: bool = True
) -> Registry:
    """The built-ins, then every installed plugin in order of name, then ``extra`` ones.

    Args:
        extra: (name, module or object with hook implementations), for tests and notebooks.
        entry_points: whether to look for installed plugins.
    """
    from bench_core import builtin

    registry = Registry()
    here = Path(__file__).parent.parent
    registry.add(
        Plugin(BUILT_IN_PLUGIN, "budgetbench", _own_version(), "bench_core.builtin", folder=here), builtin
    )
    found = sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name) if entry_points else []
    for point in found:
        distribution, version = _distribution(point)
        plugin = Plugin(point.name, distribution, version, point.value)
        if point.name in registry.plugins:
            other = registry.plugins[point.name].distribution
            plugin = Plugin(
                f"{point.name} ({distribution})", distribution, version, point.value,
                error=f"the plugin name {point.name!r} is already taken by {other!r}",
            )  # fmt: skip
            registry.plugins[plugin.name] = plugin
            continue
        try:
            module = point.load()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            plugin = Plugin(point.name, distribution, version, point.value, error=_one_line(error))
            registry.plugins[plugin.name] = plugin
            continue
        registry.add(Plugin(**{**_fields(plugin), "folder": _folder(module)}), module)
    for name, thing in extra:
        if name in registry.plugins:
            raise ContractError(f"the plugin name {name!r} is already taken")
        registry.add(
            Plugin(name, "", "", getattr(thing, "__name__", repr(thing)), folder=_folder(thing)), thing
        )
    return registry


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


def _own_version() -> str:
    from bench_core import __version__

    return __version__
