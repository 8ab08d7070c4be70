"""The processes on a method's side: what imports a plugin and has never seen data, and its forks for trials.

The *nursery*, a fork of a base (`bench_core.run.execute.bases`), imports one plugin and never sees data. For every
trial it forks a process that fits and decides on the rows as they are, and another, the witness, which waits until that
one is gone, restores the policies and decides on the rows of the audit (`bench_core.run.execute.party` is what they
do). Nothing here is trusted once the plugin is imported, which may change all of it: the judge
(`bench_core.run.execute.isolated`) reads what comes back as a stranger's.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

from numpy import random as numpy_random  # which NumPy imports when it is first used: before the fork
from threadpoolctl import ThreadpoolController

from bench_core.contract.errors import ContractError
from bench_core.contract.method import Method, as_family
from bench_core.plugins.manager import load_registry
from bench_core.run.execute.bases import import_level, threads
from bench_core.run.execute.leftovers import Leftovers, adopt_orphans, die_with_parent, ended, name_process
from bench_core.run.execute.party import Party, method_of, plain_error, problem_of
from bench_core.run.execute.sandbox import confine, drop_privileges, unshare_memory
from bench_core.run.execute.starting import keep_one_file
from bench_core.run.execute.wire import EndedError, receive, send

__all__ = ["serve_base"]


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
        return send(judge, {"error": plain_error(error)})
    send(judge, {"ready": True})
    forks = set[int]()
    leftovers, loaded = Leftovers(forks.__contains__), ThreadpoolController()
    while True:
        try:
            asked, _, fds = receive(judge, 0, files=True)
        except EndedError:
            return None
        if asked["do"] == "fork":
            with suppress(Exception):  # what is made here is there in the fork, which says what is wrong with it
                method_of(methods, asked)
            gc.freeze()
            child = os.fork()
            if not child:
                _be_party(socket.socket(fileno=fds[0]), asked, methods, loaded)
            os.close(fds[0])
            forks.add(child)
            send(judge, {"process": child})
        elif asked["do"] == "end":
            status = ended(asked["process"], 0.5 if asked["wait"] else 0.0)
            forks.discard(asked["process"])
            leftovers.end()
            send(judge, {"code": os.waitstatus_to_exitcode(status)})
        elif asked["do"] == "rehearse":
            _rehearse(asked, methods, fds[0])
            loaded = ThreadpoolController()
            send(judge, {"threads": threads()})


def _methods(name: str, value: str) -> dict[str, type[Method]]:
    """A plugin's methods by name, in a registry of its own.

    Raises:
        ContractError: it cannot be loaded.
    """
    registry = load_registry([(name, EntryPoint(name, value, "budgetbench").load())], entry_points=False)
    if registry.plugins[name].error:
        raise ContractError(registry.plugins[name].error)
    return dict(registry.methods)


def _rehearse(asked: dict[str, Any], methods: dict[str, type[Method]], fd: int) -> None:
    """Fit and decide on what is made up, so that forks find modules imported and kernels compiled."""
    with suppress(Exception):
        problem = problem_of(fd, {**asked, "threads": 1})
        family = as_family(method_of(methods, asked).fit(problem), "")
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
        keep_one_file(judge.fileno(), again=True)
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
        party = Party(methods, loaded)
        while True:
            asked, body, fds = receive(judge, 0, files=True)
            try:
                header, parts = getattr(party, f"do_{asked['do']}")(asked, body, fds)
            except BaseException as error:
                header, parts = {"error": plain_error(error)}, []
            try:
                send(judge, header, parts)
            except (TypeError, ValueError) as error:  # it cannot be said in JSON; nothing was sent
                send(judge, {"error": plain_error(error)})
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
