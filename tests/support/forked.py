"""A server that runs ``bench`` in forks of itself: a process each, without importing pandas each time.

Run as a script by `support.bench`. It reads a request per line (JSON: arguments, cwd, environment, out, err), forks,
and writes the exit code of the child per line, negative for a signal. The child is what
``python -m bench_core.cli.main`` would be, with the libraries and the installed plugins' modules already loaded.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import sys
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Any

from bench_core.run.threads import start_with_one_blas_thread

LIBRARIES = (
    "bench_core.cli.main", "bench_core.run.runner", "bench_leaderboard.publish", "bench_inspect.health",
    "bench_leaderboard.render.figures", "bench_core.testing", "hypothesis", "lightgbm", "matplotlib.figure",
    "matplotlib.backends.backend_svg", "numba", "pandas", "pyarrow.dataset", "pyarrow.parquet",
    "scikit_posthocs", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model", "sklearn.svm",
)  # fmt: skip


def become(request: dict[str, Any]) -> None:
    """Make this fork what the request asks for: folder, environment, import path, output."""
    os.setsid()  # a run that signals its process group must not meet the server
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[:] = [request["cwd"], *folders, *(known for known in sys.path[1:] if known not in folders)]
    importlib.invalidate_caches()
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, name in ((1, "out"), (2, "err")):
        with open(request[name], "wb") as file:
            os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = ["bench", *request["arguments"]]


def serve() -> bool:
    """Answer requests until there are no more; True in a child, which then has to run."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(json.loads(line))
            return True
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return False


if __name__ == "__main__":
    # As the command line does when it starts; and there are no threads of BLAS, which a fork would not have.
    start_with_one_blas_thread()
    for library in LIBRARIES:
        importlib.import_module(library)
    for plugin in entry_points(group="budgetbench"):
        with suppress(ImportError):
            plugin.load()
    gc.freeze()
    if serve():
        # As `python -m` would: the module is __main__, which is also what worker processes look for.
        del sys.modules["bench_core.cli.main"]
        runpy.run_module("bench_core.cli.main", run_name="__main__", alter_sys=True)
