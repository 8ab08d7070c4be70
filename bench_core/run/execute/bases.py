"""Processes that have imported the common libraries and nothing else: what a plugin's process is forked from.

Importing scikit-learn and Numba takes seconds; a fork takes milliseconds. A *base* has imported the core and some
libraries, never a plugin, and has seen no data; it has one thread. Each base comes from the one before: the core
alone, then with scikit-learn, then with Numba. A plugin's process is forked from the first that has the libraries
which the plugin's distribution says it needs: a larger process takes longer to fork, with every trial.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from bench_core.plugins.registry import Registry
from bench_core.plugins.shelf import Plugin
from bench_core.run.execute.starting import new_interpreter
from bench_core.run.execute.wire import EndedError, MalformedError, ask

__all__ = ["LEVELS", "Base", "Bases", "import_level", "level_of", "levels_of", "threads"]

LEVELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("scikit-learn", ("sklearn.linear_model", "sklearn.tree", "sklearn.ensemble")),
    ("numba", ("numba",)),
)
"""Distribution → the modules of it that a base imports; every level has those before it."""

_FORK_SECONDS, _IMPORT_SECONDS = 60.0, 300.0
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from bench_core.run.execute.nursery import serve_base; serve_base(int(sys.argv[1]))"
)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def level_of(plugin: Plugin) -> int:
    """How many levels of libraries a plugin's distribution needs, itself or through what it needs."""
    known = [name for name, _ in LEVELS]
    seen, left = {"budgetbench"}, [plugin.distribution] if plugin.distribution else []
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        # What these need in turn is imported with them.
        if name not in known:
            left += _required(name)
    return max((known.index(name) + 1 for name in known if name in seen), default=0)


def _required(distribution: str) -> list[str]:
    """What a distribution needs when nothing more is asked for; nothing where that cannot be told."""
    try:
        lines = metadata.requires(distribution) or []
    except Exception:  # damaged metadata of any kind: its process imports for itself
        return []
    plain = [line for line in lines if "extra" not in line.partition(";")[2]]
    return [match.group() for match in map(_NAME.match, plain) if match]


def levels_of(registry: Registry, methods: Iterable[str]) -> int:
    """The most that the plugins of some methods need."""
    plugins = {registry.plugin_of("methods", method).name for method in methods}
    return max((level_of(registry.plugins[name]) for name in plugins), default=0)


def import_level(level: int) -> None:
    """Import what a level adds to the one before; what is not installed, or fails, is left out."""
    # A confined process cannot make semaphores, and joblib asks for them once, when it is imported: here.
    os.environ["JOBLIB_MULTIPROCESSING"] = "0"
    for module in LEVELS[level - 1][1]:
        with suppress(Exception):
            import_module(module)
            if module == "numba":  # the first function takes more than a second, whatever it does
                import_module(module).njit(_nothing)(1)


def _nothing(number: int) -> int:
    return number


def threads() -> int:
    """How many threads there are that a fork would miss; memory allocators restart theirs."""
    if sys.platform != "linux":
        return 1
    names = [Path(f"/proc/self/task/{task}/comm").read_text() for task in os.listdir("/proc/self/task")]
    return sum(not name.startswith("jemalloc") for name in names)


class Base:
    """A base process, at the other end of a socket.

    Attributes:
        process: its number.
        kill: end it, and so all that was forked from it.
    """

    def __init__(self, heard: socket.socket, process: int, kill: Callable[[], object]) -> None:
        self.heard, self.process, self._kill, self._gone = heard, process, kill, False

    def ask(self, header: dict[str, Any], seconds: float, fds: Iterable[int] = ()) -> dict[str, Any]:
        """Tell it something and hear its answer.

        Raises:
            EndedError, MalformedError, TimeoutError: it is gone, or silent.
        """
        if self._gone:
            raise EndedError
        return ask(self.heard, header, seconds, fds)[0]

    def fork(self, header: dict[str, Any]) -> tuple[socket.socket, int]:
        """A fork of it that does as the header says, by its end of a socket and its number."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                return ours, int(self.ask(header, _FORK_SECONDS, [theirs.fileno()])["process"])
        except BaseException:
            ours.close()
            raise

    def end(self, process: int) -> int | None:
        """Kill a fork of it and wait for its end; its exit code, None when the base is gone."""
        try:
            code = self.ask({"do": "end", "process": process}, _FORK_SECONDS).get("code")
        except (EndedError, MalformedError, TimeoutError):
            self.kill()
            return None
        return code if type(code) is int else None

    def kill(self) -> None:
        """End it; what was forked from it dies with it."""
        if not self._gone:
            self._gone = True
            self.heard.close()
            self._kill()


class Bases:
    """The bases of one process that judges trials, each made when it is needed."""

    def __init__(self) -> None:
        self._bases: dict[int, Base] = {}

    @classmethod
    def forked(cls, level: int, serve: Callable[[int, int], None]) -> Bases:
        """Bases that are forks of this process, for which it imports the libraries of the first level, too.

        To be called in a process of one thread that has imported no plugin and has no data.

        Args:
            level: the most that will be asked for.
            serve: what a base does, given its socket's number and its parent's.
        """
        bases = cls()
        bases._fork(0, serve)
        if level:
            import_level(1)
            bases._fork(1, serve)
        return bases

    @property
    def processes(self) -> set[int]:
        """The numbers of the base processes."""
        return {base.process for base in self._bases.values()}

    def get(self, level: int) -> Base:
        """The base of a level, or of the one before where libraries start threads, which a fork would miss."""
        if level not in self._bases:
            self._bases[level] = self._grown(level) if level else self._fresh()
        return self._bases[level]

    def forget(self) -> None:
        """One of them is gone: end all of them, and begin anew when one is asked for."""
        for level in sorted(self._bases, reverse=True):
            self._bases[level].kill()
        self._bases.clear()

    def _fresh(self) -> Base:
        """A new interpreter that imports the core."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = new_interpreter(_START, theirs)

        def kill() -> None:
            process.kill()
            process.wait()

        return Base(ours, process.pid, kill)

    def _grown(self, level: int) -> Base:
        """A fork of the level before that imports more."""
        before = self.get(level - 1)
        ours, process = before.fork({"do": "grow", "level": level})
        base = Base(ours, process, lambda: before.end(process))
        try:
            if base.ask({"do": "threads"}, _IMPORT_SECONDS).get("threads") == 1:
                return base
        except (EndedError, MalformedError, TimeoutError):
            pass
        base.kill()
        return before

    def _fork(self, level: int, serve: Callable[[int, int], None]) -> None:
        """This process's own fork as the base of a level, unless there are threads that it would miss."""
        if threads() != 1:
            return
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        process = os.fork()
        if not process:
            with suppress(BaseException):
                serve(theirs.detach(), parent)
            os._exit(0)
        theirs.close()

        def kill() -> None:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)

        self._bases[level] = Base(ours, process, kill)
