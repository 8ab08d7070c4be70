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

    Args:
        name: of a plugin or of its distribution; or of one method, data set, cost scheme or metric.
        progress: called with the name of each object.

    Methods, data sets and cost schemes are checked with their default parameters. They are skipped if a parameter is
    required. Figures are unknown to the core; the plugin that draws them has its own tests.

    The kit runs in a child process, which reports each row and, at the end, that it has finished. If the child ends
    without this report, a check has failed. This detects plugins that end their process, but not plugins that forge the
    report from within the process. The child is an ordinary process: unlike a trial, it may write files, for example.

    Raises:
        RequestError: there is no such plugin or object, or the plugin could not be loaded.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(name, sending))
    child.start()
    sending.close()
    rows: list[list[str]] = []
    thing, waiting = name, list[str]()
    try:
        while True:
            message = _next(receiving, child)
            if message is None:
                child.join()
                ended = f"the kit's process ended before it had reported (exit code {child.exitcode})"
                skipped = [[other, "-", "-", "skipped", f"not checked: {thing} ended the process"] for other in waiting]
                return [*rows, [thing, "-", "-", "failed", ended], *skipped]
            if "error" in message:
                raise RequestError(str(message["error"]))
            if "finished" in message:
                return rows
            if "planned" in message:
                waiting = [str(one) for one in message["planned"]]
            elif "started" in message:
                thing = str(message["started"])
                waiting.remove(thing)
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
        things = _things(name)
        send(planned=[thing for _, thing, _ in things])
        for kind, thing, registered in things:
            send(started=thing)
            for row in _rows(kind, thing, registered):
                send(row=row)
    except BenchError as error:
        send(error=str(error))
    else:
        send(finished=True)


_KITS: dict[str, Callable[[Any], Any]] = {
    "methods": check_method,
    "datasets": check_dataset,
    "cost_schemes": check_cost_scheme,
    "metrics": check_metric,
}


def _things(name: str) -> list[tuple[str, str, Any]]:
    """The kind, name and registered object of everything to check."""
    registry = load_registry()
    everything = [(kind, thing, one) for kind in _KITS for thing, one in getattr(registry, kind).items()]
    plugins = [plugin for plugin in registry.plugins.values() if name in (plugin.name, plugin.distribution)]
    for plugin in plugins:
        if plugin.error:
            raise RequestError(f"plugin {name!r} could not be loaded: {plugin.error}")
    own = {plugin.name for plugin in plugins}
    found = [
        (*one, thing) for *one, thing in everything if (registry.plugin_of(*one).name in own if own else one[1] == name)
    ]
    if not plugins and not found:
        known = [*registry.plugins, *(thing for _, thing, _ in everything)]
        raise RequestError(
            f"there is no plugin, method, data set, cost scheme or metric {name!r}; {did_you_mean(name, known)}"
        )
    return found


def _rows(kind: str, thing: str, registered: Any) -> list[list[str]]:
    """The results of an object's kit."""
    try:
        instance = registered if kind == "metrics" else build(registered, {}, thing)
    except RequestError as error:
        return [[thing, "-", "-", "skipped", str(error)]]
    return [[thing, one.check, one.task or "-", one.outcome, one.message] for one in _KITS[kind](instance)]
