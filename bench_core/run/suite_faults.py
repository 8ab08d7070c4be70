"""Messages for errors in suite files: one line that names the file, the key, and the nearest right thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.hookspecs import OWNERS, SuiteSection
from bench_core.protocol.encode import ENCODINGS
from bench_core.run.suite_schema import CostsEntry, DatasetEntry, Header, MethodEntry, Protocol, SplitTable, SuiteFile

__all__ = ["error_line", "validated"]

M = TypeVar("M", bound=BaseModel)


def error_line(path: str, errors: Sequence[Mapping[str, Any]], sections: Mapping[str, SuiteSection]) -> str:
    """Format pydantic's errors as one line: the first error, and the number of others."""
    lines: dict[str, str] = {}
    for error in sorted(errors, key=_is_no_misspelling):
        section = sections.get(str(error["loc"][0])) if error["loc"] else None
        place, model = section.rules.place(error["loc"]) if section else (error["loc"], None)
        known = model.model_fields if model else _keys_at(place[:-1], sections)
        text = _fault(error, place, known, section)
        lines.setdefault(_spelled(place), " ".join(f"{path}: {_spelled(place)}{text}".split()))
    more = len(lines) - 1
    return next(iter(lines.values())) + (f" (and {more} more fault{'s' * (more > 1)})" if more else "")


def _is_no_misspelling(error: Mapping[str, Any]) -> bool:
    # A sort key that puts misspelt keys first: they are often the reason why another key is missing.
    return bool(error["type"] != "extra_forbidden")


def validated(model: type[M], value: Any, where: str) -> M:
    """Validate one table of a section that a plugin owns.

    Args:
        model: a pydantic model.
        value: the table; an instance of the model is returned unchanged.
        where: the place for messages, such as ``suites/a.toml: figures[0]``.

    Raises:
        RequestError: an unknown key (the nearest is named), or an invalid value.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=_is_no_misspelling)
    place = tuple(first["loc"])
    text = _fault(first, place, model.model_fields, None)
    raise RequestError(f"{where}.{_spelled(place)}{text}" if place else f"{where}{text}")


def _fault(error: Mapping[str, Any], place: tuple[Any, ...], known: Iterable[str], section: SuiteSection | None) -> str:
    """The message after the place of an error; ``known`` are the allowed keys."""
    if error["type"] == "extra_forbidden":
        owned = "; a parameter belongs in parameters = { … }" if "parameters" in known else ""
        return f": unknown key {_shortened(str(place[-1]))}; {did_you_mean(str(place[-1]), known)}{owned}"
    value = error.get("input")
    if error["type"].startswith("union_tag") and section is not None:
        tag = error.get("ctx", {}).get("tag", "")
        kinds = section.rules.kinds
        needed = f".kind is needed; known: {', '.join(kinds)}"
        wrong = f".kind: {tag!r} is not a kind of {section.key}{' here' * (tag in kinds)}"
        return f"{wrong}; {did_you_mean(tag, {*kinds} - {tag})}" if tag else needed
    if place and place[-1] == "encode" and error["type"] == "literal_error":
        return f": {_shortened(str(value))} is unknown; {did_you_mean(str(value), ENCODINGS)}"
    shown = f" (given: {_shortened(value)})" if isinstance(value, str | int | float | bool) else ""
    return f": {str(error['msg']).removeprefix('Value error, ')}{shown}"


def _shortened(value: Any) -> str:
    # Python refuses to format a number of thousands of digits.
    text = "a huge number" if isinstance(value, int) and value.bit_length() > 200 else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _spelled(loc: tuple[Any, ...]) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in _BRANCHES:
            key = str(part) if str(part).isprintable() and len(str(part)) <= 60 else _shortened(str(part))
            text += f".{key}" if text else key
    return text or "the file"


_TABLES: dict[str, type[BaseModel]] = {
    "suite": Header,
    "protocol": Protocol,
    "split": SplitTable,
    "datasets": DatasetEntry,
    "costs": CostsEntry,
    "methods": MethodEntry,
}
_BRANCHES = {"float", "literal['threshold']"}


def _keys_at(place: tuple[Any, ...], sections: Mapping[str, SuiteSection]) -> list[str]:
    """The allowed keys of the table at a place."""
    if not (names := [part for part in place if isinstance(part, str) and part not in _BRANCHES]):
        return [*SuiteFile.model_fields, *sections, *OWNERS]
    owned = sections[names[0]].rules.tables if names[0] in sections else {}
    return list((owned.get(names[-1]) or _TABLES.get(names[-1], SuiteFile)).model_fields)
