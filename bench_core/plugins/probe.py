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
from bench_core.plugins.distributions import CORE, Distributions

if TYPE_CHECKING:
    from bench_sandbox import Process, Server

__all__ = ["Probe", "Question", "probe_seconds"]

Question = tuple[str, Mapping[str, Any], str]
"""A method's name, its parameters, and what a message calls the place."""
_ANSWERS: dict[str, Any] = {
    "build": list[Built | Refused],
    "inapplicable": list[Text | None],
    "memory_needed": list[float | None],
}
_CORE = Path(bench_core.__file__).parent
_MEMORY = 2**32
_MOST_TEXT, _MOST_ASKED, _MOST_KEPT = 2**22, 1000, 20_000


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

    def close(self) -> None:
        """End the processes; they are started anew when something is asked."""
        self._processes.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def describe(self, plugin: Plugin) -> PluginDescription:
        """What a plugin offers: the description that is kept, or a new one.

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
        return description

    def ask(
        self, plugin: Plugin, what: str, questions: Sequence[Question], facts: DataFacts | None = None
    ) -> list[Any]:
        """What a plugin answers about its methods: answers that are kept, and the others as it gives them now.

        Args:
            plugin: the plugin.
            what: ``build``, or one of `QUESTIONS`.
            questions: about methods with parameters.
            facts: of the data set that is asked about, but for ``build``.

        Returns:
            For ``build`` a `Built` for each or a `RequestError` that says why not; else the answer or None.

        Raises:
            ProbeError: it does not answer, or its answers are invalid.
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
                raise ProbeError("it did not answer what it was asked")
            new |= zip(part, answers, strict=True)
        every = known | new
        try:
            validated = _validated(_ANSWERS[what], _json([every[key] for key in keys]))
        except ValueError as error:
            raise ProbeError(str(error)) from None
        # A refusal names a place in a suite, which the key does not hold.
        lasting = {key: answer for key, answer in new.items() if not (isinstance(answer, dict) and "refused" in answer)}
        if lasting:
            self._keep(plugin, lasting)
        return [
            RequestError(without_control_characters(answer.refused)) if isinstance(answer, Refused) else answer
            for answer in validated
        ]

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
        except (CallError, SandboxError, StoppedError) as error:
            ended = self._processes.pop(plugin.name, None)
            if ended is not None:
                ended.end()
            if isinstance(error, StoppedError) and not is_new and error.kind not in ("time", "malformed"):
                return self._call(plugin, call, values)  # it was killed since it was last asked
            kind = f"{error.type}: " if isinstance(error, CallError) else ""
            raise ProbeError(_line(f"{kind}{error}").removesuffix(":")) from None

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

    def _known(self, plugin: Plugin) -> dict[str, Any]:
        """What is kept of a plugin as its code is now; nothing where the file is damaged."""
        if plugin.name not in self._answers:
            self._answers[plugin.name] = {}
            with suppress(OSError, ValueError, KeyError), open_file(self._path(plugin)) as file:
                kept = unseal(file.read())
                if kept["state"] == self._state(plugin):
                    self._answers[plugin.name] = kept["kept"]
        return self._answers[plugin.name]

    def _keep(self, plugin: Plugin, new: Mapping[str, Any]) -> None:
        """Keep answers of a plugin; in its file, too, where its code can be found and the disk takes it."""
        known = self._known(plugin)
        known |= new
        if plugin.source:
            latest = dict(list(known.items())[-_MOST_KEPT:])
            with suppress(ValueError):
                write_cache(self._path(plugin), seal({"kept": latest, "state": self._state(plugin)}))

    def _path(self, plugin: Plugin) -> Path:
        return self._folder / f"{_key(sys.prefix, plugin.name, plugin.module)[:24]}.json"

    def _state(self, plugin: Plugin) -> str:
        """A hash of all that decides what a plugin answers: the core, Python, its code and what it requires."""
        known = self._distributions
        required = known.required([CORE, plugin.distribution], without=known.core() - {CORE})
        own = [plugin.name, plugin.distribution, plugin.version, plugin.module, plugin.source]
        return _key(sys.version, own, [known.state(name) for name in sorted(required)])


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _validated(kind: Any, text: str) -> Any:
    """JSON as a value of some type.

    Raises:
        ValueError: it is invalid; one line that says where.
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
