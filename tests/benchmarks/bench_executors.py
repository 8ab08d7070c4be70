"""Overhead and speed-up of executors: serial, two worker processes, two Dask workers on this machine.

    python tests/benchmarks/bench_executors.py

A trial's overhead is the slope between a short and a long run of trivial trials (a stump on 60 rows), which excludes
starting processes and a scheduler. The limit for Dask is 20 ms more than serial. The speed-up is measured on trials of
a second or two (PolyDom's GreedyAcc on digits, one thread), without start and end; it must be at least 1.8. Both need
an idle machine with two cores.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXECUTORS = {
    "serial": [],
    "two processes": ["--jobs", "2"],
    "Dask, one worker": ["--executor", "dask", "--jobs", "1"],
    "Dask, two workers": ["--executor", "dask", "--jobs", "2"],
}
FEW, MANY, LONG = 100, 600, 60

TRIVIAL = """
metrics = ["error", "cost"]
[suite]
name = "trivial"
[protocol]
split = { kind = "random", train = 0.5, validation = 0.25, test = 0.25 }
seeds = 600
[[datasets]]
use = "make-classification"
parameters = { rows = 60, features = 6, informative = 4, redundant = 0 }
costs = { use = "uniform" }
[[methods]]
use = "stump"
"""
SECONDS = """
metrics = ["error", "cost"]
[suite]
name = "seconds"
[protocol]
split = { kind = "random", train = 0.5, validation = 0.25, test = 0.25 }
seeds = 60
encode = "ordinal"
[[datasets]]
use = "sized-images"
parameters = { images = 600 }
costs = { use = "from-data" }
[[methods]]
use = "greedy-acc"
parameters = { learner = "linear-sgd", budgets = [100, 1000, 10000] }
"""


def seconds(suite: Path, seeds: int, options: list[str]) -> float:
    """Wall time of a run into an empty store."""
    with tempfile.TemporaryDirectory() as store:
        command = [sys.executable, "-m", "bench_core.cli.main", "run", str(suite), "--seeds", str(seeds)]
        started = time.perf_counter()
        subprocess.run(
            [*command, "--store", store, "--out", f"{store}/out", *options], check=True, capture_output=True
        )  # fmt: skip
        return time.perf_counter() - started


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        trivial, long = Path(folder) / "trivial.toml", Path(folder) / "seconds.toml"
        trivial.write_text(TRIVIAL, encoding="utf-8")
        long.write_text(SECONDS, encoding="utf-8")
        for suite in (trivial, long):
            seconds(suite, 1, [])  # data into the cache, plugins listed
        print("| executor | start and end, s | ms a trivial trial | s of 60 long trials | of serial |")
        print("|---|---:|---:|---:|---:|")
        serial = 0.0
        for name, options in EXECUTORS.items():
            few, many = seconds(trivial, FEW, options), seconds(trivial, MANY, options)
            each = (many - few) / (MANY - FEW)
            start = few - FEW * each
            whole = seconds(long, LONG, options) - start
            serial = serial or whole
            row = f"| {name} | {start:.1f} | {1000 * each:.1f} | {whole:.1f} | {serial / whole:.2f}x |"
            print(row, flush=True)


if __name__ == "__main__":
    main()
