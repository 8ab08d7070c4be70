"""Parameters: from a TOML table to a frozen dataclass and back to canonical JSON."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import date, time
from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

from bench_core.contract.canonical import plain
from bench_core.contract.errors import ContractError, RequestError, attempt, did_you_mean
from bench_core.contract.limits import item_type, type_text, words

if TYPE_CHECKING:
    from pydantic import TypeAdapter


T = TypeVar("T")


class Parameters:
    """Base of frozen dataclasses whose fields are parameters, with their limits in the type.

    ``rate: Annotated[float, Gt(0)] = 0.1`` (`annotated_types`) takes a finite number above 0. A class whose fields
    depend on each other checks that in a ``__post_init__`` of its own, after ``super().__post_init__()``.

    Raises:
        ValueError: a field has a value that its type does not take; class, field, limit and value are named.
    """

    def __post_init__(self) -> None:
        cls = type(self)
        fields = [f for f in dataclasses.fields(cast(Any, self)) if f.init]
        values = {f.name: (getattr(self, f.name), _default_of(f)) for f in fields}
        # The contract kit checks defaults; a class with nothing else is made without loading pydantic, which is slow.
        given = {
            name: value
            for name, (value, default) in values.items()
            if value is not default and repr(value) != repr(default)
        }
        try:
            for name, value in _converted(cls, given).items():
                object.__setattr__(self, name, value)
        except ValueError as error:
            raise ValueError(f"{cls.__name__}: {error}") from None


def build(cls: type[T], parameters: Mapping[str, Any], where: str) -> T:
    """An instance of a parameter dataclass from what a suite says.

    Args:
        cls: a frozen dataclass.
        parameters: names and values as TOML gave them.
        where: what a message calls the place (``suites/a.toml: methods[2] 'lasso'``).

    Raises:
        RequestError: an unknown name (the nearest is offered) or a value of the wrong type or range. Types are
            strict: a whole number may stand for a fraction, and nothing else for something else. Numbers are finite.
    """
    fields = [f for f in dataclasses.fields(cast(Any, cls)) if f.init]
    known = [f.name for f in fields]
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known) or "it takes no parameters"
            raise RequestError(f"{where}: there is no parameter {name!r}; {hint}")
    for f in fields:
        if f.name not in parameters and f.default is f.default_factory is dataclasses.MISSING:
            raise RequestError(f"{where}: {f.name} is required: {words(hints_of(cast(Any, cls))[f.name])}")
    try:
        values = _converted(cls, parameters)
    except (ValueError, ContractError) as error:
        raise RequestError(f"{where}: {_one_line(str(error))}") from None
    made = attempt(partial(cls, **values))
    if isinstance(made, BaseException):  # the class refuses them in a way of its own
        kind = "" if isinstance(made, ValueError) else f"{type(made).__name__}: "
        raise RequestError(f"{where}: parameters: {_one_line(f'{kind}{made}')}")
    return made


@cache
def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields, by name; as text where a name in it is not known at run time."""
    names = {f.name for f in dataclasses.fields(cls)}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        module = getattr(sys.modules.get(base.__module__), "__dict__", {})
        for name, hint in inspect.get_annotations(base).items():
            if name not in names:
                continue
            holder = SimpleNamespace(__annotations__={name: hint})
            try:
                hints[name] = get_type_hints(holder, module, dict(vars(base)), include_extras=True)[name]
            except Exception:
                hints[name] = hint
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
    """Values as the fields' types take them: a list becomes a tuple where one is declared, 1 becomes 1.0.

    Raises:
        ValueError: a type does not take its value; the field, the limit and the value are named.
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
            wrong.append(f"{place} must be {words(hint)}, not {_shown(item)}")
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("; ".join(wrong))
    return converted


def _checked(cls: Any, name: str, value: Any) -> Any:
    adapter = _adapter(cls, name)
    try:
        text = json.dumps([plain(value)])
    except TypeError:  # an object that only code can give
        return adapter.validate_python([value])[0]
    # JSON's rules, strictly: a list may become a tuple and 1 become 1.0, but no text a number, no number a truth.
    return adapter.validate_json(text)[0]


def _innermost(name: str, hint: Any, value: Any, locations: Sequence[tuple[int | str, ...]]) -> tuple[str, Any, Any]:
    """The innermost place that pydantic found wrong, its type, and what is there."""
    deepest = [(name, hint, value)]
    for location in locations:
        path = [(name, hint, value)]
        for step in location:
            place, outer, item = path[-1]
            inner = item_type(outer, item, step)
            if inner is not None:  # else pydantic's mark of a member of a union
                path.append((f"{place}[{step!r}]", inner, item[step]))
        deepest = max(deepest, path, key=len)
    return deepest[-1]


def check_values(parameters: Mapping[str, Any], where: str) -> None:
    """Refuse values that no parameter can have.

    Raises:
        RequestError: a number that is not finite or too large, or a date; the parameter is named.
    """
    for name, value in parameters.items():
        try:
            _check_value(value, name)
        except ValueError as error:
            raise RequestError(f"{where}: {error}") from None


_MOST_SHOWN = 500
_LARGEST = 2**63 - 1


def _one_line(text: str, most: int = _MOST_SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} …"


def _shown(value: Any) -> str:
    return _one_line(repr(list(value) if isinstance(value, tuple) else value), 100)


def _check_value(value: Any, place: str) -> None:
    """Refuse what no parameter can be, naming the place: numbers that are not finite or too large, dates."""
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
    """Every parameter of an instance, defaults included, as plain JSON values.

    A parameter that joined a published method says so by ``field(default=…, metadata={"omit_default": True})``: it is
    left out while it has its default, so that the trials there were keep their names.

    Infinity and NaN, which JSON lacks, become the texts ``inf``, ``-inf`` and ``nan``. Only code can give them:
    `build` takes finite numbers.
    """
    return {
        f.name: plain(_worded(getattr(instance, f.name)))
        for f in dataclasses.fields(instance)
        if f.init and not (f.metadata.get("omit_default") and getattr(instance, f.name) == _default_of(f))
    }


def given_parameters(instance: Any) -> dict[str, Any]:
    """The parameters of an instance that are not their defaults, as plain JSON values; see `to_plain`."""
    defaults = {f.name: _default_of(f) for f in dataclasses.fields(instance)}
    return {
        name: value
        for name, value in to_plain(instance).items()
        if defaults[name] is dataclasses.MISSING or plain(_worded(defaults[name])) != value
    }


def _worded(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {key: _worded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_worded(item) for item in value]
    return value


def describe(cls: Any) -> dict[str, str]:
    """Parameter name → its type and default, for people."""
    described = {}
    for f in dataclasses.fields(cls):
        if f.init:
            kind, default = type_text(hints_of(cls)[f.name]), _default_of(f)
            required = default is dataclasses.MISSING
            described[f.name] = f"{kind} (required)" if required else f"{kind} = {default!r}"
    return described


def _default_of(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
