"""Render all published files of a suite from synthetic records: export, pages, index.

    python tests/benchmarks/bench_render.py [--sets N] [RECORDS ...]

Each number of records is rendered in a new process, twice with the records in different orders. The time is that of the
first rendering; the bytes must be the same. The limits are 20 s and 2 GiB for 100,000 records, and 2 s for 10. Figures
are drawn once and timed separately: their time grows with the number of data sets (``--sets``; by default as many as
the records allow with 5 methods and 50 seeds).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

METHODS, SEEDS = 5, 50


def measure(count: int, wanted: int) -> None:
    """Render ``count`` records; print the seconds, the peak memory in MB, and a hash of the files."""
    started = time.perf_counter()
    import numpy as np
    from bench_analysis.analysed import Analysed
    from bench_leaderboard.render.front import render_front
    from bench_leaderboard.render.index import describe
    from bench_leaderboard.render.page import render_page
    from bench_leaderboard.render.page_figures import figure_files
    from bench_leaderboard.render.timings import render_timings
    from bench_records.exports import write_export
    from bench_records.records import tabulate
    from support.synthetic import labelled, record_of, suite_of

    imported = time.perf_counter() - started
    seeds = min(SEEDS, max(1, count // METHODS))
    sets = wanted or max(1, count // (METHODS * seeds))
    seeds = max(1, count // (METHODS * sets))
    datasets, methods = [f"D{i}" for i in range(sets)], [f"m{i}" for i in range(METHODS)]
    rng = np.random.default_rng(0)
    values = rng.random((sets, METHODS, seeds, 13))
    names = ["coverage", "conclusive-accuracy", "cost", "combined", "cost-share", *(f"x{i}" for i in range(8))]
    records = [
        record_of(d, m, s, dict(zip(names, values[i, j, s], strict=True)))
        for i, d in enumerate(datasets)
        for j, m in enumerate(methods)
        for s in range(seeds)
    ]
    suite = suite_of(datasets, methods, seeds)
    hashes = []
    for turn in range(2):
        pieces = labelled(records)
        random.Random(turn).shuffle(pieces)
        started, busy = time.perf_counter(), time.process_time()
        table = tabulate(pieces)
        analysed = Analysed(suite, table)
        described = describe(suite, table, analysed.tables)
        files = [
            *write_export(table, Path()).values(),
            described,
            render_page(analysed).encode(),
            render_timings(analysed).encode(),
            render_front([json.loads(described)]).encode(),
        ]
        if not turn:
            spent, work = time.perf_counter() - started, time.process_time() - busy
        hashes.append(hashlib.sha256(b"".join(files)).hexdigest())
    if hashes[0] != hashes[1]:
        raise SystemExit("the order of the records shows in the bytes")
    started = time.perf_counter()
    drawn = figure_files(analysed.figures, Path())
    drawing = time.perf_counter() - started
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(records):>8} records  {sets:>4} data sets  {spent:7.2f} s, {work:7.2f} s of CPU "
        f"(+ {imported:.2f} s imports), {len(drawn)} figures {drawing:.2f} s  {most:7.0f} MiB"
    )


def main() -> None:
    """Measure each number of records asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("records", nargs="*", type=int, default=[10, 1_000, 10_000, 100_000])
    parser.add_argument("--sets", type=int, default=0)
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    for count in given.records:
        if given.here:
            measure(count, given.sets)
        else:
            more = ["--here", "--sets", str(given.sets)]
            subprocess.run([sys.executable, __file__, str(count), *more], check=True)


if __name__ == "__main__":
    main()
