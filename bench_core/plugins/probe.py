"""The probe: describes plugins that are not imported, and asks them about their methods.

Each plugin is imported in one restricted process of its own (`bench_core.plugins.probing`, `bench_sandbox`). What it
answers is validated and kept in a folder until the plugin's code, or that of a distribution it requires, changes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_core
from bench_core.contract.canonical import canonical_json, plain, sha256_text, source_hash
from bench_core.contract.errors import RequestError
from bench_core.contract.facts import DataFacts
from bench_core.plugins.descriptions import (
    Built,
    ConfiguredMethod,
    MethodDescription,
    PluginDescription,
    Refused,
    Text,
    without_control_characters,
)
from bench_core.plugins.distributions import Distributions
from bench_core.plugins.shelf import Plugin

if TYPE_CHECKING:
    from bench_sandbox import Process, Server

__all__ = ["Probe", "ProbeError", "probe_seconds"]

_ANSWERS: dict[str, Any] = {"inapplicable": list[Text | None], "memory_needed": list[float | None]}
_CORE = Path(bench_core.__file__).parent
_MEMORY = 2**32
_MOST_TEXT, _MOST_ASKED, _MOST_KEPT = 2**22, 1000, 20_000


class ProbeError(Exception):
    """A plugin cannot be imported in a process of its own, or does not answer as it must."""


def probe_seconds() -> float:
    """Seconds that a plugin may take to be imported, and for an answer: ``BUDGETBENCH_PROBE_SECONDS``, or 60."""
    try:
        return max(0.1, float(os.environ.get("BUDGETBENCH_PROBE_SECONDS", "")))
    except ValueError:
        return 60.0


class Probe:
    """Processes are started when they are needed, one for each plugin; to be closed.

    Args:
        cache: answers are kept in its folder ``descriptions``; where that cannot be written, nothing is kept.
        closed: what plugins must not read.
    """

    def __init__(self, cache: Path, closed: Iterable[Path] = ()) -> None:
        self._folder, self._closed = cache / "descriptions", [cache, *closed]
        self._server: Server | None = None
        self._processes: dict[str, Process] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._distributions = Distributions()

    @property
    def processes(self) -> set[int]:
        """The number of this process's child that starts the others, where there is one."""
        return {self._server.process} - {0} if self._server is not None else set()

    def close(self) -> None:
        """End the processes; they are started anew when something is asked."""
        self._processes.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def describe(self, plugin: Plugin) -> PluginDescription:
        """What a plugin offers, as it is kept or as the plugin says now.

        Raises:
            ProbeError: it cannot be imported, or its description is invalid.
        """
        kept = self._read(plugin, "description")
        if kept is not None:
            with suppress(ValueError):
                description: PluginDescription = _validated(PluginDescription, kept)
                return description
        try:
            text = _json(self._call(plugin, "describe", {}))
            if len(text) > _MOST_TEXT:
                raise ValueError(f"it has more than {_MOST_TEXT:,} characters")
            description = _validated(PluginDescription, text)
        except ValueError as error:
            raise ProbeError(f"its description is invalid: {error}") from None
        self._write(plugin, "description", text)
        return description

    def build(
        self, plugin: Plugin, requests: Sequence[tuple[MethodDescription, str, Mapping[str, Any], str]]
    ) -> list[ConfiguredMethod | RequestError]:
        """Methods of a plugin with parameters, or why they cannot have them.

        Args:
            plugin: the plugin.
            requests: description, name, parameters, and what a message calls the place.
        """
        questions = [[name, plain(parameters), where] for _, name, parameters, where in requests]
        keys = [_key("build", *question[:2]) for question in questions]
        try:
            answers = _validated(list[Built | Refused], self._ask(plugin, "build", {}, keys, questions))
        except (ProbeError, ValueError) as error:
            message = f"plugin {plugin.name!r} cannot be asked about its methods: {error}"
            return [RequestError(f"{where}: {message}") for *_, where in requests]
        return [
            RequestError(without_control_characters(answer.refused))
            if isinstance(answer, Refused)
            else _configured(name, plugin.name, description, answer)
            for (description, name, *_), answer in zip(requests, answers, strict=True)
        ]

    def ask(self, plugin: Plugin, what: str, asked: Sequence[tuple[ConfiguredMethod, DataFacts]]) -> list[Any]:
        """What a plugin's methods answer about data sets to one of `QUESTIONS`; None where there is no answer."""
        places = {facts: i for i, facts in enumerate(dict.fromkeys(facts for _, facts in asked))}
        tables = [facts.as_plain() for facts in places]
        hashes = [sha256_text(canonical_json(table)) for table in tables]
        questions = [[method.use, method.given, places[facts]] for method, facts in asked]
        keys = [_key(what, method.use, method.given, hashes[places[facts]]) for method, facts in asked]
        try:
            text = self._ask(plugin, "ask", {"what": what, "facts": tables}, keys, questions)
            answers: list[Any] = _validated(_ANSWERS[what], text)
            return answers
        except (ProbeError, ValueError):
            return [None] * len(asked)

    def _ask(
        self, plugin: Plugin, call: str, header: Mapping[str, Any], keys: list[str], questions: list[list[Any]]
    ) -> str:
        """The answers to questions as JSON: those that are kept, and the others as the plugin gives them now.

        Raises:
            ProbeError: it does not answer.
        """
        if plugin.name not in self._answers:
            kept = self._read(plugin, "answers")
            self._answers[plugin.name] = _validated(dict[str, Any], kept) if kept else {}
        known = self._answers[plugin.name]
        asked = dict(zip(keys, questions, strict=True))
        missing = iter([key for key in asked if key not in known])
        new: dict[str, Any] = {}
        while part := {key: asked[key] for key in islice(missing, _MOST_ASKED)}:
            answers = self._call(plugin, call, {**header, "questions": list(part.values())}).get("answers")
            if not isinstance(answers, list) or len(answers) != len(part):
                raise ProbeError("it did not answer what it was asked")
            new |= zip(part, answers, strict=True)
        # A refusal names a place in a suite, which the key does not hold.
        lasting = {key: answer for key, answer in new.items() if not (isinstance(answer, dict) and "refused" in answer)}
        if lasting:
            known |= lasting
            self._write(plugin, "answers", _json(dict(list(known.items())[-_MOST_KEPT:])))
        return _json([known[key] if key in known else new[key] for key in keys])

    def _call(self, plugin: Plugin, call: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of `bench_core.plugins.probing.Probing` in the plugin's process; what it returned, unchecked.

        Raises:
            ProbeError: it does not answer; the message says why.
        """
        from bench_sandbox import CallError, SandboxError, StoppedError

        is_new = plugin.name not in self._processes
        try:
            process = self._processes.get(plugin.name) or self._start(plugin)
            return process.call(call, values, seconds=probe_seconds())[0]
        except CallError as error:
            self._processes.pop(plugin.name).end()
            raise ProbeError(_line(f"{error.type}: {error}" if str(error) else error.type)) from None
        except StoppedError as error:
            self._processes.pop(plugin.name, None)
            if is_new or error.kind in ("time", "malformed"):
                raise ProbeError(_line(str(error))) from None
        except SandboxError as error:
            raise ProbeError(_line(str(error))) from None
        return self._call(plugin, call, values)  # it was killed since it was last asked

    def _start(self, plugin: Plugin) -> Process:
        """A process that imports a plugin with its first call."""
        from bench_sandbox import Server, importable, readable

        if self._server is None:
            self._server = Server(["numpy", "pydantic"], "bench_core.plugins.probing:prepare")
        # The core is not always where modules are imported from: it may be in the working directory.
        needed = [*importable(), _CORE, *([plugin.folder] if plugin.folder else [])]
        self._processes[plugin.name] = self._server.start(
            "bench_core.plugins.probing:Probing",
            {"name": plugin.name, "module": plugin.module},
            read=readable(needed, self._closed),
            memory=_MEMORY,
        )
        return self._processes[plugin.name]

    def _read(self, plugin: Plugin, part: str) -> str | None:
        """What is kept of a plugin as its code is now; None where there is nothing, or the file is damaged."""
        with suppress(OSError, ValueError):
            checksum, _, text = self._path(plugin, part).read_text(encoding="utf-8").partition("\n")
            if plugin.source and checksum == sha256_text(self._state(plugin) + text):
                return text
        return None

    def _write(self, plugin: Plugin, part: str, text: str) -> None:
        """Keep something of a plugin, where its code can be found and the disk takes it."""
        path = self._path(plugin, part)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError, ValueError):
            if plugin.source:
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_text(f"{sha256_text(self._state(plugin) + text)}\n{text}", encoding="utf-8")
                temporary.replace(path)

    def _path(self, plugin: Plugin, part: str) -> Path:
        return self._folder / f"{_key(sys.prefix, plugin.name, plugin.module)[:24]}.{part}.json"

    def _state(self, plugin: Plugin) -> str:
        """A hash of all that decides what a plugin answers: the core, Python, its code and what it requires."""
        known = self._distributions
        required = known.required([plugin.distribution], without=known.core()) if plugin.distribution else ()
        own = [plugin.name, plugin.distribution, plugin.version, plugin.module, plugin.source]
        return _key(self._core_source, sys.version, own, [known.state(name) for name in sorted(required)])

    @cached_property
    def _core_source(self) -> str:
        return source_hash(_CORE)


def _configured(use: str, plugin: str, description: MethodDescription, built: Built) -> ConfiguredMethod:
    limits = None if "inapplicable" in description.asks else built.limits or description.limits
    asks_memory = "memory_needed" in description.asks
    return ConfiguredMethod(use, plugin, description.version, built.parameters, built.given, limits, asks_memory)


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _validated(kind: Any, text: str) -> Any:
    """JSON as a value of some type.

    Raises:
        ValueError: it is none; one line that says where.
    """
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(_line(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")) from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _line(text: str) -> str:
    """Untrusted text as one line that is not too long."""
    return without_control_characters(" ".join(text[:20_000].split()))[:2000]


def _key(*parts: Any) -> str:
    return sha256_text(canonical_json(list(parts)))
