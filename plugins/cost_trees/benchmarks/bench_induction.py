"""Time the growing of trees, compared with scikit-learn's, and a search of ICET.

    python benchmarks/bench_induction.py [--rows 2000] [--columns 20] [--trials 1000]

Compilation is not timed. The compiled trees must equal those of the reference implementation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_cost_trees.bias_search import BiasSearch
from bench_cost_trees.criteria import Criterion
from bench_cost_trees.genetic import Settings
from bench_cost_trees.induction import Grower, Limits, grow_compiled, grow_plain
from bench_cost_trees.prices import Prices
from sklearn.tree import DecisionTreeClassifier


def timed(run: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Seconds of the fastest run, and the returned value."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return best, result


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trials", type=int, default=1000)
    own = parser.parse_args()
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(own.rows, own.columns)), 2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=own.rows) > 0).astype(np.int64)
    prices = Prices(np.full(own.columns, 3.0), np.ones(own.columns), np.arange(own.columns) // 4)
    rows, limits = np.arange(own.rows), Limits()
    making, grower = timed(lambda: Grower.of(X, y, 2, np.arange(own.columns)))
    few = rows[:200]
    same = [grow(grower, few, Criterion("eg2"), prices, limits, by_path=True) for grow in (grow_plain, grow_compiled)]
    print(f"{own.rows} rows x {own.columns} columns; ranking the values {1e3 * making:.2f} ms")
    for name in ("gain", "gain-ratio", "eg2", "idx", "cs-id3"):
        criterion = Criterion(name)  # type: ignore[arg-type]
        seconds, tree = timed(lambda c=criterion: grow_compiled(grower, rows, c, prices, limits, by_path=True))
        print(f"  {name:11} {1e3 * seconds:8.2f} ms   {(tree.left < 0).sum():5d} leaves")
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    seconds, fitted = timed(lambda: theirs.fit(X, y))
    print(f"  scikit-learn{1e3 * seconds:8.2f} ms   {fitted.get_n_leaves():5d} leaves")
    search = BiasSearch(grower, prices, limits)
    search.run(100.0, Settings(trials=5), np.random.default_rng(0))
    seconds, _ = timed(lambda: search.run(100.0, Settings(trials=own.trials), np.random.default_rng(0)), 1)
    print(f"  icet, {own.trials} trials {seconds:.2f} s")
    verdict = "the same" if np.array_equal(same[0].left, same[1].left) else "DIFFERENT"
    print(f"  oracle: the reference implementation's tree is {verdict}")


if __name__ == "__main__":
    main()
