"""A minimal TOML writer for plain parameter values, which the standard library's ``tomllib`` can read.

tomli-w and tomlkit refuse None, a valid parameter value, so the kit would have to process the values anyway. And the
contract kit, which the tests of every plugin import, would depend on one of them to save 40 lines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from bench_core.contract.errors import ContractError

__all__ = ["toml_text"]


def toml_text(table: Mapping[str, Any]) -> str:
    """Write a table of plain values as TOML. Values that are None are left out, because TOML cannot express them.

    >>> print(toml_text({"C": 1.0, "scale": "10**T", "stages": None}), end="")
    C = 1.0
    scale = "10**T"

    Raises:
        ContractError: a value has no TOML form (None inside a list, an object).
    """
    return "".join(f"{_key(k)} = {_value(v, k)}\n" for k, v in table.items() if v is not None)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "_").replace("_", "a").isalnum()
    return key if bare else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item, f"{where}[{i}]") for i, item in enumerate(value)) + "]"
    if isinstance(value, Mapping):
        inside = (f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(inside) + "}"
    raise ContractError(f"{where} is {value!r}, which TOML cannot express")
