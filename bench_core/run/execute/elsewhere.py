"""Running trials for a run on another machine: a process that can be killed, told in JSON what to do.

An executor that reaches other machines has there, in a process of its own that runs no plugin's code, a
`TrialProcess` for every trial at a time. That one loads the plugins, takes data from the machine's own cache, runs
trials as any worker does, and gives back the bytes of record and decisions; the run's own machine writes them.

What it writes meanwhile is in a folder of its own below the cache, removed at its end, or by the next one when it was
killed.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bench_core.contract.dataset import DataContext
from bench_core.contract.errors import BenchError, StoreError, attempt, with_hint
from bench_core.plugins.registry import CORE, Registry
from bench_core.run.execute.leftovers import Leftovers, adopt_orphans, die_with_parent, end_group
from bench_core.run.execute.parties import how_it_died
from bench_core.run.execute.wire import EndedError, MalformedError, receive, send
from bench_core.run.execute.worker import Worker, WorkerSettings, environment
from bench_core.run.failures import TrialStopped
from bench_core.run.owners import own_name, sweep
from bench_core.run.plan import Planned
from bench_core.run.threads import BLAS_VARIABLES
from bench_core.run.travel import planned_from_plain, planned_to_plain

__all__ = ["TrialProcess", "needs_of", "request_of", "serve"]

_SERVE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from bench_core.run.execute.elsewhere import serve; from bench_core.plugins.described import described_registry; "
    "serve(int(sys.argv[1]), int(sys.argv[3]), described_registry)"
)
_MOST_RECORD = 2**33
_LOOK = 0.5
"""Seconds after which it is looked whether anybody still waits for an answer."""
_GRACE = 5.0


def request_of(settings: WorkerSettings) -> dict[str, Any]:
    """What a `TrialProcess` needs to know of a run's settings, as plain JSON values."""
    return {
        "metrics": list(settings.metrics),
        "memory": settings.memory,
        "isolation": settings.isolation,
        "timeout": settings.timeout,
        "audit_seed": settings.audit_seed,
        "offline": settings.context.offline,
    }


def needs_of(todo: list[Planned], metrics: tuple[str, ...], registry: Registry) -> dict[str, Any]:
    """What a machine must have, to run trials as this one would: plugins as they are here, and the same data."""
    from bench_core import CONTRACT_VERSION

    plugins = {CORE: registry.plugins[CORE]}
    datasets: dict[str, Any] = {}
    for planned in todo:
        for kind, name in planned.trial.uses.items():
            plugin = registry.plugin_of(kind, name)
            plugins[plugin.name] = plugin
        datasets.setdefault(planned.content, planned)
    for metric in metrics:
        plugin = registry.plugin_of("metrics", metric)
        plugins[plugin.name] = plugin
    return {
        "contract": CONTRACT_VERSION,
        "plugins": {name: [plugin.version, plugin.source[:16]] for name, plugin in plugins.items()},
        "datasets": [planned_to_plain(planned) for planned in datasets.values()],
    }


@cache
def _starter() -> ThreadPoolExecutor:
    """The thread that starts processes: they die with it, and it lives as long as this process."""
    return ThreadPoolExecutor(1, "bench-starter")


class TrialProcess:
    """A process that runs trials, and can be killed at any time.

    Args:
        request: from `request_of`.
        threads: how many threads a method may use.

    Raises:
        TrialStopped: it cannot be started.
    """

    _SECONDS_TO_IMPORT = 300.0

    def __init__(self, request: Mapping[str, Any], threads: int) -> None:
        self.memory, self.isolation = request["memory"], request["isolation"]
        self.timeout = request["timeout"] if self.isolation == "none" else None
        # Its folder is named after this process, which clears it away.
        self.context = DataContext.from_environment(offline=True if request["offline"] else None)
        rooms = self.context.cache / "elsewhere"
        sweep(rooms)
        self.folder = rooms / f"{own_name(os.getpid())}-{os.urandom(6).hex()}"
        self.folder.mkdir(parents=True)
        self._heard, theirs = socket.socketpair()
        self._idle = True
        with theirs:
            self.process = _starter().submit(_start, theirs.fileno(), threads).result()
        atexit.register(self.close)
        self._tell({**request, "folder": str(self.folder), "threads": threads}, self._SECONDS_TO_IMPORT)

    def missing(self, needs: Mapping[str, Any], gone: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Why it cannot run what needs something (`needs_of`), and what it is.

        Returns:
            ``reasons`` (sentences; none when it can) and ``environment``.

        Raises:
            TrialStopped: it died.
        """
        return self._tell({"do": "check", "needs": needs}, None, gone)[0]

    def run(
        self, plain_trial: Mapping[str, Any], gone: Callable[[], bool] = lambda: False
    ) -> tuple[dict[str, Any], bytes, bytes | None]:
        """Run a trial.

        Args:
            plain_trial: the trial, from `planned_to_plain`.
            gone: asked now and then whether nobody waits for it any more; the process is then killed.

        Returns:
            ``status``, ``message`` and ``seconds``; the bytes of the record, and those of its decisions.

        Raises:
            TrialStopped: it died or took too long, and is gone.
            StoreError: this machine cannot keep what it makes.
        """
        answer, body = self._tell({"do": "run", "trial": plain_trial}, self.timeout, gone)
        if "error" in answer:
            raise StoreError(answer["error"])
        record = int(answer["record"])
        return answer, bytes(body[:record]), bytes(body[record:]) if answer["decisions"] else None

    def _tell(
        self, header: Mapping[str, Any], seconds: float | None, gone: Callable[[], bool] = lambda: False
    ) -> tuple[dict[str, Any], bytearray]:
        until = None if seconds is None else time.monotonic() + seconds
        self._idle = False
        try:
            self._heard.settimeout(60.0)
            send(self._heard, header)
            self._wait(until, gone)
            self._heard.settimeout(60.0)
            answer, body, _ = receive(self._heard, _MOST_RECORD)
        except TimeoutError:
            self.close()
            limit = f"it took longer than the time limit of {seconds or 0.0:g} s"
            raise TrialStopped("time", limit) from None
        except (EndedError, MalformedError):
            raise TrialStopped(*self._death()) from None
        self._idle = True
        return answer, body

    def _wait(self, until: float | None, gone: Callable[[], bool]) -> None:
        """Wait for something to be heard.

        Raises:
            TimeoutError: it took too long.
            EndedError: nobody waits for it.
        """
        heard = select.poll()
        heard.register(self._heard, select.POLLIN)
        while True:
            left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
            if left <= 0:
                raise TimeoutError
            if heard.poll(1000 * left):
                return
            if gone():
                raise EndedError

    def _death(self) -> tuple[str, str]:
        """How it ended: it had a moment to be seen dead before it is killed."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        code = self.process.poll()
        self.close()
        return how_it_died(code, self.memory)

    @property
    def alive(self) -> bool:
        """Whether it can be told something."""
        return self.process.poll() is None

    def close(self) -> None:
        """End it and whatever it started: at once, where it is at work."""
        atexit.unregister(self.close)
        self._heard.close()
        if self._idle:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE)
        _end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)


_LOCK, _ALIVE, _BEFORE = threading.Lock(), set[int](), list[Leftovers]()


def _start(number: int, threads: int) -> subprocess.Popen[bytes]:
    """Start a process that serves at a socket."""
    variables = {**dict.fromkeys((*BLAS_VARIABLES, "OMP_NUM_THREADS"), "1"), "NUMBA_NUM_THREADS": str(threads)}
    with _LOCK:
        if not _BEFORE:
            adopt_orphans()
            _BEFORE.append(Leftovers(lambda process: process in _ALIVE))
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(number), json.dumps(sys.path), str(os.getpid())],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **variables},
            start_new_session=True,
        )
        _ALIVE.add(process.pid)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, its group, and what it left to this one, which adopts orphans."""
    process.kill()
    process.wait()
    end_group(process.pid)
    with _LOCK:
        _ALIVE.discard(process.pid)
        for leftovers in _BEFORE:
            leftovers.end()


def serve(number: int, parent: int, described: Callable[..., Registry]) -> None:
    """What a `TrialProcess` does until it is told nothing more.

    Args:
        number: of the socket to who tells it.
        parent: the number of the process that started it.
        described: `bench_core.plugins.described.described_registry`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if os.getppid() != parent:
        return
    adopt_orphans()
    asks = socket.socket(fileno=number)
    os.set_inheritable(number, False)
    request, _, _ = receive(asks, 0)
    if request["memory"] is not None and request["isolation"] == "none":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    from bench_core.plugins.manager import load_registry

    import_module("pyarrow.parquet")  # what the first trial would need is no part of its time
    folder = Path(request["folder"])
    context = DataContext.from_environment(offline=True if request["offline"] else None)
    closed = [folder, *([context.mirror] if context.mirror else [])]
    registry = described(closed=closed) if request["isolation"] == "full" else load_registry()
    limits = request["memory"], None, request["isolation"], request["timeout"]
    given = context, tuple(request["metrics"]), request["threads"], *limits
    worker = Worker(WorkerSettings(folder / "store", *given, audit_seed=request["audit_seed"]), registry)
    send(asks, {"ready": True})
    with suppress(EndedError):
        while True:
            asked, _, _ = receive(asks, 0)
            if asked["do"] == "check":
                reasons = _reasons(asked["needs"], registry, worker)
                answer: dict[str, Any] = {"environment": environment(), "reasons": reasons}
                parts: list[bytes] = []
            else:
                answer, parts = _ran(asked["trial"], registry, worker)
            send(asks, answer, parts)
    worker.close()
    registry.close()


def _ran(plain_trial: Mapping[str, Any], registry: Registry, worker: Worker) -> tuple[dict[str, Any], list[bytes]]:
    """Run a trial; what came of it, and the bytes of its files, which are not kept."""
    try:
        status = worker.run(planned_from_plain(plain_trial, registry))
        record, decisions = worker.store.take(status.name, status.status)
    except BenchError as error:
        return {"error": str(error)}, []
    answer = {"status": status.status, "message": status.message, "seconds": status.seconds}
    return {**answer, "record": len(record), "decisions": decisions is not None}, [record, decisions or b""]


def _reasons(needs: Mapping[str, Any], registry: Registry, worker: Worker) -> list[str]:
    """Why trials cannot be run here as they would be where the run was started."""
    from bench_core import CONTRACT_VERSION

    if needs["contract"] != CONTRACT_VERSION:
        return [f"it is of contract {CONTRACT_VERSION}, the run of contract {needs['contract']}"]
    reasons = []
    for name, (version, source) in needs["plugins"].items():
        plugin = registry.plugins.get(name)
        if plugin is None:
            reasons.append(f"it has no plugin {name!r} (version {version})")
        elif plugin.error:
            reasons.append(f"its plugin {name!r} could not be loaded: {plugin.error}")
        elif (plugin.version, plugin.source[:16]) != (version, source):
            theirs = f"version {plugin.version or '-'}, source {plugin.source[:16] or '-'}"
            reasons.append(f"its plugin {name!r} is another ({theirs}; the run's: version {version}, source {source})")
    if reasons:
        return reasons
    for plain_trial in needs["datasets"]:
        planned = attempt(partial(planned_from_plain, plain_trial, registry))
        if isinstance(planned, BaseException):
            reasons.append(with_hint(planned))
            continue
        trial = planned.trial
        content = attempt(partial(worker.cache.content, trial.dataset_use, trial.source))
        if isinstance(content, BaseException):
            reasons.append(f"its data set {trial.dataset!r} cannot be used: {with_hint(content)}")
        elif content != planned.content:
            hashes = f"its content is {content[:16]}, the run's {planned.content[:16]}"
            reasons.append(f"its data set {trial.dataset!r} is another: {hashes}")
    return reasons
