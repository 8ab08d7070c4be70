"""What a plugin told of itself in a process of its own: plain values, checked, and none of its code.

Where methods run in processes of their own, nobody else imports their plugin: a `ListedMethod` stands for the class,
a `MethodSpec` for the method with parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bench_core.contract.errors import refused_name
from bench_core.contract.facts import ALL_TASKS, DataFacts
from bench_core.contract.method import beyond

__all__ = [
    "ASKED", "ListedMethod", "Listing", "MethodAsker", "MethodSpec", "Offered", "TaskLimits", "limits_from",
    "listing_from", "named", "spec_from",
]  # fmt: skip

ASKED = ("inapplicable", "memory_needed")
"""What a method may be asked about a data set."""
_MOST_NAMES, _MOST_TEXT = 10_000, 200_000
_ABOUT: dict[str, dict[str, type]] = {
    "class": {"summary": str, "doc": str, "parameters": list},
    "metric": {"doc": str, "goal": str, "title": str, "tasks": list, "reference": bool},
}


@dataclass(frozen=True)
class TaskLimits:
    """What a method says it can do: see `bench_core.Method`."""

    tasks: tuple[str, ...]
    classes_limit: int | None
    features_limit: int | None
    takes_missing: bool
    needs_threshold: bool


@dataclass(frozen=True)
class ListedMethod:
    """A method as its plugin told of it.

    Attributes:
        name: it is registered under.
        plugin: its plugin's name.
        version: of the method.
        limits: those of the class; None where only an instance can tell.
        asks: of `ASKED`, what the class answers in a way of its own.
        about: see `bench_core.plugins.description.description_of`.
    """

    name: str
    plugin: str
    version: int
    limits: TaskLimits | None
    asks: tuple[str, ...]
    about: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class MethodSpec:
    """A method with parameters, as its plugin told of it: what a trial holds where nothing of it may be imported.

    Attributes:
        use: the method's name.
        plugin: its plugin's name.
        version: of the method.
        parameters: all of them, defaults included, in plain values: what the trial's name says.
        given: those that are not their defaults: what makes the method again.
        limits: what it can do; None where its plugin has to be asked.
        asks_memory: whether its plugin may know how much memory a fit needs.
    """

    use: str
    plugin: str
    version: int
    parameters: Mapping[str, Any]
    given: Mapping[str, Any]
    limits: TaskLimits | None
    asks_memory: bool

    def beyond(self, data: DataFacts) -> str:
        """Which of its `limits` a data set is beyond; empty when none."""
        return "" if self.limits is None else beyond(self.limits, data) or ""


class MethodAsker(Protocol):
    """Who asks plugins, in processes of their own."""

    def build(self, plugin: str, requests: Sequence[tuple[ListedMethod, Mapping[str, Any], str]]) -> list[Any]:
        """Methods of a plugin with parameters: a `MethodSpec` for each, or the `RequestError` that says why not."""

    def ask(self, plugin: str, what: str, asked: Sequence[tuple[MethodSpec, DataFacts]]) -> list[Any]:
        """Answers to one of `ASKED`, in plain values; None where there is none."""

    @property
    def processes(self) -> set[int]:
        """The numbers of this process's children that plugins are asked through."""

    def close(self) -> None:
        """End the processes; they are started anew when something is asked."""


@dataclass(frozen=True)
class Offered:
    """A data set, cost scheme, metric or executor of a plugin that is not imported yet.

    Attributes:
        about: what the plugin told of it.
        fetch: imports the plugin, which puts the thing in this one's place.
    """

    about: Mapping[str, Any]
    fetch: Callable[[], None]


@dataclass(frozen=True)
class Listing:
    """What a plugin offers.

    Attributes:
        hooks: hook → whether it is optional.
        unmarked: names that look like hooks and are not marked as such.
        replays: hook of another plugin → the texts that it registers there.
        things: kind (``datasets``, ``cost_schemes``, ``metrics``) → name → what it told of it.
        methods: by name.
        sections, executors: their names.
        plain: the same as plain values; `listing_from` is the inverse.
    """

    hooks: Mapping[str, bool]
    unmarked: tuple[str, ...]
    replays: Mapping[str, list[list[str]]]
    things: Mapping[str, Mapping[str, Any]]
    methods: Mapping[str, ListedMethod]
    sections: tuple[str, ...]
    executors: tuple[str, ...]
    plain: Mapping[str, Any]


def listing_from(values: Any, plugin: str) -> Listing:
    """Check what a plugin told of itself.

    Raises:
        ValueError: it is nothing that a plugin may say; the message says what is wrong.
    """
    _need(isinstance(values, dict), "a listing")
    things = {kind: _table(values.get(kind)) for kind in ("datasets", "cost_schemes", "metrics")}
    for kind, table in things.items():
        for about in table.values():
            _check_about(about, "metric" if kind == "metrics" else "class")
    replays = {hook: _list(calls) for hook, calls in _table(values.get("replays")).items()}
    for calls in replays.values():
        for texts in calls:
            _texts(texts)
    hooks = _table(values.get("hooks"))
    _need(all(isinstance(optional, bool) for optional in hooks.values()), "whether a hook is optional")
    methods = {name: _method(name, plugin, method) for name, method in _table(values.get("methods")).items()}
    names = {key: tuple(_texts(values.get(key))) for key in ("unmarked", "sections", "executors")}
    for name in (
        *methods,
        *names["sections"],
        *names["executors"],
        *(name for table in things.values() for name in table),
    ):
        refused = refused_name(name)
        if refused:
            raise ValueError(refused)
    return Listing(hooks=hooks, replays=replays, things=things, methods=methods, plain=values, **names)


def named(names: Mapping[str, Sequence[str]], plugin: str) -> Listing:
    """A listing of nothing but names, by kind: enough for who asks the plugin nothing."""
    methods = {name: ListedMethod(name, plugin, 0, None, (), {}) for name in names.get("methods", ())}
    things: dict[str, dict[str, Any]] = {
        kind: {name: {} for name in names.get(kind, ())} for kind in ("datasets", "cost_schemes", "metrics")
    }
    return Listing({}, (), {}, things, methods, (), (), names)


def _method(name: str, plugin: str, values: Any) -> ListedMethod:
    _need(isinstance(values, dict) and type(values.get("version")) is int, "the version of a method")
    asks = _texts(values.get("asks"))
    _need(set(asks) <= set(ASKED), "what a method can be asked")
    _check_about(values.get("about"), "class")
    limits = None if values.get("limits") is None else limits_from(values["limits"])
    return ListedMethod(name, plugin, values["version"], limits, tuple(asks), values["about"])


def limits_from(values: Any) -> TaskLimits:
    """Check what a method told of its limits.

    Raises:
        ValueError: it cannot be read.
    """
    _need(isinstance(values, list) and len(values) == 5, "the limits of a method")
    tasks, classes, features, missing, threshold = values
    _need(set(_texts(tasks)) <= ALL_TASKS, "the tasks of a method")
    _need(all(most is None or type(most) is int for most in (classes, features)), "the limits of a method")
    _need(isinstance(missing, bool) and isinstance(threshold, bool), "what a method takes")
    return TaskLimits(tuple(tasks), classes, features, missing, threshold)


def spec_from(values: Any, method: ListedMethod) -> MethodSpec:
    """Check what a plugin told of a method with parameters.

    Raises:
        ValueError: it cannot be read.
    """
    _need(isinstance(values, dict), "a method with parameters")
    parameters, given = _table(values.get("parameters")), _table(values.get("given"))
    _need(set(given) <= set(parameters), "the parameters of a method")
    own = "inapplicable" in method.asks
    limits = None if own else limits_from(values["limits"]) if "limits" in values else method.limits
    return MethodSpec(
        method.name, method.plugin, method.version, parameters, given, limits, "memory_needed" in method.asks
    )


def _check_about(about: Any, kind: str) -> None:
    _need(isinstance(about, dict), "what it offers")
    _need(all(isinstance(about.get(key), expected) for key, expected in _ABOUT[kind].items()), "what it offers")
    _need(all(len(text) <= _MOST_TEXT for text in about.values() if isinstance(text, str)), "a text of that length")
    for parameter in about.get("parameters", []):
        _need(len(_texts(parameter)) == 4, "a parameter")
    if "tasks" in about:
        _texts(about["tasks"])
    _need(about.get("features_limit") is None or type(about["features_limit"]) is int, "the limits of a method")
    _need(about.get("defaults") is None or isinstance(about["defaults"], dict), "the defaults of parameters")


def _table(value: Any) -> dict[str, Any]:
    _need(isinstance(value, dict) and len(value) <= _MOST_NAMES, "a table")
    _texts(list(value))
    table: dict[str, Any] = value
    return table


def _list(value: Any) -> list[Any]:
    _need(isinstance(value, list) and len(value) <= _MOST_NAMES, "a list")
    values: list[Any] = value
    return values


def _texts(value: Any) -> list[str]:
    _need(all(isinstance(text, str) and len(text) <= _MOST_TEXT for text in _list(value)), "a list of texts")
    texts: list[str] = value
    return texts


def _need(fine: bool, what: str) -> None:
    if not fine:
        raise ValueError(f"what it said cannot be read as {what}")
