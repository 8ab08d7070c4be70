"""Checks of the declarations of a method, data source or cost scheme: docstring, version, parameters."""

from __future__ import annotations

import dataclasses
import tomllib
from typing import Any

from bench_core.contract.canonical import canonical_json
from bench_core.contract.errors import ContractError, RequestError
from bench_core.contract.facts import ALL_TASKS, Task
from bench_core.contract.method import Method
from bench_core.contract.parameters import build, describe, to_plain
from bench_core.testing.plain_toml import toml_text

__all__ = ["check_declaration", "check_parameters", "check_unknown_parameter", "declared", "round_trip", "unknown"]


def check_declaration(method: Method, task: Task) -> None:
    """It is a frozen dataclass with a docstring, a version and tasks."""
    declared(method)
    tasks = method.tasks
    if not tasks or not set(tasks) <= ALL_TASKS:
        raise ContractError(
            f"{type(method).__name__}.tasks must be some of {', '.join(sorted(ALL_TASKS))}, not {set(tasks)}"
        )


def check_parameters(method: Method, task: Task) -> None:
    """Its parameters can be written to TOML and read back unchanged."""
    round_trip(method)


def check_unknown_parameter(method: Method, task: Task) -> None:
    """An unknown parameter is refused, and the nearest valid name is suggested."""
    unknown(method)


def declared(thing: Any) -> None:
    """Demand a frozen dataclass with a docstring and an integer version; raise `ContractError` otherwise."""
    cls = type(thing)
    name = cls.__name__
    if not dataclasses.is_dataclass(cls):
        raise ContractError(f"{name} must be a dataclass (frozen=True)")
    if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ContractError(f"{name} must be a frozen dataclass: its fields are the trial's name")
    doc = (cls.__dict__.get("__doc__") or "").strip()
    if not doc or doc.startswith(f"{name}("):  # the docstring that @dataclass generates
        raise ContractError(f"{name} needs a docstring whose first line says what it is")
    if isinstance(cls.version, bool) or not isinstance(cls.version, int) or cls.version < 1:  # type: ignore[attr-defined]
        raise ContractError(f"{name}.version must be a whole number from 1, not {cls.version!r}")  # type: ignore[attr-defined]


def round_trip(thing: Any) -> None:
    """Write parameters as TOML, read them back, and build an instance, which must be equal."""
    cls = type(thing)
    name = cls.__name__
    try:
        plain = to_plain(thing)
    except TypeError as error:
        raise ContractError(f"{name}: a parameter cannot be written in a suite: {error}") from None
    text = toml_text(plain)
    parsed = tomllib.loads(text)
    try:
        again = build(cls, parsed, name)
    except RequestError as error:
        raise ContractError(f"{name}: its own parameters are refused when read from TOML: {error}") from None
    for key, value in to_plain(again).items():
        if canonical_json(value) != canonical_json(plain[key]):
            raise ContractError(
                f"{name}.{key} is {plain[key]!r}, but {value!r} when read from TOML; one trial would have two "
                f"names (give the default its declared type, {describe(cls)[key]})"
            )
    if again != thing:
        raise ContractError(f"{name}: read back from TOML it is not equal: {again!r} is not {thing!r}")


def unknown(thing: Any) -> None:
    """Demand that a misspelt parameter is refused with a suggestion."""
    cls = type(thing)
    known = [f.name for f in dataclasses.fields(cls) if f.init]
    wrong = f"{known[0]}_x" if known else "no_such_parameter"
    try:
        build(cls, {wrong: 1}, cls.__name__)
    except RequestError as error:
        if wrong not in str(error) or (known and known[0] not in str(error).replace(wrong, "")):
            raise ContractError(
                f"{cls.__name__}: the parameter {wrong!r} is refused without offering a right name: {error}"
            ) from None
        return
    raise ContractError(f"{cls.__name__} accepts a parameter {wrong!r} that it does not have")
