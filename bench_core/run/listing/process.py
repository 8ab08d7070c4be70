"""The processes in which plugins are imported to tell what they offer, and what they are asked there.

The *lister* is a new interpreter that imports the core and never a plugin. For each plugin it forks a process of a
session of its own, whose output goes nowhere, that can write to an empty folder only (where the kernel has Landlock).
That one imports the plugin, tells in JSON what it offers, and answers questions about its methods. Whatever it leaves
behind becomes the lister's child, which ends it.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from inspect import getattr_static, signature
from typing import Any

from bench_core.contract.canonical import plain
from bench_core.contract.errors import RequestError, attempt
from bench_core.contract.facts import DataFacts
from bench_core.contract.method import Method
from bench_core.contract.parameters import build, given_parameters, to_plain
from bench_core.plugins.description import description_of
from bench_core.plugins.listed import ASKED
from bench_core.plugins.manager import load_registry, new_manager, one_line, registered_alone
from bench_core.plugins.registry import Registry
from bench_core.run.execute.leftovers import Leftovers, adopt_orphans, die_with_parent, ended, name_process
from bench_core.run.execute.sandbox import confine, drop_privileges
from bench_core.run.execute.starting import keep_one_file
from bench_core.run.execute.wire import EndedError, receive, send

__all__ = ["serve"]

_LIMITS = ("classes_limit", "features_limit", "takes_missing", "needs_threshold")
_MOST_MEMORY = 2**32
_MOMENT = 0.5
_SHELVES = ("datasets", "cost_schemes", "metrics")


def serve(number: int) -> None:
    """Be the lister: fork a process for each plugin that the judge names, until the judge is gone.

    Args:
        number: of the socket to the judge.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    name_process("bench-lister")
    judge = socket.socket(fileno=number)
    os.set_inheritable(number, False)
    load_registry(entry_points=False)  # what plugins need of the core, and NumPy, is imported once, before the forks
    here = os.getpid()
    forks: set[int] = set()
    leftovers = Leftovers(lambda process: process in forks)
    with suppress(EndedError):
        while True:
            asked, _, fds = receive(judge, 0, files=True)
            if asked["do"] == "fork":
                process = os.fork()
                if not process:
                    _be_plugin(fds[0], here)
                os.close(fds[0])
                forks.add(process)
                send(judge, {"process": process})
            else:
                status = ended(asked["process"], _MOMENT)
                forks.discard(asked["process"])
                leftovers.end()
                send(judge, {"code": os.waitstatus_to_exitcode(status)})
    forks.clear()
    leftovers.end()


def _be_plugin(number: int, parent: int) -> None:
    """Import a plugin, tell what it offers, and answer what is asked; never returns."""
    code = 1
    try:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        keep_one_file(number)
        name_process("bench-listing")
        judge = socket.socket(fileno=number)
        asked, _, _ = receive(judge, 0)
        os.chdir(asked["folder"])
        os.environ["TMPDIR"] = os.environ["NUMBA_CACHE_DIR"] = asked["folder"]
        tempfile.tempdir = None
        drop_privileges()
        confine(asked["read"], [asked["folder"]])
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
        before = set(sys.modules)
        try:
            registry, module = registered_alone(asked["name"], asked["module"])
            answer: dict[str, Any] = {"listing": _listing(registry, module)}
        except BaseException as error:
            answer = {"error": one_line(error)[:2000]}
        send(judge, {**answer, "files": _files(before)})
        asks = _Asks(registry) if "listing" in answer else None
        while asks is not None:
            asked, _, _ = receive(judge, 0)
            answers = getattr(asks, f"do_{asked['do']}")(asked)
            send(judge, {"answers": answers, "files": _files(before)})
    except EndedError:
        code = 0
    finally:
        os._exit(code)


def _files(before: set[str]) -> list[str]:
    """The files of modules that were imported since."""
    files = (getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before)
    return sorted({file for file in files if isinstance(file, str)})


def _listing(registry: Registry, module: object) -> dict[str, Any]:
    """What a plugin offers, as `bench_core.plugins.listed.listing_from` reads it."""
    manager = new_manager()
    known = {name for name, hook in vars(manager.hook).items() if hook.spec is not None}
    hooks, unmarked, replays = {}, [], {}
    for name in dir(module):
        marked = manager.parse_hookimpl_opts(module, name)
        if marked is None:
            unmarked += [name] if name.startswith("bench_") and callable(getattr(module, name)) else []
            continue
        hook = marked.get("specname") or name
        hooks[hook] = bool(marked.get("optionalhook"))
        if hook not in known:
            calls = attempt(partial(_calls, getattr(module, name)))
            if isinstance(calls, list):
                replays[hook] = calls
    offered: dict[str, Any] = {
        shelf: {name: description_of(thing) for name, thing in getattr(registry, shelf).items()} for shelf in _SHELVES
    }
    offered["methods"] = {name: _method(cls) for name, cls in registry.methods.items()}
    names = {"sections": list(registry.sections), "executors": list(registry.executors)}
    return {**offered, **names, "hooks": hooks, "unmarked": unmarked, "replays": replays}


def _calls(hook: Any) -> list[list[str]] | None:
    """The texts that a hook registers with its only argument, ``register``; None where it does anything else."""
    if list(signature(hook).parameters) != ["register"]:
        return None
    calls: list[Any] = []
    hook(register=lambda *texts: calls.append(list(texts)))
    return calls if all(isinstance(text, str) for texts in calls for text in texts) else None


def _method(cls: type[Method]) -> dict[str, Any]:
    overrides = [name for name in ASKED if getattr(cls, name) is not getattr(Method, name)]
    names = ("tasks", *_LIMITS)
    fixed = not any(isinstance(getattr_static(cls, name), property) for name in names)
    limits = _limits(cls) if fixed else None
    return {"version": cls.version, "limits": limits, "asks": overrides, "about": description_of(cls)}


def _limits(method: Any) -> list[Any]:
    return [sorted(method.tasks), *(getattr(method, name) for name in _LIMITS)]


class _Asks:
    """Answers to what the judge asks about the methods of a plugin."""

    def __init__(self, registry: Registry) -> None:
        self._methods: Mapping[str, type[Method]] = registry.methods
        self._instances: dict[tuple[str, str], Any] = {}
        self._limits = {name: attempt(partial(_limits, cls)) for name, cls in registry.methods.items()}

    def do_build(self, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What methods with parameters are, or why they cannot be."""
        return [self._built(*question) for question in asked["asked"]]

    def _built(self, name: str, parameters: dict[str, Any], where: str) -> dict[str, Any]:
        try:
            method = build(self._methods[name], parameters, where)
            values = {"parameters": to_plain(method), "given": given_parameters(method)}
            limits = attempt(partial(_limits, method))
            return (
                values if limits == self._limits[name] or not isinstance(limits, list) else {**values, "limits": limits}
            )
        except RequestError as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"refused": f"{where}: {one_line(error)}"}

    def do_ask(self, asked: Mapping[str, Any]) -> list[Any]:
        """What methods say about data sets."""
        facts = [DataFacts.from_plain(table) for table in asked["facts"]]
        return [
            self._answer(name, parameters, asked["what"], facts[place]) for name, parameters, place in asked["asked"]
        ]

    def _answer(self, name: str, parameters: dict[str, Any], what: str, facts: DataFacts) -> Any:
        """What a method says about a data set; None where it fails."""
        key = name, repr(parameters)
        if key not in self._instances:
            self._instances[key] = attempt(partial(build, self._methods[name], parameters, name))
        answer = attempt(lambda: plain(getattr(self._instances[key], what)(facts)))
        return None if isinstance(answer, BaseException) else answer
