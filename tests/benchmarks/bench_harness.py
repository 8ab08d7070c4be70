"""Overhead of the harness: a trivial method on many tiny data sets (100 × 5), serial, in this process.

    python tests/benchmarks/bench_harness.py [TRIALS ...]

Cold: every trial is loaded, split, encoded, priced, fitted, decided, audited, judged and written. Short trials do not
wait for the disk; those of 50 ms and more wait for 0.6 ms.
Warm: the suite is planned again from its file when all trials are done. The limits are 3 ms (cold) and 0.1 ms (warm)
per trial, independent of the number of trials. Isolated: the additional time of a trial whose method runs in separate
processes: at most 30 ms in forks of a template (process), 100 ms in new ones (strict).
Nothing is removed before the end. Wait some minutes before a second run, or use another disk (`TMPDIR`): ext4 takes up
to 1 ms to create a file after many others were removed.
The figures for benchopt 1.10 are from another machine (15 ms cold, 10 ms if everything is cached).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import tiny_plugin

from bench_core.contract.sources import DataContext
from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Options, execute
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.suite_file import load_suite

DATA_SETS = 1000
BENCHOPT_COLD, BENCHOPT_WARM = 15.0, 10.0


def suite_text(trials: int) -> str:
    """A suite with up to 1,000 data sets, and as many seeds as the number of trials needs."""
    sets = min(DATA_SETS, trials)
    head = f'[suite]\nname = "harness"\n[protocol]\nthreshold = 0.7\nseeds = {trials // sets}\n'
    body = "".join(
        f'[[datasets]]\nuse = "blobs"\nname = "t{i}"\nparameters = {{ rows = 100, seed = {i} }}\n' for i in range(sets)
    )
    return f'{head}{body}[[methods]]\nuse = "slopes"\nparameters = {{ slopes = [1.0] }}\n'


def measure(trials: int, folder: Path, isolation: str = "none") -> tuple[float, float]:
    """Milliseconds per trial, cold and warm, including the start of the process that imports the plugin."""
    path = folder / "harness.toml"
    path.write_text(suite_text(trials), encoding="utf-8")
    registry = load_registry([("tiny", tiny_plugin)], entry_points=False)

    def session() -> SuiteSession:
        context = DataContext(cache=folder / "cache")
        suite = load_suite(path, registry)
        return SuiteSession(suite, registry, Store(folder / f"store-{isolation}-{trials}"), folder / "out", context)

    def once() -> tuple[float, int]:
        started = time.perf_counter()
        here = session()
        plan = here.plan()
        summary = execute(plan, here.cache, tuple(here.suite.needed_metrics()), Options(isolation=isolation))
        return 1000 * (time.perf_counter() - started) / trials, summary.computed

    cold, computed = once()
    if computed != trials:
        raise SystemExit(f"{computed} trials computed, not {trials}")
    warm, computed = once()
    if computed:
        raise SystemExit(f"{computed} trials computed again")
    return cold, warm


def seconds_of(*arguments: str) -> float:
    """Best wall time of five runs of a command line."""
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bench_core.cli.main", *arguments], check=True, capture_output=True)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    """Print the tables."""
    counts = [int(argument) for argument in sys.argv[1:]] or [100, 1000, 10_000]
    bars = "cold, ms a trial | bar | benchopt / ours | warm, ms a trial | bar | benchopt / ours"
    print(f"| trials | {bars} | process, ms more | bar | strict, ms more | bar |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        measure(10, Path(folder))  # imports and first calls
        for trials in counts:
            cold, warm = measure(trials, Path(folder))
            ratios = f"{BENCHOPT_COLD / cold:.1f}x", f"{BENCHOPT_WARM / warm:.0f}x"
            line = f"| {trials} | {cold:.2f} | 3 | {ratios[0]} | {warm:.3f} | 0.1 | {ratios[1]}"
            process, _ = measure(trials, Path(folder), "process")
            strict, _ = measure(trials, Path(folder), "strict")
            print(f"{line} | +{process - cold:.2f} | 30 | +{strict - cold:.2f} | 100 |", flush=True)
    print(f"\n`bench --help` {seconds_of('--help'):.2f} s (bar 0.3); `bench list` {seconds_of('list'):.2f} s (bar 1)")


if __name__ == "__main__":
    main()
