"""``bench list NAME``: everything about one registered object; and names for shell completion."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

from bench_core import RequestError, did_you_mean
from bench_core.suites import Plugin, Registry
from bench_inspect.listing import CATALOGUES, KINDS

__all__ = ["about", "names_of"]

_WIDTH = 80
_WORDS = {"datasets": "data set", "costs": "cost scheme", "methods": "method", "metrics": "metric"}


def about(registry: Registry, name: str) -> list[str]:
    """Describe everything registered under a name, in lines: description, parameters, tasks, an entry for a suite.

    Raises:
        RequestError: nothing has this name; the nearest names and kinds are suggested.
    """
    blocks: list[str] = []
    for kind, catalogue in CATALOGUES.items():
        if name in getattr(registry, catalogue):
            described = getattr(registry, catalogue).described(name)
            of_kind = _metric if kind == "metrics" else _parametrised
            blocks += [f"{_WORDS[kind]} {name}", *of_kind(kind, name, described)]
            blocks.append("\n".join(_plugin("Plugin:", registry.plugin_of(catalogue, name))))
    if not blocks and name in registry.plugins:
        plugin = registry.plugins[name]
        lines = [*_plugin("plugin", plugin), f"Module: {plugin.module}"]
        lines += [f"It could not be loaded: {plugin.error}"] if plugin.error else []
        for kind, catalogue in CATALOGUES.items():
            own = sorted(n for n, origin in getattr(registry, catalogue).origins.items() if origin == name)
            lines += [_wrapped(f"{kind}: {', '.join(own)}", rest="    ")] if own else []
        blocks.append("\n".join(lines))
    if not blocks:
        raise RequestError(
            f"nothing is called {name!r}; {did_you_mean(name, [*registry.plugins, *names_of(registry)])}"
        )
    return "\n\n".join(blocks).splitlines()


def _plugin(word: str, plugin: Plugin) -> list[str]:
    lines = [f"{word} {plugin.name} {plugin.version}".rstrip()]
    with suppress(metadata.PackageNotFoundError, ValueError):
        summary = metadata.metadata(plugin.distribution).json.get("summary")
        lines.append(_wrapped(f"{plugin.distribution}: {summary}" if summary else plugin.distribution, rest="    "))
    return lines


def _metric(kind: str, name: str, described: Mapping[str, Any]) -> list[str]:
    better = "larger" if described["goal"] == "max" else "smaller"
    needs = " It needs a method that gives reference decisions." if described["reference"] else ""
    facts = f"Better: {better}. Title: {described['title']}. Tasks: {', '.join(described['tasks'])}.{needs}"
    entry = f'    metrics = ["{name.replace("@k", "@5")}"]'
    return [_wrapped(described["doc"]), _wrapped(facts), "In a suite:", entry]


def _parametrised(kind: str, name: str, described: Mapping[str, Any]) -> list[str]:
    blocks = [_wrapped(described["doc"])]
    if kind == "methods":
        features = f" Features: at most {described['features_limit']}." if described["features_limit"] else ""
        blocks.append(_wrapped(f"Tasks: {', '.join(described['tasks'])}.{features}"))
    blocks.append("Parameters:" if described["parameters"] else "It has no parameters.")
    for parameter, kind_and_default, *notes in described["parameters"]:
        lines = [_wrapped(f"{parameter}: {kind_and_default}", "  ", "      ")]
        blocks.append("\n".join(lines + [_wrapped(note, "      ", "      ") for note in notes if note]))
    prefix, head = ("costs.", ["[[datasets]]", 'use = "iris"']) if kind == "costs" else ("", [f"[[{kind}]]"])
    plain = {key: value for key, value in (described["defaults"] or {}).items() if isinstance(value, int | float | str)}
    needed = [name for name, kind_and_default, *_ in described["parameters"] if kind_and_default.endswith("(required)")]
    # The JSON of a plain value is valid TOML.
    lines = [f"{prefix}parameters.{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    required = [f"# needed: {prefix}parameters.{key}" for key in needed]
    entry = [*head, f'{prefix}use = "{name}"', *required, *[line for line in lines if len(line) < _WIDTH - 4][:3]]
    return [*blocks, "In a suite:", "\n".join(f"    {line}" for line in entry)]


def _wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Wrap paragraphs for a terminal; a docstring's attributes are left out, since they are shown as parameters."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", text) if not block.startswith("Attributes:")]
    wrapper = textwrap.TextWrapper(_WIDTH, first, rest, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(map(wrapper.fill, blocks))


def names_of(registry: Registry) -> list[str]:
    """The names that ``bench list`` accepts: kinds, and registered names."""
    return [*KINDS, *(name for catalogue in CATALOGUES.values() for name in getattr(registry, catalogue))]
