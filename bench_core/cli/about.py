"""``bench list NAME``: one registered thing whole; and what a shell offers to complete."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

import click

from bench_core.cli.listing import CATALOGUES, KINDS
from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.registry import Registry

__all__ = ["about", "complete_names"]

_WIDTH = 80
_WORDS = {"datasets": "data set", "costs": "cost scheme", "methods": "method", "metrics": "metric"}


def about(registry: Registry, name: str) -> list[str]:
    """Lines on everything that is registered under a name: what it is, parameters, tasks, an entry for a suite.

    Raises:
        RequestError: nothing is; the nearest names and kinds are offered.
    """
    kinds = [kind for kind, catalogue in CATALOGUES.items() if name in getattr(registry, catalogue)]
    if name in registry.plugins and not kinds:
        return _plugin(registry, name)
    if not kinds:
        known = [
            *KINDS,
            *registry.plugins,
            *(n for catalogue in CATALOGUES.values() for n in getattr(registry, catalogue)),
        ]
        raise RequestError(f"nothing is called {name!r}; {did_you_mean(name, known)}")
    lines: list[str] = []
    for kind in kinds:
        description = getattr(registry, CATALOGUES[kind]).described(name)
        plugin = registry.plugin_of(CATALOGUES[kind], name)
        lines += ["", f"{_WORDS[kind]} {name}", ""] if lines else [f"{_WORDS[kind]} {name}", ""]
        lines += _metric(name, description) if kind == "metrics" else _parametrised(kind, name, description)
        lines += ["", f"Plugin: {plugin.name} {plugin.version}".rstrip(), *_summary(plugin.distribution)]
    return lines


def _plugin(registry: Registry, name: str) -> list[str]:
    plugin = registry.plugins[name]
    lines = [f"plugin {name} {plugin.version}".rstrip(), *_summary(plugin.distribution), f"Module: {plugin.module}"]
    if plugin.error:
        lines.append(f"It could not be loaded: {plugin.error}")
    for kind, catalogue in CATALOGUES.items():
        own = sorted(n for n, origin in getattr(registry, catalogue).origins.items() if origin == name)
        if own:
            lines += _wrapped(f"{kind}: {', '.join(own)}", indent="    ")
    return lines


def _summary(distribution: str) -> list[str]:
    with suppress(metadata.PackageNotFoundError, ValueError):
        summary = metadata.metadata(distribution)["Summary"]
        return _wrapped(f"{distribution}: {summary}" if summary else distribution, indent="    ")
    return []


def _metric(name: str, description: Mapping[str, Any]) -> list[str]:
    lines = [*_paragraphs(description["doc"]), ""] if description["doc"] else []
    lines.append(f"Better: {'larger' if description['goal'] == 'max' else 'smaller'}. Title: {description['title']}.")
    lines += _wrapped(f"Tasks: {', '.join(description['tasks'])}.")
    if description["reference"]:
        lines.append("It needs a method that gives reference decisions.")
    return [*lines, "", "In a suite:", "", f'    metrics = ["{name.replace("@k", "@5")}"]']


def _parametrised(kind: str, name: str, description: Mapping[str, Any]) -> list[str]:
    lines = _paragraphs(_without_attributes(description["doc"]))
    if kind == "methods":
        lines += ["", *_wrapped(f"Tasks: {', '.join(description['tasks'])}.")]
        if description["features_limit"]:
            lines.append(f"Features: at most {description['features_limit']}.")
    if description["parameters"]:
        lines += ["", "Parameters:"]
        for parameter, kind_and_default, *notes in description["parameters"]:
            lines += ["", *_wrapped(f"  {parameter}: {kind_and_default}", indent="      ")]
            lines += [line for note in notes if note for line in _wrapped(f"      {note}", indent="      ")]
    else:
        lines += ["", "It has no parameters."]
    return [*lines, "", "In a suite:", "", *_example(kind, name, description["defaults"] or {})]


def _example(kind: str, name: str, defaults: Mapping[str, Any]) -> list[str]:
    """An entry of a suite's file, with as many of the defaults as go on its line."""
    from bench_core.testing.plain_toml import toml_text

    pairs: list[str] = []
    entry = _entry(kind, name, "")
    with suppress(Exception):  # a default that has no TOML form: the entry goes without
        for parameter, value in defaults.items():
            pair = "" if value is None else toml_text({parameter: value}).strip()
            if not pair.startswith(f"{parameter} = ") or "\n" in pair:  # no value, or a table
                continue
            pairs.append(pair)
            longer = _entry(kind, name, f"parameters = {{ {', '.join(pairs)} }}")
            if max(map(len, longer)) > _WIDTH or len(pairs) > 3:
                break
            entry = longer
    return entry


def _entry(kind: str, name: str, parameters: str) -> list[str]:
    if kind == "costs":
        inside = ", ".join(filter(None, [f'use = "{name}"', parameters]))
        return ["    [[datasets]]", '    use = "iris"', f"    costs = {{ {inside} }}"]
    return [f"    [[{kind}]]", f'    use = "{name}"', *([f"    {parameters}"] if parameters else [])]


def _without_attributes(doc: str) -> str:
    return "\n\n".join(block for block in re.split(r"\n\s*\n", doc) if not block.startswith("Attributes:"))


def _paragraphs(text: str) -> list[str]:
    """Text at the width of a terminal; what is indented stays as it is."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines += [""] if lines else []
        lines += block.splitlines() if block.startswith(" ") else _wrapped(" ".join(block.split()))
    return lines


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names that begin as a word does, for the shell: kinds, and what is registered."""
    from bench_core.cli.options import listed_plugins

    return sorted({name for name in _names(listed_plugins()) if name.startswith(incomplete)})


def _names(registry: Registry) -> Iterator[str]:
    yield from KINDS
    for catalogue in CATALOGUES.values():
        yield from getattr(registry, catalogue)
