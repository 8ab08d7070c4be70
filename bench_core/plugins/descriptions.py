"""Descriptions of plugins that are not imported, and of their methods with parameters.

`bench_core.plugins.probe` validates the data from the restricted process strictly against these types. This module has
only the types, so that importing it does not import pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen, Predicate

from bench_core.contract.method import Limit, TaskLimits

QUESTIONS = ("inapplicable", "memory_needed")
"""Methods of `Method` that answer questions about a data set."""

# Characters that move a terminal's cursor, change the writing direction or cannot be encoded in UTF-8. Line ends and
# tabs are allowed.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _is_text(value: str) -> bool:
    return _CONTROL.search(value) is None


def _is_name(value: str) -> bool:
    return _is_text(value) and "\n" not in value and "\t" not in value


def without_control_characters(text: str) -> str:
    """Replace characters of untrusted text that must not be printed."""
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
        version: the method's version.
        asks: those of `QUESTIONS` that the class overrides.
        about: the description for users.
    """

    version: int
    asks: tuple[Literal["inapplicable", "memory_needed"], ...]
    about: ClassDescription


Registered = Annotated[dict[Name, ClassDescription], MaxLen(10_000)]


@dataclass(frozen=True)
class PluginDescription:
    """Everything that a plugin offers.

    Attributes:
        hooks: hook → whether it is optional; None for a function that is named like a hook but not marked as one.
        registrations: hook of another plugin → the texts that this plugin registers there.
        datasets, cost_schemes, metrics, methods: descriptions by name.
        sections, executors: names.
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
    """A method with parameters, built in its plugin's process.

    Attributes:
        parameters: all parameters, defaults included, as plain values.
        given: the parameters that differ from their defaults.
        limits: the method's limits; None if they cannot be read.
    """

    parameters: Values
    given: Values
    limits: TaskLimits | None


@dataclass(frozen=True)
class Refused:
    """Why a method refuses its parameters."""

    refused: Annotated[str, MaxLen(20_000)]


@dataclass(frozen=True)
class Unimported:
    """A data set, cost scheme, metric or executor of a plugin that is not imported yet.

    Attributes:
        about: its description; None for an executor.
        fetch: imports the plugin, which replaces this object by the real one.
    """

    about: Any
    fetch: Callable[[], None] = field(repr=False)


@dataclass(frozen=True, eq=False)
class ConfiguredMethod:
    """A method with parameters whose plugin is not imported; trials refer to it instead of an instance.

    Attributes:
        use: the method's name.
        plugin: its plugin's name.
        version: the method's version.
        parameters: all parameters, defaults included, as plain values; they are part of the trial's name.
        given: the parameters that differ from their defaults; the method is built from these.
        limits: the method's limits; None if its plugin must be asked.
        asks_memory: whether its plugin can be asked how much memory a fit needs.
    """

    use: str
    plugin: str
    version: int
    parameters: Mapping[str, Any]
    given: Mapping[str, Any]
    limits: TaskLimits | None
    asks_memory: bool


def configured(use: str, plugin: str, description: MethodDescription, built: Built) -> ConfiguredMethod:
    """Combine a method's description with the parameters from its plugin's process."""
    limits = None if "inapplicable" in description.asks else built.limits
    asks_memory = "memory_needed" in description.asks
    return ConfiguredMethod(use, plugin, description.version, built.parameters, built.given, limits, asks_memory)
