"""Fingerprints of drawings: what a figure is drawn from, and with which code, without drawing it.

A figure is a function that waits to be called, with its numbers bound to it. Its fingerprint is a hash over those
numbers, over the files of the code that draws, and over the versions of the libraries that do the work. Equal
fingerprints: the same drawing. The other way round nothing is promised: on a machine that rounds a number's last bit
otherwise, the same picture has another fingerprint.

The code is the module that draws with what it imports of its own package, and what the leaderboard offers for drawing.
Code of a third package is not followed; the job that draws every figure finds what changes there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from pydantic import BaseModel

from bench_core import Metric

__all__ = ["UnknownValueError", "fingerprint"]

_LIBRARIES = ("matplotlib", "numpy", "kiwisolver")
_DRAWING = "bench_leaderboard.render.figures"


class UnknownValueError(TypeError):
    """A value that has no fingerprint."""


def fingerprint(draw: Any) -> str:
    """Hexadecimal SHA-256 over a drawing that waits.

    Args:
        draw: a function, with what is bound to it: numbers, texts, arrays, containers of them, dataclasses and
            pydantic's models.

    Raises:
        UnknownValueError: it holds something else.
    """
    walk = _Walk()
    walk.add(draw)
    code = sorted({*_drawing_files(), *(path for module in walk.modules for path in _files_of(module))})
    for part in [*_versions(), *map(_hash_of, code)]:
        walk.note(part)
    return walk.digest()


class _Walk:
    """A hash that grows value by value."""

    def __init__(self) -> None:
        self._hash = sha256()
        self._functions: set[FunctionType] = set()

    @property
    def modules(self) -> set[str]:
        """Where the functions are defined that were met."""
        return {function.__module__ for function in self._functions}

    def digest(self) -> str:
        return self._hash.hexdigest()

    def note(self, part: str | bytes) -> None:
        """Add bytes, with their number before them: no two sequences of notes are alike."""
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        self._hash.update(b"%d:" % len(data))
        self._hash.update(data)

    def add(self, value: Any) -> None:
        """Add a value with its type."""
        kind = type(value)
        self.note(f"{kind.__module__}.{kind.__qualname__}")
        if value is None or kind in (bool, int, str):
            self.note(str(value))
        elif kind is float:
            self.note(value.hex())
        elif kind is bytes:
            self.note(value)
        elif isinstance(value, np.ndarray | np.generic):
            self._add_array(np.asarray(value))
        elif isinstance(value, list | tuple):
            self._add_each(value)
        elif isinstance(value, set | frozenset):
            self._add_each(sorted(value, key=repr))
        elif isinstance(value, Mapping):
            self._add_each([part for item in value.items() for part in item])
        elif isinstance(value, partial):
            self._add_each([value.func, value.args, value.keywords])
        elif isinstance(value, FunctionType):
            self.note(f"{value.__module__}.{value.__qualname__}")
            if value in self._functions:
                return
            self._functions.add(value)
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            self._add_each([value.__defaults__, value.__kwdefaults__, *cells])
        elif isinstance(value, Metric):  # what is said of it: a drawing computes none
            self._add_each([getattr(value, field.name) for field in fields(value) if field.name != "function"])
        elif isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
            self._add_each([part for item in vars(value).items() for part in item])
        else:
            raise UnknownValueError(f"a value of {kind.__module__}.{kind.__qualname__} has no fingerprint")

    def _add_each(self, values: Any) -> None:
        self.note(str(len(values)))
        for value in values:
            self.add(value)

    def _add_array(self, array: np.ndarray[Any, Any]) -> None:
        self.note(f"{array.dtype.str}{array.shape}")
        if array.dtype.hasobject:
            self._add_each(array.ravel().tolist())
        else:
            self.note(array.tobytes())


@cache
def _versions() -> tuple[str, ...]:
    return tuple(f"{name} {metadata.version(name)}" for name in _LIBRARIES)


def _drawing_files() -> set[Path]:
    """The files that every figure is drawn with."""
    folder = Path(_path_of(_DRAWING) or "").parent
    return {path for file in folder.glob("*.py") for path in _files_of(f"{_DRAWING}.{file.stem}")}


def _files_of(module: str) -> set[Path]:
    """The file of a module, and of all that it imports of the same package, at once or later on."""
    paths: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        path = _path_of(name)
        if path is not None and name not in paths:
            paths[name] = path
            left += _read(path, name, _state(path))[1]
    return set(paths.values())


@cache
def _path_of(module: str) -> Path | None:
    """A module's source file; None where there is no such module, or none in Python."""
    try:
        spec = util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def _hash_of(path: Path) -> str:
    return _read(path, "", _state(path))[0]


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@cache
def _read(path: Path, module: str, state: tuple[int, int]) -> tuple[str, list[str]]:
    """The hash of a file, and the modules of its own package that it names in its imports.

    Args:
        path: the file.
        module: its name; without one, imports are not looked at. The package itself is not followed: its names are
            those that every drawing uses.
        state: what changes when the file does.
    """
    data = path.read_bytes()
    package = module.partition(".")[0]
    named = _imports(ast.parse(data), module, path.stem == "__init__") if module else ()
    return sha256(data).hexdigest(), [name for name in named if name.startswith(f"{package}.")]


def _imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    """What a module's imports may name: modules, and names in modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            above = parts[: len(parts) - node.level + is_package] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
