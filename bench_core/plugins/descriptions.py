"""Descriptions of plugins that are not imported, and of their methods with parameters.

`bench_core.plugins.probe` validates what arrives from the restricted process against these types, strictly. This module
has the types only, so that importing it does not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen, Predicate

from bench_core.contract.method import Limit, TaskLimits

QUESTIONS = ("inapplicable", "memory_needed")
"""What a method may be asked about a data set."""

# What moves a terminal's cursor, turns the direction of writing, or has no form in UTF-8; line ends and tabs are text.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _is_text(value: str) -> bool:
    return _CONTROL.search(value) is None


def _is_name(value: str) -> bool:
    return _is_text(value) and "\n" not in value and "\t" not in value


def without_control_characters(text: str) -> str:
    """Untrusted text as it can be printed."""
    return _CONTROL.sub("?", text)


Name = Annotated[str, Len(1, 500), Predicate(_is_name)]
Text = Annotated[str, MaxLen(200_000), Predicate(_is_text)]
Names = Annotated[tuple[Name, ...], MaxLen(10_000)]
Values = Annotated[dict[Name, Any], MaxLen(10_000)]


@dataclass(frozen=True)
class ClassDescription:
    """A data set, cost scheme or method: see `bench_core.plugins.description.description_of`."""

    summary: Text
    doc: Text
    parameters: Annotated[tuple[tuple[Text, Text, Text, Text], ...], MaxLen(10_000)]
    defaults: Values | None
    tasks: Names = ()
    features_limit: Limit = None


@dataclass(frozen=True)
class MetricDescription:
    """A metric: see `bench_core.plugins.description.description_of`."""

    doc: Text
    goal: Name
    title: Name
    tasks: Names
    reference: bool


@dataclass(frozen=True)
class MethodDescription:
    """A method whose plugin is not imported; the registry holds it instead of the class.

    Attributes:
        version: of the method.
        asks: of `QUESTIONS`, those to which the class has its own answer.
        about: for people.
    """

    version: int
    asks: tuple[Literal["inapplicable", "memory_needed"], ...]
    about: ClassDescription


Registered = Annotated[dict[Name, ClassDescription], MaxLen(10_000)]


@dataclass(frozen=True)
class PluginDescription:
    """What a plugin offers.

    Attributes:
        hooks: hook → whether it is optional; None for a function that is named like a hook and not marked as one.
        registrations: hook of another plugin → the texts that this plugin registers there.
        datasets, cost_schemes, metrics, methods: by name.
        sections, executors: their names.
    """

    hooks: Annotated[dict[Name, bool | None], MaxLen(1000)]
    registrations: Annotated[dict[Name, Annotated[tuple[tuple[Text, ...], ...], MaxLen(1000)]], MaxLen(1000)]
    datasets: Registered
    cost_schemes: Registered
    metrics: Annotated[dict[Name, MetricDescription], MaxLen(10_000)]
    methods: Annotated[dict[Name, MethodDescription], MaxLen(10_000)]
    sections: Names
    executors: Names


@dataclass(frozen=True)
class Built:
    """A method with parameters, as its plugin's process built it.

    Attributes:
        parameters: all of them, defaults included, in plain values.
        given: those that are not their defaults.
        limits: the method's limits; None where they cannot be read.
    """

    parameters: Values
    given: Values
    limits: TaskLimits | None


@dataclass(frozen=True)
class Refused:
    """Why a method cannot have some parameters."""

    refused: Annotated[str, MaxLen(20_000)]


@dataclass(frozen=True)
class Unimported:
    """A data set, cost scheme, metric or executor of a plugin that is not imported yet.

    Attributes:
        about: its description; None of an executor.
        fetch: imports the plugin, which puts the thing in this one's place.
    """

    about: Any
    fetch: Callable[[], None] = field(repr=False)


@dataclass(frozen=True, eq=False)
class ConfiguredMethod:
    """A method with parameters whose plugin is not imported; trials refer to it instead of an instance.

    Attributes:
        use: the method's name.
        plugin: its plugin's name.
        version: of the method.
        parameters: all of them, defaults included, in plain values: what the trial's name is made of.
        given: those that are not their defaults: what the method is built from.
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


def configured(use: str, plugin: str, description: MethodDescription, built: Built) -> ConfiguredMethod:
    """A described method with the parameters that its plugin's process built it with."""
    limits = None if "inapplicable" in description.asks else built.limits
    asks_memory = "memory_needed" in description.asks
    return ConfiguredMethod(use, plugin, description.version, built.parameters, built.given, limits, asks_memory)
