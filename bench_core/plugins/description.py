"""Descriptions of registered objects as plain JSON values, for ``bench list NAME`` and for the probe."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from typing import Any

from bench_limits import limit_of

from bench_core.contract.method import Method
from bench_core.contract.metric import Metric
from bench_core.contract.parameters import describe, hints_of, to_plain

__all__ = ["description_of"]


def description_of(thing: Any) -> dict[str, Any]:
    """Describe a registered class or metric as plain values.

    Returns:
        For a class: ``summary`` (one line), ``doc``, ``parameters`` (name, type and default, meaning, limit) and
        ``defaults`` (name → value; None if an instance needs parameters); for methods also ``tasks`` and
        ``features_limit``. For a metric: ``doc``, ``goal``, ``title``, ``tasks`` and ``reference``.
    """
    if isinstance(thing, Metric):
        return {
            "doc": inspect.getdoc(thing.function) or "",
            "goal": thing.goal,
            "title": thing.title or thing.name,
            "tasks": sorted(thing.tasks),
            "reference": thing.reference,
        }
    types = describe(thing)
    meanings = _meanings(thing, set(types)) if types else {}
    described: dict[str, Any] = {
        "summary": (thing.__doc__ or "").strip().partition("\n")[0],
        "doc": inspect.getdoc(thing) or "",
        "parameters": [
            [name, kind, meanings.get(name, ""), _sentence(limit_of(hints_of(thing)[name]))]
            for name, kind in types.items()
        ],
        "defaults": None,
    }
    with suppress(Exception):  # a parameter is required, or a default has no plain form
        described["defaults"] = to_plain(thing())
    if issubclass(thing, Method):
        described |= {"tasks": sorted(thing.tasks), "features_limit": getattr(thing, "features_limit", None)}
    return described


def _meanings(cls: type[Any], names: set[str]) -> dict[str, str]:
    """Parameter → its meaning, from the docstring of the class or of a base class."""
    meanings: dict[str, str] = {}
    name = rf"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})"
    start = re.compile(rf"(?:^|(?<=[.;] )|(?<=\n))\s*({name}(?:, {name})*): ")
    for base in cls.__mro__:
        doc = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        for block in re.split(r"\n\s*\n", doc):
            if block.startswith("Attributes:"):
                text = block.removeprefix("Attributes:").strip()
                pieces = start.split(text)
                for heads, what in zip(pieces[1::2], pieces[2::2], strict=True):
                    for parameter in heads.split(", "):
                        meanings.setdefault(parameter, " ".join(what.split()))
    return meanings


def _sentence(text: str) -> str:
    return text and f"{text[0].upper()}{text[1:]}."
