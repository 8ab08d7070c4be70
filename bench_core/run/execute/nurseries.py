"""The plugins' processes of one judge, and what is forked of them: where, when, and in which empty folder.

A fork takes the system some milliseconds, as does the end of one. Neither is waited for where that can be helped: the
method's process is forked while its data is prepared, the witness's while the method fits, and an audited trial's
process ends while the metrics are computed. No process is told anything before those are gone that it must not hear of.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from bench_core.contract.method import Problem
from bench_core.plugins.shelf import Plugin
from bench_core.run.execute.bases import Bases, level_of
from bench_core.run.execute.parties import Nursery, Party, made_up_problem, packed_problem
from bench_core.run.execute.wire import EndedError, MalformedError
from bench_core.run.failures import TrialStopped

__all__ = ["Nurseries"]

_REHEARSAL_SECONDS = 120.0
_FOLDERS = 3
_LOST = (EndedError, MalformedError, TimeoutError)


class Nurseries:
    """One nursery for each plugin that is needed, and the forks of them.

    Args:
        folder: an empty folder of its own, made when it is needed.
        cache: where compiled kernels are kept, by plugin.
        read: what the processes may read.
        killed: called when processes had to be killed, to end what they left.
        bases: what the nurseries are forked from.
    """

    def __init__(self, folder: Path, cache: Path, read: list[Path], killed: Callable[[], object], bases: Bases) -> None:
        self._folder, self._cache, self._read, self._killed, self._bases = folder, cache, read, killed, bases
        self._nurseries: dict[str, Nursery] = {}
        self._plain: set[str] = set()
        self._ahead: Party | None = None
        self._leaving: list[tuple[Nursery, Callable[[], int | None]]] = []
        self._turn = 0
        self._states: dict[str, tuple[int, ...]] = {}

    @property
    def processes(self) -> set[int]:
        """The numbers of the processes that the nurseries are forked from."""
        return self._bases.processes

    def prepare(
        self, plugin: Plugin, kind: tuple[Any, ...], problem: Problem, asked: dict[str, Any], seconds: float
    ) -> None:
        """Let a new nursery fit something made up before its first fork; compile kernels in one worker at a time.

        What a fork imports and compiles is for itself alone, since it must leave nothing behind.
        """
        if plugin.name in self._nurseries:
            return
        kernels = self._kernels_of(plugin)
        with kernels.with_name(f"{kernels.name}.lock").open("w") as lock:
            if not any(kernels.iterdir()):
                flock(lock, LOCK_EX)
            self._import(plugin, kernels)
            self.rehearse(plugin, kind, problem, asked, seconds)
            (kernels / "rehearsed").touch()

    def rehearse(
        self, plugin: Plugin, kind: tuple[Any, ...], problem: Problem, asked: dict[str, Any], seconds: float
    ) -> None:
        """Let the nursery fit what is made up, so that later forks find modules and kernels there.

        Where that ends it or leaves threads, which no fork would have, its successor does without.

        Args:
            seconds: the most that it may take; two minutes at most.
        """
        nursery = self._nurseries.get(plugin.name)
        if nursery is None or kind in nursery.rehearsed or plugin.name in self._plain:
            return
        nursery.rehearsed.add(kind)
        made_up = packed_problem(made_up_problem(problem))
        header = {"do": "rehearse", **asked, "table": made_up.table}
        with suppress(*_LOST):
            if nursery.ask(header, min(seconds, _REHEARSAL_SECONDS), [made_up.fd]).get("threads") == 1:
                return
        self._plain.add(plugin.name)
        self.kill(plugin.name)

    def fork_ahead(self, plugin: Plugin, asked: dict[str, Any]) -> None:
        """Have a process forked that will be asked for next, where the plugin is imported; nobody waits for it.

        Args:
            asked: the method, its parameters and the memory that the process may allocate.
        """
        nursery = self._nurseries.get(plugin.name)
        # A nursery that cannot rehearse has forks with links to kernels in their folders: these are made when needed.
        if nursery is not None and plugin.name not in self._plain and self._ahead is None:
            with suppress(*_LOST):  # that is noticed when it is needed
                self._ahead = Party(nursery, {**asked, "folder": self._empty_folder()})

    def fork(self, plugin: Plugin, kind: tuple[Any, ...], asked: dict[str, Any], *, witness: bool = False) -> Party:
        """A process of a method, in a folder with nothing but links to compiled kernels, when all that were left are
        gone: the one that was forked ahead where it is fit for it.

        Args:
            witness: whether there must be no memory that it could have shared with an earlier one.

        Raises:
            TrialStopped: there is none to be had.
        """
        kernels = self._kernels_of(plugin)
        for _ in range(2):
            self._import(plugin, kernels)
            nursery = self._nurseries[plugin.name]
            linked = kind not in nursery.rehearsed and any(kernels.iterdir())
            party, self._ahead = self._ahead, None
            try:
                if party is not None and (linked or not self._fits(party, nursery, asked)):
                    self.leave(party)
                    party = None
                if party is None:
                    self._wait()
                    folder = self._empty_folder()
                    if linked:
                        shutil.copytree(kernels, Path(folder) / "kernels", copy_function=os.symlink)
                    party = Party(nursery, {**asked, "folder": folder})
                party.ready()
                if witness:
                    party.check_memory()
                self._wait()
                if self._nurseries.get(plugin.name) is nursery:
                    return party
            except TrialStopped:
                self.kill(plugin.name)
                raise
            except _LOST:
                self.kill(plugin.name)
        raise TrialStopped("crash", f"plugin {plugin.name!r}: no process can be started for it")

    def leave(self, party: Party | None) -> None:
        """Have a process ended with what it started. Nobody waits for it; but no later one is asked before."""
        if party is not None and not party.ended:
            try:
                self._leaving.append((party.nursery, party.end()))
            except _LOST:
                self._lost(party.nursery)

    def leave_ahead(self) -> None:
        """What was forked ahead is not needed."""
        party, self._ahead = self._ahead, None
        self.leave(party)

    def kill(self, name: str) -> None:
        """End a nursery and all that came from it."""
        nursery = self._nurseries.pop(name, None)
        if nursery is not None:
            if self._ahead is not None and self._ahead.nursery is nursery:
                self._ahead = None
            nursery.kill()
            self._killed()

    def close(self) -> None:
        """There is nothing more to run."""
        for nursery in self._nurseries.values():
            nursery.kill()
        self._nurseries.clear()
        self._bases.forget()
        self._killed()  # where a base was killed, what it was the parent of
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self) -> None:
        """Until all that were left are gone."""
        while self._leaving:
            nursery, gone = self._leaving.pop()
            try:
                gone()
            except _LOST:
                self._lost(nursery)

    def _lost(self, nursery: Nursery) -> None:
        """End a nursery that does not do what it is told, and with it what was to be ended."""
        if self._nurseries.get(nursery.plugin.name) is nursery:
            self.kill(nursery.plugin.name)

    def _fits(self, party: Party, nursery: Nursery, asked: dict[str, Any]) -> bool:
        """Whether what was forked ahead is what is asked for, and its folder is as it was."""
        folder = party.asked["folder"]
        unchanged = self._states[folder] == _state(folder)
        return unchanged and party.nursery is nursery and party.asked == {**asked, "folder": folder}

    def _empty_folder(self) -> str:
        """An empty folder, of three that take turns: what was in it last is gone, even where the process before is not.

        Nothing of an earlier process may be there, not even a time; making a folder takes a millisecond.
        """
        self._turn = (self._turn + 1) % _FOLDERS
        folder = str(self._folder / str(self._turn))
        if folder not in self._states or self._states[folder] != _state(folder):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        self._states[folder] = _state(folder)
        return folder

    def _kernels_of(self, plugin: Plugin) -> Path:
        """Where a plugin's compiled kernels are kept; made when it is not there."""
        kernels = self._cache / f"{plugin.name}-{plugin.source[:16]}"
        kernels.mkdir(parents=True, exist_ok=True)
        return kernels

    def _import(self, plugin: Plugin, kernels: Path) -> None:
        """Start a plugin's nursery, where there is none."""
        if plugin.name in self._nurseries:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        read, write = [*self._read, kernels], [kernels, self._folder]
        for again in (True, False):
            try:
                base = self._bases.get(level_of(plugin))
                self._nurseries[plugin.name] = Nursery(plugin, base, read, write)
                return
            except _LOST:  # of a base, which may have been killed
                self._nurseries.clear()
                self._ahead = None
                self._bases.forget()
                self._killed()
                if not again:
                    raise TrialStopped("crash", "no process can be started for plugins") from None


def _state(folder: str) -> tuple[int, ...]:
    """What changes when a folder is read or written to."""
    with suppress(OSError):
        now = os.stat(folder)
        return now.st_ino, now.st_atime_ns, now.st_mtime_ns, now.st_ctime_ns
    return ()
