"""Render the documentation's pages on commands and on the keys of a suite file from the code.

`python -m bench_site.reference docs` writes them; a test compares them with the committed pages.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from bench_core.suites import Registry, Suite, load_registry

__all__ = ["pages", "write"]

_MADE = "<!-- Made by `python -m bench_site.reference docs`; do not edit. -->"


def pages(registry: Registry) -> dict[str, str]:
    """Return the pages: address relative to the documentation → Markdown."""
    return {"reference/commands.md": _commands(), "reference/suite-file.md": _suite_file(registry)}


def write(docs: Path, registry: Registry) -> list[Path]:
    """Write the pages to the documentation's directory, and return their paths."""
    written = []
    for address, text in pages(registry).items():
        path = docs / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _help(*words: str) -> str:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    ran = subprocess.run(
        [sys.executable, "-m", "bench_core.cli.main", *words, "--help"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.sub(r"^Usage: \S+(?: -m \S+)?", "Usage: bench", ran.stdout.strip(), count=1)


def _below(help_text: str) -> list[str]:
    """Return the names of the commands that a help text lists."""
    listed = help_text.partition("\nCommands:\n")[2]
    return re.findall(r"^  ([a-z][a-z-]*)(?=  |$)", listed, re.MULTILINE)


def _commands() -> str:
    lines = [
        "# Commands", "", _MADE, "",
        "The output of `bench COMMAND --help`. Exit codes: 0: everything succeeded; 1: something failed and is named,",
        "the rest succeeded; 2: the request was invalid.", "",
    ]  # fmt: skip

    def add(words: tuple[str, ...]) -> None:
        help_text = _help(*words)
        lines.extend([f"## bench {' '.join(words)}".rstrip(), "", "```text", help_text, "```", ""])
        for name in _below(help_text):
            add((*words, name))

    add(())
    return "\n".join(lines)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the pydantic models in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _spelled(annotation: Any) -> str:
    """Return a type's name for readers of TOML."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _spelled(parts[0])
    if origin is Literal:
        return " or ".join(f'`"{value}"`' for value in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_spelled(part) for part in parts if part is not type(None)))
    if origin is list:
        return f"list of {_spelled(parts[0])}"
    if origin is dict:
        return f"table of {_spelled(parts[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    words = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "any value"}
    return words.get(annotation, str(annotation))


def _attributes(cls: type[Any]) -> dict[str, str]:
    """Return the attributes' descriptions, from the docstrings of a class and its base classes."""
    descriptions: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = (inspect.cleandoc(base.__doc__ or "") if base is not BaseModel else "").partition("Attributes:\n")[2]
        for entry in re.split(r"\n(?=    \S)", f"\n{text}"):
            names, colon, description = entry.strip().partition(": ")
            if colon:
                descriptions.update(dict.fromkeys(names.split(", "), " ".join(description.split())))
    return descriptions


def _first(cls: type[Any]) -> str:
    return " ".join(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].split()).replace("``", "`")


def _cell(text: str) -> str:
    parts = text.replace("``", "`").replace("|", "\\|").split("`")
    return "`".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(parts))


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, list) and value and isinstance(value[0], BaseModel):
        return f"`{value[0].model_dump(exclude_defaults=True)}`"
    return (
        "–"
        if value is None or value in ("", [], {})
        else f"`{str(value).lower() if isinstance(value, bool) else value}`"
    )


def _table(cls: type[BaseModel]) -> list[str]:
    descriptions = _attributes(cls)
    rows = [
        f"| `{name}` | {_cell(_spelled(field.rebuild_annotation()))} | {_cell(_default(field))} | "
        f"{_cell(descriptions.get(name, ''))} |"
        for name, field in cls.model_fields.items()
    ]
    return [_cell(_first(cls)), "", "| key | type | default | meaning |", "|---|---|---|---|", *rows, ""]


def _suite_file(registry: Registry) -> str:
    lines = [
        "# The suite file", "", _MADE, "",
        "A suite is a TOML file. An unknown key is an error that names the nearest known one. A section marked with a",
        "plugin is read by that plugin, and ignored if it is not installed.", "",
    ]  # fmt: skip
    core: type[BaseModel] = get_type_hints(Suite.__init__)["file"]
    seen: set[type[BaseModel]] = set()

    def add(cls: type[BaseModel], title: str) -> None:
        if cls in seen:
            return
        seen.add(cls)
        lines.extend([f"## {title}", "", *_table(cls)])
        for field in cls.model_fields.values():
            for model in _models(field.rebuild_annotation()):
                add(model, model.__name__.removesuffix("Entry").removesuffix("Table"))

    add(core, "Top level")
    for key, section in registry.sections.items():
        owner = registry.plugin_of("sections", key).distribution
        for model in _models(section.rules.model):
            kind = re.sub(r"(?<!^)(?=[A-Z])", " ", model.__name__.removesuffix("Entry")).lower()
            single = model is section.rules.model
            add(model, f"[{key}] ({owner})" if single else f"[[{key}]]: {kind} ({owner})")
    lines.extend(["The keys of each kind of figure are in `docs/reference/figures.md`.", ""])
    return "\n".join(lines)


if __name__ == "__main__":
    for path in write(Path(sys.argv[1]), load_registry()):
        print(path)
