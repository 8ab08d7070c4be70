"""Describe types in words: ``Annotated[float, Gt(0)]`` is "a number above 0"."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as at

__all__ = ["item_type", "limit_of", "type_text", "words"]


_NOUNS: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_NOUNS |= {type(None): "none", list: "a list", tuple: "a list", dict: "a table"}
_BOUNDS = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}


def words(hint: Any) -> str:
    """Describe the values that a type accepts, to follow "must be"; knows the constraints of `annotated_types`."""
    hint, constraints = _split(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ("one of " if len(arguments) > 1 else "") + ", ".join(map(repr, arguments))
    if origin in (Union, types.UnionType):
        members = list(map(words, arguments))
        return ("; or " if any("," in member for member in members) else " or ").join(members)
    said = _NOUNS.get(origin or hint, str(getattr(hint, "__name__", hint)))
    if origin is tuple and ... not in arguments:
        constraints += [at.MinLen(len(arguments)), at.MaxLen(len(arguments))]
    said += _bounds(constraints) + _length(constraints, "character" if hint is str else "item")
    if origin in (list, tuple, dict) and arguments:
        item = words(arguments[origin is dict])
        said += f", each ({item})" if "," in item else f", each {item}"
    names = [getattr(c.func, "__name__", "") for c in constraints if isinstance(c, at.Predicate)]
    return said + "".join(f", {name.strip('_').replace('_', ' ')}" for name in names)


def item_type(hint: Any, holder: Any, step: int | str) -> Any:
    """The type of an item (index or key) of a list, tuple or table; None if the type has no such item."""
    hint = _split(hint)[0]
    for member in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else [hint]:
        origin, arguments = get_origin(_split(member)[0]), get_args(_split(member)[0])
        if origin is dict and isinstance(holder, Mapping) and step in holder:
            return arguments[1]
        listed = origin in (list, tuple) and isinstance(holder, list | tuple)
        if listed and isinstance(step, int) and step < len(holder):
            return arguments[step] if origin is tuple and ... not in arguments else arguments[0]
    return None


def limit_of(hint: Any) -> str:
    """`words` of a type with constraints or choices; empty for any other."""
    limited = get_origin(hint) in (Annotated, Literal) or any(map(limit_of, get_args(hint)))
    return words(hint) if limited else ""


def type_text(hint: Any) -> str:
    """A type as code, without its limits: ``tuple[float, ...]``."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_text(arguments[0])
    if origin is Literal:
        return " | ".join(dict.fromkeys(type(value).__name__ for value in arguments))
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(type_text, arguments)))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(type_text, arguments))}]"
    if hint in (..., type(None)):
        return "..." if hint is ... else "None"
    return str(getattr(hint, "__name__", hint))


def _split(hint: Any) -> tuple[Any, list[Any]]:
    """A type and its single constraints: ``Interval(ge=1, le=9)`` becomes ``Ge(1)`` and ``Le(9)``."""
    if get_origin(hint) is not Annotated:
        return hint, []
    base, *given = get_args(hint)
    return base, [part for c in given for part in (c if isinstance(c, at.GroupedMetadata) else [c])]


def _bounds(constraints: Sequence[Any]) -> str:
    values = {key: getattr(c, key) for c in constraints for key in _BOUNDS if hasattr(c, key)}
    if {"ge", "le"} == set(values):
        return f" from {values['ge']:.12g} to {values['le']:.12g}"
    said = " and ".join(f"{word} {values[key]}" for key, word in _BOUNDS.items() if key in values)
    return said and f" {said}"


def _length(constraints: Sequence[Any], unit: str) -> str:
    least = max((c.min_length for c in constraints if isinstance(c, at.MinLen)), default=0)
    most = min((c.max_length for c in constraints if isinstance(c, at.MaxLen)), default=None)
    bounds = [str(least)] if least == most else [f"at least {least}"] * (least > 0)
    bounds += [f"at most {most}"] * (most is not None and most != least)
    units = unit if (least if most is None else most) == 1 else f"{unit}s"
    return f" of {' and '.join(bounds)} {units}" if bounds else ""
