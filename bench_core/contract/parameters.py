"""Parameters: from a TOML table to a frozen dataclass and back to canonical JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, time
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bench_core.contract.canonical import plain
from bench_core.contract.errors import RequestError, did_you_mean

if TYPE_CHECKING:
    from pydantic import TypeAdapter


T = TypeVar("T")


@cache
def _adapter(cls: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


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
    known = [f.name for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known) or "it takes no parameters"
            raise RequestError(f"{where}: there is no parameter {name!r}; {hint}")
    if not parameters:
        try:
            return cls()
        except (TypeError, ValueError):
            pass  # a required parameter is missing, or a default is refused: pydantic says it better
    check_values(parameters, where)
    from pydantic import ValidationError

    try:
        # JSON's rules, strictly: a list may become a tuple and 1 become 1.0, but no text a number, no number a truth.
        text = json.dumps(plain(dict(parameters)))
        return cast(T, _adapter(cast(Any, cls)).validate_json(text, strict=True))
    except ValidationError as error:
        message = "; ".join(
            f"{'.'.join(map(str, wrong['loc'])) or 'parameters'}: {wrong['msg'].removeprefix('Value error, ')}"
            for wrong in error.errors()
        )
        raise RequestError(f"{where}: {_one_line(message)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the class refuses them in a way of its own
        raise RequestError(f"{where}: parameters: {_one_line(f'{type(error).__name__}: {error}')}") from None


def check_values(parameters: Mapping[str, Any], where: str) -> None:
    """Refuse values that no parameter can have.

    Raises:
        RequestError: a number that is not finite or too large, or a date; the parameter is named.
    """
    for name, value in parameters.items():
        _check_value(value, name, where)


_MOST_SHOWN = 500
_LARGEST = 2**63 - 1


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} …"


def _check_value(value: Any, place: str, where: str) -> None:
    """Refuse what no parameter can be, naming the place: numbers that are not finite or too large, dates."""
    place = _one_line(place)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise RequestError(f"{where}: {place}: a whole number must fit into 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise RequestError(f"{where}: {place}: must be a finite number, not {value}")
    if isinstance(value, date | time):  # a datetime is a date
        raise RequestError(f"{where}: {place}: a date or time is no parameter; write it as text")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_value(item, f"{place}.{key}", where)
    elif isinstance(value, list | tuple | set | frozenset):
        for i, item in enumerate(value):
            _check_value(item, f"{place}[{i}]", where)


def check_lambdas(lambdas: Sequence[float]) -> None:
    """Whether values may be a method's trade-offs λ, one policy (or more) each.

    Raises:
        ValueError: none at all, one that is negative, infinite or NaN, or one twice.
    """
    if not lambdas:
        raise ValueError("lambdas needs at least one value")
    for value in lambdas:
        if not 0 <= value < math.inf:
            raise ValueError(f"lambdas must be finite and not negative, not {value}")
    if len(set(lambdas)) < len(lambdas):
        raise ValueError(f"lambdas must differ from each other: {list(lambdas)}")


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


def describe(cls: type[Any]) -> dict[str, str]:
    """Parameter name → its type and default, for people."""
    described = {}
    for f in dataclasses.fields(cls):
        if f.init:
            kind = f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))
            default = _default_of(f)
            required = default is dataclasses.MISSING
            described[f.name] = f"{kind} (required)" if required else f"{kind} = {default!r}"
    return described


def _default_of(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
