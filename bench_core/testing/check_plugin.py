"""Run the contract kit on everything that an installed plugin registers, in a separate process."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from bench_core.contract.errors import BenchError, RequestError, did_you_mean
from bench_core.contract.parameters import build
from bench_core.plugins.manager import load_registry
from bench_core.testing.contracts import check_cost_scheme, check_dataset, check_method, check_metric

__all__ = ["check_plugin"]


def check_plugin(name: str, progress: Callable[[str], None]) -> list[list[str]]:
    """Return a row per check: object, check, task, outcome (``passed``, ``failed``, ``skipped``), message.

    Methods, data sets and cost schemes are checked with their default parameters. They are skipped if a parameter is
    required. Figures are unknown to the core; the plugin that draws them has its own tests.

    The kit runs in a child process, which reports each row and, at the end, that it has finished. If the child ends
    without this report, a check has failed. This detects plugins that end their process, but not plugins that forge the
    report from within the process.

    Raises:
        RequestError: there is no such plugin, or it could not be loaded.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(name, sending))
    child.start()
    sending.close()
    rows: list[list[str]] = []
    thing = name
    try:
        while True:
            message = _next(receiving, child)
            if message is None:
                child.join()
                ended = f"the kit's process ended before it had reported (exit code {child.exitcode})"
                return [*rows, [thing, "-", "-", "failed", ended]]
            if "error" in message:
                raise RequestError(str(message["error"]))
            if "finished" in message:
                return rows
            if "started" in message:
                thing = str(message["started"])
                progress(thing)
            else:
                rows.append([str(cell) for cell in message["row"]])
    finally:
        child.kill()
        child.join()


def _next(receiving: Connection, child: Any) -> dict[str, Any] | None:
    """The child's next message as JSON, which cannot execute code here; None if the child ended without one."""
    wait([receiving, child.sentinel])  # an orphaned process of a plugin may keep the pipe open
    try:
        return dict(json.loads(receiving.recv_bytes())) if receiving.poll() else None
    except (EOFError, OSError, ValueError):
        return None


def _report(name: str, sending: Connection) -> None:
    """Run the kit, and send the results."""

    def send(**message: Any) -> None:
        sending.send_bytes(json.dumps(message).encode())

    try:
        _check(name, lambda thing: send(started=thing), lambda *row: send(row=row))
    except BenchError as error:
        send(error=str(error))
    else:
        send(finished=True)


def _check(name: str, started: Callable[[str], None], add: Callable[..., None]) -> None:
    registry = load_registry()
    if name not in registry.plugins:
        raise RequestError(f"there is no plugin {name!r}; {did_you_mean(name, registry.plugins)}")
    if registry.plugins[name].error:
        raise RequestError(f"plugin {name!r} could not be loaded: {registry.plugins[name].error}")
    kits: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
        ("methods", registry.methods, check_method),
        ("datasets", registry.datasets, check_dataset),
        ("cost_schemes", registry.cost_schemes, check_cost_scheme),
        ("metrics", registry.metrics, check_metric),
    )
    for kind, things, kit in kits:
        for thing, registered in things.items():
            if registry.plugin_of(kind, thing).name != name:
                continue
            started(thing)
            try:
                instance = registered if kind == "metrics" else build(registered, {}, thing)
            except RequestError as error:
                add(thing, "-", "-", "skipped", str(error))
                continue
            for result in kit(instance):
                add(thing, result.check, result.task or "-", result.outcome, result.message)
