"""A method's side: the process that a plugin's methods are forked from, and what they do in a fork.

The *nursery*, a fork of a base (`bench_core.run.execute.bases`), imports one plugin and never sees data. For every
trial it forks a process that fits and decides on the rows as they are, and when that one is gone another, the
witness, that restores the policies and decides on the rows of the audit. Nothing here is trusted once the plugin is
imported, which may change all of it: the judge (`bench_core.run.execute.isolated`) reads what comes back as a
stranger's.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
from numpy import random as numpy_random  # which NumPy imports when it is first used: before the fork
from threadpoolctl import ThreadpoolController

from bench_core.contract.asking import can_be_asked
from bench_core.contract.canonical import plain
from bench_core.contract.costs import PRICE_ARRAYS, Costs
from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Family, Method, Policy, Problem, as_family
from bench_core.contract.parameters import build
from bench_core.plugins.manager import load_registry
from bench_core.protocol.audit import copied, restored
from bench_core.run.execute.bases import import_level, threads
from bench_core.run.execute.leftovers import Leftovers, adopt_orphans, die_with_parent, name_process
from bench_core.run.execute.sandbox import confine, drop_privileges, unshare_memory
from bench_core.run.execute.starting import keep_one_file
from bench_core.run.execute.wire import EndedError, as_bytes, receive, send, unpack
from bench_core.run.run_trial import error_of

__all__ = ["serve_base"]

_MOST_TEXT = 20_000
_SEES_NEW_MODULES = 10
"""Modules that a fit imports before it is worth to let the nursery fit something made up, once for all forks."""


def serve_base(number: int, parent: int | None = None) -> None:
    """Be a base: fork a process whenever the judge asks for one, until it is gone.

    Args:
        number: of the socket to the judge.
        parent: the number of the process that this one is a fork of; None where it is not.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if parent is not None:
        _leave(number, parent)
        if not unshare_memory():
            return
    name_process("bench-base")
    judge = socket.socket(fileno=number)
    with suppress(EndedError):
        while True:
            asked, _, fds = receive(judge, 0, files=True)
            if asked["do"] == "threads":
                send(judge, {"threads": threads()})
            elif asked["do"] == "end":
                with suppress(OSError):
                    os.kill(asked["process"], signal.SIGKILL)
                send(judge, {"code": os.waitstatus_to_exitcode(os.waitpid(asked["process"], 0)[1])})
            else:
                gc.freeze()
                here = os.getpid()
                child = os.fork()
                if not child:
                    _begin(asked, fds[0], here)
                os.close(fds[0])
                send(judge, {"process": child})


def _begin(asked: dict[str, Any], number: int, parent: int) -> None:
    """Be what the judge wants a fork of a base to be; never returns."""
    try:
        if asked["do"] == "grow":
            import_level(asked["level"])
            serve_base(number, parent)
        else:
            die_with_parent()
            _leave(number, parent)
            nursery(number)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _leave(number: int, parent: int) -> None:
    """In a fork: a session of its own, and no open file but one; nothing, where the parent is gone by now."""
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(OSError):
        os.setsid()
    keep_one_file(number)


def nursery(number: int) -> None:
    """Import a plugin, then fork a process whenever the judge asks for one.

    Args:
        number: of the socket to the judge.
    """
    name_process("bench-plugin")
    adopt_orphans()
    judge = socket.socket(fileno=number)
    asked, _, _ = receive(judge, 0)
    os.environ.update(asked["environment"])
    if "numba" in sys.modules:  # it read the environment when it was imported
        sys.modules["numba"].config.reload_config()
    drop_privileges()
    confine(asked["read"], asked["write"])
    try:
        methods = _methods(*asked["plugin"])
    except BaseException as error:
        return send(judge, {"error": _said(error)})
    send(judge, {"ready": True})
    leftovers, loaded = Leftovers(), ThreadpoolController()
    while True:
        try:
            asked, _, fds = receive(judge, 0, files=True)
        except EndedError:
            return None
        if asked["do"] == "fork":
            with suppress(Exception):  # what is made here is there in the fork, which says what is wrong with it
                _method(methods, asked)
            gc.freeze()
            child = os.fork()
            if not child:
                _be_party(socket.socket(fileno=fds[0]), asked, methods, loaded)
            os.close(fds[0])
            send(judge, {"process": child})
        elif asked["do"] == "end":
            status = _ended(asked["process"], 0.5 if asked["wait"] else 0.0)
            leftovers.end()
            send(judge, {"code": os.waitstatus_to_exitcode(status)})
        elif asked["do"] == "rehearse":
            _rehearse(asked, methods, fds[0])
            loaded = ThreadpoolController()
            send(judge, {"threads": threads()})


def _ended(process: int, patience: float) -> int:
    """The status of a fork that ends within a time, or is killed then."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def _methods(name: str, value: str) -> dict[str, type[Method]]:
    """A plugin's methods by name, in a registry of its own.

    Raises:
        ContractError: it cannot be loaded.
    """
    registry = load_registry([(name, EntryPoint(name, value, "budgetbench").load())], entry_points=False)
    if registry.plugins[name].error:
        raise ContractError(registry.plugins[name].error)
    return dict(registry.methods)


_METHODS: dict[str, Method] = {}


def _method(methods: dict[str, type[Method]], asked: dict[str, Any]) -> Method:
    """The method that is asked for, made once by its parameters."""
    key = json.dumps([asked["method"], asked["parameters"]])
    if key not in _METHODS:
        _METHODS[key] = build(methods[asked["method"]], asked["parameters"], asked["method"])
    return _METHODS[key]


def _rehearse(asked: dict[str, Any], methods: dict[str, type[Method]], fd: int) -> None:
    """Fit and decide on what is made up, so that forks find modules imported and kernels compiled."""
    with suppress(Exception):
        problem = _problem(fd, {**asked, "threads": 1})
        family = as_family(_method(methods, asked).fit(problem), "")
        for policy in family.policies[:3]:
            policy.decide(problem.validation.rows())


def _be_party(
    judge: socket.socket, settings: dict[str, Any], methods: dict[str, type[Method]], loaded: ThreadpoolController
) -> None:
    """Do what the judge asks until it is gone; never returns."""
    code = 1
    try:
        die_with_parent()
        os.setsid()
        name_process("bench-method")
        keep_one_file(judge.fileno())
        os.chdir(settings["folder"])
        os.environ["TMPDIR"], os.environ["NUMBA_CACHE_DIR"] = settings["folder"], f"{settings['folder']}/kernels"
        tempfile.tempdir = None
        confine(None, [settings["folder"]])
        _keep_no_kernels(f"{settings['folder']}/kernels")
        # What a method draws from NumPy's global state must not be the same in every fork.
        numpy_random.seed(int.from_bytes(os.urandom(4), "big"))  # noqa: NPY002
        random.seed()
        if settings["memory"] is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (settings["memory"], settings["memory"]))
        party = _Party(methods, loaded)
        while True:
            asked, body, fds = receive(judge, 0, files=True)
            try:
                header, parts = getattr(party, f"do_{asked['do']}")(asked, body, fds)
            except BaseException as error:
                header, parts = {"error": _said(error)}, []
            try:
                send(judge, header, parts)
            except (TypeError, ValueError) as error:  # it cannot be said in JSON; nothing was sent
                send(judge, {"error": _said(error)})
    except EndedError:
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _keep_no_kernels(folder: str) -> None:
    """Compiled kernels are not written to Numba's cache, in which a later process could read: the nursery does that.

    Numba takes the folder of its cache from the environment when it is imported, which may be long ago.
    """
    config, caching = (sys.modules.get(f"numba.core.{name}") for name in ("config", "caching"))
    if config is not None and caching is not None:
        vars(config)["CACHE_DIR"] = folder
        caching.Cache.save_overload = lambda self, sig, data: None


def _said(error: BaseException) -> dict[str, Any]:
    """An error as plain text that is not too long."""
    return {name: said[:_MOST_TEXT] if isinstance(said, str) else said for name, said in error_of(error).items()}


class _Party:
    """What a fork is asked to do, and the policies that it holds."""

    def __init__(self, methods: dict[str, type[Method]], loaded: ThreadpoolController) -> None:
        self.methods, self.loaded = methods, loaded
        self.policies: list[Policy] = []
        self.rows: dict[int, Rows] = {}

    def do_fit(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Fit; what is to be said of the family."""
        before = len(sys.modules)
        problem = _problem(fds[0], asked)
        os.environ["OMP_NUM_THREADS"] = str(problem.threads)  # for what is loaded by now, and what will be
        self.loaded.select(user_api="openmp").limit(limits=problem.threads)
        method = _method(self.methods, asked)
        family = as_family(method.fit(problem), type(method).__name__)
        self.policies = [*family.policies, *([] if family.reference is None else [family.reference])]
        grown = len(sys.modules) - before > _SEES_NEW_MODULES or "numba" in sys.modules
        return {**_described(family), "rehearse": grown}, []

    def do_copy(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """The policies as bytes."""
        return {}, [copied(self.policies)]

    def do_restore(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Hold policies that another process fitted."""
        _, arrays = unpack(fds[0], asked["table"])
        self.policies = restored(arrays["policies"].tobytes())
        return {}, []

    def do_decide(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Decisions of a policy."""
        rows = self.rows.get(asked["rows"])
        if fds:
            _, arrays = unpack(fds[0], asked["table"])
            rows = Rows(arrays["X"], arrays.get("sizes"), arrays.get("query"))
            if asked["again"]:
                self.rows[asked["rows"]] = rows
        if rows is None:
            raise ContractError("it was asked for rows that it was not given")
        given = self.policies[asked["policy"]].decide(Rows(rows.X, rows.sizes, rows.query))
        try:
            given = Decisions.exact(given)
        except ContractError as error:
            return {"refused": str(error)[:_MOST_TEXT]}, []
        table, parts = as_bytes({name: getattr(given, name) for name in Decisions.__dataclass_fields__})
        return {"arrays": table}, parts

    def do_next(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """What a policy asks for next."""
        _, arrays = unpack(fds[0], asked["table"])
        rows = Rows(arrays["X"], arrays.get("sizes"), arrays.get("query"))
        wanted = np.asarray(self.policies[asked["policy"]].next_features(rows, np.array(arrays["known"])))
        if wanted.dtype != np.bool_:
            return {"refused": f"next_features must give bool, not {wanted.dtype}"}, []
        table, parts = as_bytes({"wanted": wanted})
        return {"arrays": table}, parts


def _described(family: Family) -> dict[str, Any]:
    """What a family and its policies say of themselves, as plain values."""
    return {
        "policies": [
            {
                "label": str(policy.label),
                "details": plain(dict(policy.details)),
                "budget": _budget(policy.budget),
                "scope": str(policy.decision_scope),
                "asks": can_be_asked(policy),
            }
            for policy in family.policies
        ],
        "reference": family.reference is not None,
        "history": plain(dict(family.history)),
        "diagnostics": plain(dict(family.diagnostics)),
    }


def _budget(budget: Any) -> Any:
    """A budget as the text of a number from 0, or None; anything else as what a message shows, in a list."""
    try:
        return None if budget is None else repr(float(budget)) if float(budget) >= 0 else [repr(budget)[:200]]
    except (TypeError, ValueError):
        return [repr(budget)[:200]]


def _problem(fd: int, asked: dict[str, Any]) -> Problem:
    """The problem that the judge packed."""
    said, arrays = unpack(fd, asked["table"])

    def part(name: str) -> Part:
        return Part(*(arrays.get(f"{name}.{field}") for field in ("X", "y", "sizes", "query")))  # type: ignore[arg-type]

    costs = {name: arrays.get(f"costs.{name}") for name in PRICE_ARRAYS}
    return Problem(
        train=part("train"),
        validation=part("validation"),
        costs=Costs(**costs, evaluation=said["evaluation"]),  # type: ignore[arg-type]
        task=said["task"],
        n_classes=said["n_classes"],
        feature_names=tuple(said["feature_names"]),
        feature_of_column=arrays["feature_of_column"],
        categorical=tuple(said["categorical"]),
        threshold=asked["threshold"],
        seed=said["seed"],
        threads=asked["threads"],
    )
