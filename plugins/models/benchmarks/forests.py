"""Time and memory of growing a forest, compared with scikit-learn's RandomForestClassifier; prints a table of ratios.

    python plugins/models/benchmarks/forests.py [--rows 20000 180000] [--columns 50] [--trees 40] [--threads 1]

The forest of BudgetRF, BUDGETPRUNE, CCP and GreedyPrune tries every column at every split. It is compared with
scikit-learn's default, which tries the square root of their number, and with scikit-learn's forest on all columns (of
which a few trees are timed and scaled where there are many rows). Data: make_classification with 5 % wrong labels. Each
forest is grown in a separate process, after a warm-up that compiles the kernels; memory is the growth of the process
during the fit, divided by the size of the data. Check: on other rows, a forest by entropy or Gini is at most one point
worse than the better of scikit-learn's two.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

TEST_ROWS = 10_000
SCALED_TREES = 2


def grown(folder: str, kind: str, criterion: str, trees: int, threads: int) -> tuple[float, float, float, float]:
    """Seconds, CPU seconds, memory over the size of the data, and accuracy on other rows."""
    X, y, others, right = (np.load(Path(folder, f"{name}.npy")) for name in ("X", "y", "others", "right"))
    if kind == "own":
        from bench_models.forest.grower import Growth, grow
        from bench_models.forest.walk import decide

        def fit(X, y, trees):  # type: ignore[no-untyped-def]
            return grow(X, y, 2, np.arange(X.shape[1]), Growth(trees, criterion), threads=threads)
    else:
        from sklearn.ensemble import RandomForestClassifier

        columns = None if kind == "scikit-learn, all" else "sqrt"

        def fit(X, y, trees):  # type: ignore[no-untyped-def]
            forest = RandomForestClassifier(
                trees, criterion=criterion, max_features=columns, random_state=0, n_jobs=threads
            )
            return forest.fit(X, y)

    fit(X[:100], y[:100], 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    forest = fit(X, y, trees)
    spent, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes
    labels = decide(forest.walked[0], others, X.shape[1])[1].argmax(axis=1) if kind == "own" else forest.predict(others)
    return spent, cpu, memory, float((labels == right).mean())


def table(rows: int, columns: int, trees: int, threads: int) -> None:
    """Print the table for a number of rows."""
    X, y = make_classification(
        rows + TEST_ROWS, columns, n_informative=12, n_redundant=8, n_clusters_per_class=3, flip_y=0.05, random_state=0
    )
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, context.Pool(1, maxtasksperchild=1) as pool:
        parts = {"X": X[:rows], "y": y[:rows], "others": X[rows:], "right": y[rows:]}
        for name, part in parts.items():
            np.save(Path(folder, f"{name}.npy"), part)
        del X, y, parts
        print(f"\n{rows} x {columns}, {trees} trees, {threads} threads")
        print("| forest | criterion | seconds | CPU | over scikit-learn's default | memory over data | accuracy |")
        print("|---|---|---|---|---|---|---|", flush=True)
        base: dict[str, float] = {}
        best: dict[str, float] = {}
        for kind, criterion in (
            ("scikit-learn, default", "gini"), ("scikit-learn, default", "entropy"),
            ("scikit-learn, all", "gini"), ("scikit-learn, all", "entropy"),
            ("own", "gini"), ("own", "entropy"), ("own", "pairs"),
        ):  # fmt: skip
            scale = trees / SCALED_TREES if kind == "scikit-learn, all" and rows > 50_000 else 1
            found = pool.apply(grown, (folder, kind, criterion, int(trees / scale), threads))
            seconds, cpu, memory, accuracy = found[0] * scale, found[1] * scale, *found[2:]
            if kind == "scikit-learn, default":
                base[criterion] = cpu
            if kind != "own" and scale == 1:
                best[criterion] = max(accuracy, best.get(criterion, 0.0))
            ratio = cpu / base.get(criterion, base["gini"])
            print(
                f"| {kind} | {criterion} | {seconds:.1f} | {cpu:.1f} | {ratio:.2f} | {memory:.1f} | {accuracy:.1%} |",
                flush=True,
            )
            if kind == "own" and accuracy < best.get(criterion, 0.0) - 0.01:
                raise SystemExit(f"{criterion}: {accuracy:.3f}, scikit-learn's {best[criterion]:.3f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 180_000])
    for name, value in (("columns", 50), ("trees", 40), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    own = parser.parse_args()
    for rows in own.rows:
        table(rows, own.columns, own.trees, own.threads)


if __name__ == "__main__":
    main()
