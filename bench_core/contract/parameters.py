"""Parameters: from a TOML table to a frozen dataclass and back to canonical JSON."""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields
from datetime import date, time
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bench_limits import item_type, type_text, words

from bench_core.contract.canonical import plain
from bench_core.contract.errors import ContractError, RequestError, attempt, did_you_mean

if TYPE_CHECKING:
    from pydantic import TypeAdapter


T = TypeVar("T")


class Parameters:
    """Base of frozen dataclasses whose fields are parameters, with their limits in the type.

    ``rate: Annotated[float, Gt(0)] = 0.1`` (`annotated_types`) accepts a finite number above 0. A class whose fields
    depend on each other checks this in its own ``__post_init__``, after ``super().__post_init__()``.

    Raises:
        ValueError: a value does not fit the field's type; class, field, limit and value are named.
    """

    def __post_init__(self) -> None:
        cls = type(self)
        # The contract kit checks defaults. Skipping them here saves importing pydantic, which is slow.
        given = {
            f.name: getattr(self, f.name) for f in _fields(cls) if repr(getattr(self, f.name)) != repr(_default_of(f))
        }
        try:
            for name, value in _converted(cls, given).items():
                object.__setattr__(self, name, value)
        except ValueError as error:
            raise ValueError(f"{cls.__name__}: {error}") from None


def build(cls: type[T], parameters: Mapping[str, Any], where: str) -> T:
    """Make an instance of a parameter dataclass from the values in a suite.

    Args:
        cls: a frozen dataclass.
        parameters: names and values, as read from TOML.
        where: the place in messages (``suites/a.toml: methods[2] 'lasso'``).

    Raises:
        RequestError: an unknown name (the nearest is suggested) or a value of the wrong type or range. Types are
            strict: the only conversion is from integers to floats. Numbers must be finite.
    """
    defaults = {f.name: _default_of(f) for f in _fields(cls)}
    for name in parameters:
        if name not in defaults:
            hint = did_you_mean(name, defaults) or "it takes no parameters"
            raise RequestError(f"{where}: there is no parameter {name!r}; {hint}")
    for name, default in defaults.items():
        if name not in parameters and default is MISSING:
            raise RequestError(f"{where}: {name} is required: {words(hints_of(cast(Any, cls))[name])}")
    try:
        values = _converted(cls, parameters)
    except (ValueError, ContractError) as error:
        raise RequestError(f"{where}: {_one_line(str(error))}") from None
    made = attempt(partial(cls, **values))
    if isinstance(made, BaseException):  # raised by the class's own checks
        kind = "" if isinstance(made, ValueError) else f"{type(made).__name__}: "
        raise RequestError(f"{where}: parameters: {_one_line(f'{kind}{made}')}")
    return made


@cache
def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields, by name; as text if a name in the type is unknown at run time."""
    names = {f.name for f in fields(cls)}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        module = getattr(sys.modules.get(base.__module__), "__dict__", {})
        for name, hint in inspect.get_annotations(base).items():
            if name in names:
                hints[name] = hint
                with suppress(Exception):
                    hints[name] = eval(hint, module, dict(vars(base))) if isinstance(hint, str) else hint
    return hints


@cache
def _adapter(cls: Any, name: str) -> TypeAdapter[list[Any]]:
    from pydantic import ConfigDict, TypeAdapter

    hint = hints_of(cls)[name]
    if isinstance(hint, str):
        raise ContractError(f"the type of {name}, {hint}, cannot be read at run time")
    # A list of one: pydantic refuses to configure a bare dataclass.
    return TypeAdapter(list[hint], config=ConfigDict(strict=True, arbitrary_types_allowed=True))  # type: ignore[valid-type]


def _converted(cls: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert values to the fields' types: a list becomes a tuple if one is declared, 1 becomes 1.0.

    Raises:
        ValueError: a value does not fit its type; the field, the limit and the value are named.
    """
    if not values:
        return {}
    from pydantic import ValidationError

    converted, wrong = {}, []
    for name, value in values.items():
        try:
            _check_value(value, name)
            checked = _checked(cls, name, value)
            converted[name] = value if isinstance(value, str) else checked  # a file's name may not be UTF-8
        except ValidationError as error:
            locations = [found["loc"][1:] for found in error.errors(include_url=False)]
            place, hint, item = _innermost(name, hints_of(cls)[name], value, locations)
            shown = _one_line(repr(list(item) if isinstance(item, tuple) else item), 100)
            wrong.append(f"{place} must be {words(hint)}, not {shown}")
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("; ".join(wrong))
    return converted


def _checked(cls: Any, name: str, value: Any) -> Any:
    try:
        # JSON's strict rules: a list may become a tuple and 1 become 1.0; text never becomes a number, nor 1 True.
        return _adapter(cls, name).validate_json(json.dumps([plain(value)]))[0]
    except TypeError:  # an object that JSON cannot express
        return _adapter(cls, name).validate_python([value])[0]


def _innermost(name: str, hint: Any, value: Any, locations: Sequence[tuple[int | str, ...]]) -> tuple[str, Any, Any]:
    """The innermost place with an error found by pydantic, its type, and its value."""
    deepest = [(name, hint, value)]
    for location in locations:
        path = [(name, hint, value)]
        for step in location:
            place, outer, item = path[-1]
            inner = item_type(outer, item, step)
            if inner is not None:  # otherwise the step is pydantic's name for a member of a union
                path.append((f"{place}[{step!r}]", inner, item[step]))
        deepest = max(deepest, path, key=len)
    return deepest[-1]


def check_values(parameters: Mapping[str, Any], where: str) -> None:
    """Refuse values that are invalid for every parameter.

    Raises:
        RequestError: a number that is not finite or too large, or a date; the parameter is named.
    """
    for name, value in parameters.items():
        try:
            _check_value(value, name)
        except ValueError as error:
            raise RequestError(f"{where}: {error}") from None


_LARGEST = 2**63 - 1


def _one_line(text: str, most: int = 500) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} …"


def _check_value(value: Any, place: str) -> None:
    """Refuse numbers that are not finite or too large, and dates; the message names the place."""
    place = _one_line(place)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{place}: a whole number must fit into 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place}: must be a finite number, not {value}")
    if isinstance(value, date | time):  # a datetime is a date
        raise ValueError(f"{place}: a date or time is no parameter; write it as text")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_value(item, f"{place}.{key}")
    elif isinstance(value, list | tuple | set | frozenset):
        for i, item in enumerate(value):
            _check_value(item, f"{place}[{i}]")


def to_plain(instance: Any) -> dict[str, Any]:
    """Return every parameter of an instance, defaults included, as plain JSON values.

    A parameter that was added to a published method is declared with
    ``field(default=…, metadata={"omit_default": True})``: it is left out while it has its default, so that existing
    trials keep their names.

    Infinity and NaN, which JSON lacks, become the texts ``inf``, ``-inf`` and ``nan``. Only code can set them: `build`
    accepts finite numbers only.
    """
    return {
        f.name: _plain(getattr(instance, f.name))
        for f in _fields(instance)
        if not (f.metadata.get("omit_default") and getattr(instance, f.name) == _default_of(f))
    }


def given_parameters(instance: Any) -> dict[str, Any]:
    """Return the parameters of an instance that differ from their defaults, as plain JSON values; see `to_plain`."""
    defaults = {f.name: _default_of(f) for f in _fields(instance)}
    given = to_plain(instance).items()
    return {name: value for name, value in given if defaults[name] is MISSING or _plain(defaults[name]) != value}


_plain = partial(plain, infinite=str)


def describe(cls: Any) -> dict[str, str]:
    """Parameter name → its type and default, for people."""
    described = {}
    for f in _fields(cls):
        default = " (required)" if _default_of(f) is MISSING else f" = {_default_of(f)!r}"
        described[f.name] = type_text(hints_of(cls)[f.name]) + default
    return described


def _fields(thing: Any) -> list[Field[Any]]:
    """The fields of a dataclass, or of an instance, that are parameters."""
    return [f for f in fields(thing) if f.init]


def _default_of(field: Field[Any]) -> Any:
    """The default of a parameter; MISSING if it is required."""
    return field.default if field.default_factory is MISSING else field.default_factory()
