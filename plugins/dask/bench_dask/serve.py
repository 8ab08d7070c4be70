"""The main program of a process that runs trials for a Dask worker.

`bench_dask.process` starts it as ``python -m bench_dask.serve NUMBER`` with the number of a file descriptor. Messages
are JSON over a `multiprocessing.connection.Connection`; nothing is unpickled. The bytes of a record and of its
decisions follow the answer to a trial.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bench_sandbox import adopt_orphans, die_with_parent

from bench_core import BenchError, DataContext
from bench_core.execution import Worker, WorkerSettings, environment
from bench_core.suites import Registry, described_registry, load_registry
from bench_dask.trials import planned_from_plain, unmet

__all__ = ["main"]


def main() -> None:
    """Answer requests until the connection is closed."""
    die_with_parent()
    adopt_orphans()
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    connection = Connection(number)
    with suppress(EOFError):
        settings, registry = _set_up(json.loads(connection.recv_bytes()))
        with closing(registry), closing(Worker(settings, registry)) as worker:
            _send(connection, {})
            while True:
                asked = json.loads(connection.recv_bytes())
                if "needs" in asked:
                    reasons = unmet(asked["needs"], registry, worker)
                    _send(connection, {"reasons": reasons, "environment": environment()})
                else:
                    _send(connection, *_ran(asked["trial"], registry, worker))


def _set_up(request: Mapping[str, Any]) -> tuple[WorkerSettings, Registry]:
    """Apply the limits of the first message, and return its settings and the plugins."""
    memory, isolation = request["memory"], request["isolation"]
    if memory is not None and isolation == "none":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    import_module("pyarrow.parquet")  # not within the first trial's time
    folder = Path(request["folder"])
    context = DataContext.from_environment(offline=True if request["offline"] else None)
    closed = [folder, *([context.mirror] if context.mirror else [])]
    registry = load_registry() if isolation == "none" else described_registry(closed=closed)
    limits = memory, None, isolation, request["timeout"], request["audit_seed"], tuple(request["judge"])
    return WorkerSettings(folder / "store", context, tuple(request["metrics"]), request["threads"], *limits), registry


def _ran(plain: Mapping[str, Any], registry: Registry, worker: Worker) -> tuple[dict[str, Any], list[bytes]]:
    """Run a trial, and return its status and the bytes of its files, which are removed here."""
    try:
        status = worker.run(planned_from_plain(plain, registry))
        record, decisions = worker.store.take(status.name)
    except BenchError as error:
        return {"error": str(error)}, []
    answer = {"status": status.status, "message": status.message, "seconds": status.seconds}
    return answer, [record] if decisions is None else [record, decisions]


def _send(connection: Connection, answer: Mapping[str, Any], parts: list[bytes] | None = None) -> None:
    connection.send_bytes(json.dumps({**answer, "parts": len(parts or [])}).encode())
    for part in parts or []:
        connection.send_bytes(part)


if __name__ == "__main__":
    main()
