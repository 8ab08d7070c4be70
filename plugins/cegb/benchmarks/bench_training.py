"""Time CEGB's training with and without penalties, and its decisions compared with LightGBM's predict.

    python benchmarks/bench_training.py [--rows 5000] [--columns 50] [--trees 300] [--threads 1]

Check: the walk's scores equal LightGBM's to 1e-12 on every timed row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_cegb.forest import Forest
from bench_cegb.penalties import penalties
from bench_models.boosting import train

from bench_core import Costs, Part, Problem


def timed(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Seconds of the fastest run, and the returned value."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return best, result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("rows", 5000), ("columns", 50), ("trees", 300), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    own = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(own.rows, own.columns))
    y = np.sin(2 * X[:, 0]) + X @ (0.8 ** np.arange(own.columns)) + rng.normal(size=own.rows)
    part = Part(X, y)
    problem = Problem(
        part, part, Costs(np.ones(own.columns)), "regression", 0,
        tuple(f"x{i}" for i in range(own.columns)), np.arange(own.columns), threads=own.threads,
    )  # fmt: skip
    settings = {"objective": "regression", "num_leaves": 16, "learning_rate": 0.1}
    train(problem, 2, settings)
    print(f"{own.rows} rows x {own.columns} columns, {own.trees} trees of 16 leaves, {own.threads} thread(s)")
    walked = rng.normal(size=(100_000, own.columns))
    features = np.arange(own.columns)
    print("  penalty   lambda   training   features   paths: mean features")
    for kind, value in (("none", 0.0), ("coupled", 0.01), ("coupled", 0.1), ("lazy", 0.01), ("lazy", 0.1)):
        charged = {} if kind == "none" else penalties(
            problem, kind, "split", 0.0, "relative", float(y.var())
        ).parameters(kind, value)  # fmt: skip
        seconds, booster = timed(lambda charged=charged: train(problem, own.trees, {**settings, **charged}))
        forest = Forest.from_dump(booster.dump_model())
        _, acquired = forest.run(walked[:2000], features, own.columns)
        print(f"  {kind:8s} {value:7g} {seconds:8.2f} s {len(forest.used()):10d} {acquired.sum(axis=1).mean():14.1f}")
    booster = train(problem, 100, settings)
    seconds, forest = timed(lambda: Forest.from_dump(booster.dump_model()))
    print(f"  reading the dump of 100 trees          {seconds:6.3f} s")
    forest.run(walked[:10], features, own.columns)
    seconds, found = timed(lambda: forest.run(walked, features, own.columns), 3)
    theirs, expected = timed(lambda: booster.predict(walked, num_threads=1), 3)
    print(f"  100,000 rows x 100 trees, walk         {seconds:6.3f} s (with the features of every row)")
    print(f"  100,000 rows x 100 trees, LightGBM     {theirs:6.3f} s")
    print(f"  oracle: greatest difference {np.abs(found[0][:, 0] - expected).max():.1e}")


if __name__ == "__main__":
    main()
