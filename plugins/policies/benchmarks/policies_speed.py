"""Measure rows per second of a fitted policy: on a table, asked step by step, and in sessions from many threads.

    python plugins/policies/benchmarks/policies_speed.py [rows]

The policy is a cascade of linear stages (``cost-ordered``), also asked by substitution. Its target on a table is 10,000
rows per second.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
from bench_policies import AskedBySubstitution, FittedPolicy, fit_policy

from bench_core.execution import replay


def make_table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 8)), columns=[f"f{i}" for i in range(8)])
    frame["y"] = np.where(frame.to_numpy() @ rng.normal(size=8) + rng.normal(size=rows) > 0, "yes", "no")
    return frame


def timed(what: str, rows: int, run: object) -> None:
    start, busy = time.perf_counter(), time.process_time()
    run()  # type: ignore[operator]
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(f"{what:40s} {rows / seconds:12,.0f} rows per second, {rows / busy:12,.0f} per CPU second")


def main(rows: int) -> None:
    table = make_table(rows)
    fitted = fit_policy("cost-ordered", table[:2000], [float(1 + i // 2) for i in range(8)], target="y", splits=0)
    encoded, columns = fitted.rows(table), fitted.encoder.feature_of_column
    fitted.decide(table[:10])
    timed("decide, a table", rows, lambda: fitted.decide(table))
    timed("asked step by step, as arrays", rows, lambda: replay(fitted.policy, encoded, columns))
    few = encoded.take(np.arange(min(rows, 2000)))
    asked = AskedBySubstitution(fitted.policy, encoded.X[:32], columns)
    timed("asked by substitution, as arrays", len(few), lambda: replay(asked, few, columns))
    records = table.to_dict("records")[:1000]
    timed("sessions, one after the other", len(records), lambda: [play(fitted, row) for row in records])
    with ThreadPoolExecutor(64) as pool:
        timed(
            "1,000 sessions from 64 threads", len(records), lambda: list(pool.map(lambda r: play(fitted, r), records))
        )


def play(fitted: FittedPolicy, row: dict[str, float]) -> None:
    session = fitted.start()
    while session.answer is None:
        session.give({name: row[name] for name in session.wanted})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
