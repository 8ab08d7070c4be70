"""The judge's side of listing: plugins are imported elsewhere, and asked, within a time; nothing said is believed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

from bench_core.plugins.shelf import Plugin
from bench_core.run.execute.parties import how_it_died
from bench_core.run.execute.sandbox import importable, readable
from bench_core.run.execute.starting import new_interpreter
from bench_core.run.execute.wire import EndedError, MalformedError, receive, send

__all__ = ["Listers", "ListingError", "seconds_to_list"]

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from bench_core.run.listing.process import serve; serve(int(sys.argv[1]))"
)
_SECONDS_TO_START, _SECONDS_TO_END = 300.0, 10.0


class ListingError(Exception):
    """A plugin could not be imported in a process of its own, or did not answer as it must."""


def seconds_to_list() -> float:
    """Seconds that a plugin may take to be imported, and for an answer: ``BUDGETBENCH_LISTING_SECONDS``, or 60."""
    try:
        return max(0.1, float(os.environ.get("BUDGETBENCH_LISTING_SECONDS", "")))
    except ValueError:
        return 60.0


class Listers:
    """The lister and its forks, one for each plugin that is asked; started when they are needed.

    Args:
        closed: what plugins must not read.
    """

    def __init__(self, closed: Iterable[Path] = ()) -> None:
        self._closed = list(closed)
        self._lister: subprocess.Popen[bytes] | None = None
        self._heard: socket.socket | None = None
        self._forks: dict[str, tuple[int, socket.socket]] = {}
        self._folder: Path | None = None

    @property
    def processes(self) -> set[int]:
        """The number of the lister, where there is one."""
        return set() if self._lister is None else {self._lister.pid}

    def tell(self, plugin: Plugin) -> tuple[Any, list[str]]:
        """What a plugin tells of itself, unchecked, and the files that its import read.

        Raises:
            ListingError: it cannot be loaded; the message says why.
        """
        return self._started(plugin)

    def ask(self, plugin: Plugin, header: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
        """Answers of a plugin, unchecked, and the files that its import and the answers read.

        Raises:
            ListingError: it does not answer.
        """
        begun = plugin.name in self._forks
        if not begun:
            self._started(plugin)
        try:
            answer = self._heard_of(plugin, header)
        except ListingError:
            if not begun:
                raise
            self._started(plugin)  # it may have been killed since it was last asked
            answer = self._heard_of(plugin, header)
        answers = answer.get("answers")
        if not isinstance(answers, list) or len(answers) != len(header["asked"]):
            self._end(plugin.name)
            raise ListingError("it did not answer what it was asked")
        return answers, _files(answer)

    def close(self) -> None:
        """End all of them."""
        for name in list(self._forks):
            self._forks.pop(name)[1].close()
        lister, heard, folder = self._lister, self._heard, self._folder
        self._lister = self._heard = self._folder = None
        if heard is not None:
            heard.close()
        if lister is not None:
            with suppress(subprocess.TimeoutExpired):
                lister.wait(_SECONDS_TO_END)
            lister.kill()
            lister.wait()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _started(self, plugin: Plugin) -> tuple[Any, list[str]]:
        """A new fork that has imported a plugin; what it tells."""
        self._end(plugin.name)
        folder = self._fork(plugin.name)
        needed = [*importable(), *([plugin.folder] if plugin.folder else [])]
        asked = {
            "name": plugin.name,
            "module": plugin.module,
            "folder": str(folder),
            "read": list(map(str, readable([*needed, folder], self._closed))),
        }
        answer = self._heard_of(plugin, asked)
        if isinstance(answer.get("error"), str):
            self._end(plugin.name)
            raise ListingError(answer["error"])
        return answer.get("listing"), _files(answer)

    def _fork(self, name: str) -> Path:
        """Let the lister fork; a folder for the fork. A lister that an earlier plugin ended is replaced."""
        for again in (True, False):
            try:
                heard = self._start()
                ours, theirs = socket.socketpair()
                with theirs:
                    send(heard, {"do": "fork"}, fds=[theirs.fileno()])
                process = receive(heard, 0)[0].get("process")
                break
            except (EndedError, MalformedError, TimeoutError):
                self.close()
                if not again:
                    raise ListingError("no process can be started for it") from None
        if type(process) is not int or self._folder is None:
            raise ListingError("no process can be started for it")
        self._forks[name] = process, ours
        folder = self._folder / str(process)
        folder.mkdir()
        return folder

    def _start(self) -> socket.socket:
        """The socket to the lister, started when there is none."""
        if self._heard is None:
            self._folder = Path(tempfile.mkdtemp(prefix="bench-listing-"))
            self._heard, theirs = socket.socketpair()
            self._heard.settimeout(_SECONDS_TO_START)
            with theirs:
                self._lister = new_interpreter(_START, theirs)
        return self._heard

    def _heard_of(self, plugin: Plugin, header: Mapping[str, Any]) -> dict[str, Any]:
        heard, seconds = self._forks[plugin.name][1], seconds_to_list()
        # However slowly it talks, and whoever else holds the other end: when the time is over, nothing comes any more.
        over = Timer(seconds, heard.shutdown, [socket.SHUT_RDWR])
        over.daemon = True
        begun = time.monotonic()
        over.start()
        try:
            send(heard, header)
            return receive(heard, 0)[0]
        except MalformedError as error:
            self._end(plugin.name)
            raise ListingError(f"its process does not keep to the protocol: {error}") from None
        except (EndedError, TimeoutError):
            late = time.monotonic() - begun >= seconds
            code = self._end(plugin.name)
            how = f"it took longer than {seconds:g} s" if late else how_it_died(code, None)[1]
            raise ListingError(how) from None
        finally:
            over.cancel()
            over.join()

    def _end(self, name: str) -> int | None:
        """End a plugin's fork and what it left; its exit code, where it ended by itself."""
        process, heard = self._forks.pop(name, (None, None))
        if process is None or heard is None or self._heard is None:
            return None
        heard.close()
        if self._folder is not None:
            shutil.rmtree(self._folder / str(process), ignore_errors=True)
        try:
            send(self._heard, {"do": "end", "process": process})
            code = receive(self._heard, 0)[0].get("code")
        except (EndedError, MalformedError, TimeoutError):
            self.close()
            return None
        return code if type(code) is int else None


def _files(answer: Mapping[str, Any]) -> list[str]:
    files = answer.get("files")
    if not isinstance(files, list):
        return []
    return [file for file in files[:20_000] if isinstance(file, str) and len(file) < 4096]
