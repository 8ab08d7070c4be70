"""Render the documentation's pages on commands, on the keys of a suite file and on the Python API from the code.

`python -m bench_site.reference docs` writes them; a test compares them with the committed pages.
"""

from __future__ import annotations

import html
import importlib
import inspect
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from bench_core.suites import Registry, Suite, load_registry
from bench_site.templating import environment

__all__ = ["pages", "write"]

_MADE = "<!-- Made by `python -m bench_site.reference docs`; do not edit. -->"


def pages(registry: Registry) -> dict[str, str]:
    """Return the pages: address relative to the documentation → Markdown."""
    templates = environment()
    rendered = {
        "commands": templates.get_template("reference-commands.md.j2").render(generated=_MADE, commands=_commands()),
        "suite-file": templates.get_template("reference-suite-file.md.j2").render(
            generated=_MADE, sections=_suite_file(registry)
        ),
    }
    api = templates.get_template("reference-api.md.j2")
    rendered |= {
        f"api/{address}": api.render(
            generated=_MADE, title=title, summary=summary, names=[(name, _about(name)) for name in names]
        )
        for address, title, summary, names in _api()
    }
    return {f"reference/{address}.md": text.rstrip() + "\n" for address, text in rendered.items()}


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


def _commands() -> list[tuple[str, str]]:
    """Return every command with its help text, a group before its commands."""
    commands: list[tuple[str, str]] = []

    def add(words: tuple[str, ...]) -> None:
        help_text = _help(*words)
        commands.append((" ".join(["bench", *words]), help_text))
        for name in _below(help_text):
            add((*words, name))

    add(())
    return commands


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


def _first(cls: Any) -> str:
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


def _section(cls: type[BaseModel], title: str) -> dict[str, Any]:
    descriptions = _attributes(cls)
    rows = [
        [f"`{name}`", _cell(_spelled(field.rebuild_annotation())), _cell(_default(field)),
         _cell(descriptions.get(name, ""))]
        for name, field in cls.model_fields.items()
    ]  # fmt: skip
    return {"title": title, "summary": _cell(_first(cls)), "rows": rows}


def _suite_file(registry: Registry) -> list[dict[str, Any]]:
    """Return the sections of the page on suite files: the core's, then those of plugins."""
    core: type[BaseModel] = get_type_hints(Suite.__init__)["file"]
    seen: set[type[BaseModel]] = set()
    sections: list[dict[str, Any]] = []

    def add(cls: type[BaseModel], title: str) -> None:
        if cls in seen:
            return
        seen.add(cls)
        sections.append(_section(cls, title))
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
    return sections


_API = {
    "bench_core": "The names for authors of methods, data sets, costs and metrics.",
    "bench_core.records": "The names for readers of results.",
    "bench_core.suites": "The names for commands.",
    "bench_core.execution": "The names for executors.",
    "bench_core.testing": "The names for tests.",
}


def _api() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield address, title, summary and qualified names for each page on the Python API."""
    for module, summary in _API.items():
        file = Path(str(importlib.import_module(module).__file__))
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        names = re.findall(r"^from (\.[\w.]*) import (\w+)", file.with_suffix(".pyi").read_text(), re.MULTILINE)
        yield module, f"`{module}`", summary, [f"{package}{source}.{name}" for source, name in names]
    # Only plugins that the extra "all" names: others may be installed, too.
    own = {_normal(re.split("[><=;\\[ ]", one)[0]) for one in metadata.requires("budgetbench") or ()}
    added = [
        p.load() for p in metadata.entry_points(group="budgetbench.names") if p.dist and _normal(p.dist.name) in own
    ]
    names = sorted(f"{thing.__module__}.{thing.__qualname__}" for thing in added)
    yield "plugins", "Names of plugins", "The names that plugins of this repository add to `bench_core`.", names


def _about(name: str) -> str:
    """Return the first paragraph of a class's or function's docstring as HTML; empty for other names."""
    module, _, short = name.rpartition(".")
    thing = getattr(importlib.import_module(module), short, None)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return ""
    text = html.escape(_first(thing), quote=False)
    return re.sub("`(.*?)`", r"<code>\1</code>", text)


def _normal(distribution: str) -> str:
    return distribution.lower().replace("_", "-")


if __name__ == "__main__":
    for path in write(Path(sys.argv[1]), load_registry()):
        print(path)
