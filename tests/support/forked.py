"""A server that runs each call of ``bench`` in a fork of itself, so that pandas is not imported every time.

`support.bench` runs it as a script. It reads one request per line (JSON: arguments, cwd, environment, out, err), forks,
and writes the child's exit code as a line, negative for a signal. The child behaves like
``python -m bench_core.cli.main`` with the libraries and the installed plugins' modules already loaded.
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

from bench_core.run.libraries import start_with_fixed_libraries

LIBRARIES = (
    "bench_core.cli.main", "bench_core.run.runner", "bench_leaderboard.publish", "bench_inspect.health",
    "bench_leaderboard.render.figures", "bench_core.testing", "hypothesis", "lightgbm", "matplotlib.figure",
    "matplotlib.backends.backend_svg", "numba", "pandas", "pyarrow.dataset", "pyarrow.parquet",
    "scikit_posthocs", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model", "sklearn.svm",
)  # fmt: skip


def become(request: dict[str, Any]) -> None:
    """Set up this fork as the request says: folder, environment, import path, output."""
    os.setsid()  # a run that signals its process group must not signal the server
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
    """Answer requests until there are no more; return True in a child, which must run the command."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(json.loads(line))
            return True
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return False


if __name__ == "__main__":
    # As the command line does when it starts. Also, BLAS starts no threads, which a fork would lose.
    start_with_fixed_libraries()
    for library in LIBRARIES:
        importlib.import_module(library)
    for plugin in entry_points(group="budgetbench"):
        with suppress(ImportError):
            plugin.load()
    gc.freeze()
    if serve():
        # As with `python -m`, the module is __main__, which worker processes also look up.
        del sys.modules["bench_core.cli.main"]
        runpy.run_module("bench_core.cli.main", run_name="__main__", alter_sys=True)
