"""The probe describes plugins without importing them here, and asks them about their methods.

Each plugin is imported in its own restricted process (`bench_core.plugins.probing`, `bench_sandbox`). Its answers are
validated and cached on disk until the code of the plugin or of one of its requirements changes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_store import open_file, seal, unseal, write_cache

import bench_core
from bench_core.contract.canonical import canonical_json, plain, sha256_text
from bench_core.contract.errors import ProbeError, RequestError
from bench_core.contract.facts import DataFacts
from bench_core.plugins.catalogue import Plugin
from bench_core.plugins.descriptions import Built, PluginDescription, Refused, Text, without_control_characters
from bench_core.plugins.distributions import Distributions

if TYPE_CHECKING:
    from bench_sandbox import Process, Server

__all__ = ["Probe", "Question", "probe_seconds"]

Question = tuple[str, Mapping[str, Any], str]
"""A method's name, its parameters, and the place in the suite for messages."""
_ANSWERS: dict[str, Any] = {
    "build": list[Built | Refused],
    "inapplicable": list[Text | None],
    "memory_needed": list[float | None],
}
_CORE = Path(bench_core.__file__).parent
_MEMORY = 2**32
_MOST_TEXT, _MOST_ASKED, _MOST_KEPT = 2**22, 1000, 20_000


def probe_seconds() -> float:
    """Time limit for importing a plugin, and for each answer: ``BUDGETBENCH_PROBE_SECONDS``, or 60."""
    try:
        return max(0.1, float(os.environ.get("BUDGETBENCH_PROBE_SECONDS", "")))
    except ValueError:
        return 60.0


class Probe:
    """Starts one process per plugin when it is needed. Close it after use.

    Args:
        cache: answers are cached in its folder ``descriptions``, if that can be written.
        closed: paths that plugins must not read.
    """

    def __init__(self, cache: Path, closed: Iterable[Path] = ()) -> None:
        self._folder, self._closed = cache / "descriptions", [cache, *closed]
        self._server: Server | None = None
        self._processes: dict[str, Process] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._unsaved: dict[str, Plugin] = {}
        self._distributions = Distributions()

    def close(self) -> None:
        """Save new answers and end the processes. The next question starts them again."""
        self.save()
        self._processes.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def describe(self, plugin: Plugin) -> PluginDescription:
        """Describe a plugin, from the cache or anew.

        Raises:
            ProbeError: it cannot be imported, or its description is invalid.
        """
        known = self._known(plugin)
        try:
            text = _json(known.get("describe") or self._call(plugin, "describe", {}))
            if len(text) > _MOST_TEXT:
                raise ValueError(f"it has more than {_MOST_TEXT:,} characters")
            description: PluginDescription = _validated(PluginDescription, text)
        except ValueError as error:
            raise ProbeError(f"its description is invalid: {error}") from None
        if "describe" not in known:
            self._keep(plugin, {"describe": json.loads(text)})
            self.save()
        return description

    def ask(
        self, plugin: Plugin, what: str, questions: Sequence[Question], facts: DataFacts | None = None
    ) -> list[Any]:
        """Ask a plugin about its methods. Cached answers are used; only new questions go to its process.

        `save` writes the new answers to the cache.

        Args:
            plugin: the plugin.
            what: ``build``, or one of `QUESTIONS`.
            questions: methods with parameters.
            facts: the facts of the data set in question; None for ``build``.

        Returns:
            One answer per question. For ``build``, a `Built`, or a `RequestError` with the reason of the refusal; else
            the method's answer or None.

        Raises:
            ProbeError: the plugin does not answer, or its answers are invalid.
        """
        known, table = self._known(plugin), facts and facts.as_plain()
        about = _key(what, table)
        plain_questions = [(name, plain(parameters), where) for name, parameters, where in questions]
        keys = [_key(about, name, parameters) for name, parameters, _ in plain_questions]
        asked = dict(zip(keys, plain_questions, strict=True))
        missing, new = [key for key in asked if key not in known], dict[str, Any]()
        for start in range(0, len(missing), _MOST_ASKED):
            part = missing[start : start + _MOST_ASKED]
            values = {"what": what, "facts": table, "questions": [asked[key] for key in part]}
            answers = self._call(plugin, "build" if what == "build" else "ask", values).get("answers")
            if not isinstance(answers, list) or len(answers) != len(part):
                raise ProbeError("it did not give one answer per question")
            new |= zip(part, answers, strict=True)
        every = known | new
        try:
            validated = _validated(_ANSWERS[what], _json([every[key] for key in keys]))
        except ValueError as error:
            raise ProbeError(str(error)) from None
        # Refusals are not cached: they name a place in a suite, which is not part of the key.
        lasting = {key: answer for key, answer in new.items() if not (isinstance(answer, dict) and "refused" in answer)}
        if lasting:
            self._keep(plugin, lasting)
        return [
            RequestError(without_control_characters(answer.refused)) if isinstance(answer, Refused) else answer
            for answer in validated
        ]

    def _call(self, plugin: Plugin, call: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of `bench_core.plugins.probing.Probing` in the plugin's process; return its unchecked answer.

        Raises:
            ProbeError: it does not answer; the message says why.
        """
        from bench_sandbox import CallError, SandboxError, StoppedError

        is_new = plugin.name not in self._processes
        try:
            process = self._processes.get(plugin.name) or self._start(plugin)
            return process.call(call, values, seconds=probe_seconds())[0]
        except (CallError, SandboxError, StoppedError) as error:
            if (ended := self._processes.pop(plugin.name, None)) is not None:
                ended.end()
            if isinstance(error, StoppedError) and not is_new and error.kind not in ("time", "malformed"):
                return self._call(plugin, call, values)  # the process was killed after its last answer
            kind = f"{error.type}: " if isinstance(error, CallError) else ""
            raise ProbeError(_line(f"{kind}{error}").removesuffix(":")) from None

    def _start(self, plugin: Plugin) -> Process:
        """Start a process that imports a plugin at its first call."""
        from bench_sandbox import Server, importable, readable

        if self._server is None:
            self._server = Server(["numpy", "pydantic"], "bench_core.plugins.probing:prepare")
        # The core may be importable only from the working directory.
        needed = [*importable(), _CORE, *([plugin.folder] if plugin.folder else [])]
        self._processes[plugin.name] = self._server.start(
            "bench_core.plugins.probing:Probing",
            {"name": plugin.name, "module": plugin.module},
            read=readable(needed, self._closed),
            memory=_MEMORY,
        )
        return self._processes[plugin.name]

    def _known(self, plugin: Plugin) -> dict[str, Any]:
        """Cached answers for the current code of a plugin; none if the file is damaged."""
        if plugin.name not in self._answers:
            self._answers[plugin.name] = {}
            with suppress(OSError, ValueError, KeyError), open_file(self._path(plugin)) as file:
                kept = unseal(file.read())
                if kept["state"] == self._distributions.state_of(plugin):
                    self._answers[plugin.name] = kept["kept"]
        return self._answers[plugin.name]

    def _keep(self, plugin: Plugin, new: Mapping[str, Any]) -> None:
        """Keep answers of a plugin; `save` writes them, if its code can be found."""
        known = self._known(plugin)
        known |= new
        if plugin.source:
            self._unsaved[plugin.name] = plugin

    def save(self) -> None:
        """Write new answers to the cache, one file per plugin, where a file can be written."""
        for plugin in self._unsaved.values():
            latest = dict(list(self._answers[plugin.name].items())[-_MOST_KEPT:])
            with suppress(ValueError):
                write_cache(self._path(plugin), seal({"kept": latest, "state": self._distributions.state_of(plugin)}))
        self._unsaved.clear()

    def _path(self, plugin: Plugin) -> Path:
        return self._folder / f"{_key(sys.prefix, plugin.name, plugin.module)[:24]}.json"


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _validated(kind: Any, text: str) -> Any:
    """Parse and validate JSON as a type.

    Raises:
        ValueError: it is invalid; the message is one line that names the location.
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
    """Make untrusted text a single line of limited length."""
    return without_control_characters(" ".join(text[:20_000].split()))[:2000]


def _key(*parts: Any) -> str:
    return sha256_text(canonical_json(list(parts)))
