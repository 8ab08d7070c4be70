"""Time GreedyMiser's training and decisions, compared with scikit-learn's boosted trees; show the effect of λ on cost.

    python benchmarks/bench_training.py [--rows 5000] [--columns 50] [--trees 300]
    python benchmarks/bench_training.py --one-hot    # covertype's shape: 36,603 rows, 10 numbers, 44 one-hot columns

Compilation is not timed; seconds are processor time over all threads. Check: without prices, and with one bin per
distinct value, the training loss equals that of scikit-learn's exact trees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench_greedymiser.bins import fit_bins
from bench_greedymiser.boosting import Boosted, Grower, boost
from bench_greedymiser.losses import Squared
from bench_greedymiser.prices import Penalties
from bench_greedymiser.tree import grow_compiled, grow_tree
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor

DEPTH, RATE = 4, 0.1


def timed(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Seconds of the fastest run, and the returned value."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    return best, result


def train(X: np.ndarray, y: np.ndarray, trees: int, value: float = 0.0) -> Boosted:
    """An ensemble grown at unit prices."""
    columns = X.shape[1]
    unit = Penalties(np.ones(columns), np.full(columns, -1), np.zeros(1))
    scale = value * float(y.var()) / columns
    return boost(
        fit_bins(X), np.arange(columns), Squared(y[:, None]), unit.times(scale),
        rounds=trees, depth=DEPTH, learning_rate=RATE, least=1,
    )  # fmt: skip


def one_hot(rows: int = 36_603, rounds: int = 20) -> None:
    """Time seven classes at covertype's shape; check the first rows' trees against the reference implementation."""
    rng = np.random.default_rng(0)
    numbers = np.round(rng.normal(size=(rows, 10)) * 60)
    first, second = rng.integers(0, 4, rows), np.minimum(rng.geometric(0.1, rows) - 1, 39)
    X = np.hstack([numbers, np.eye(4)[first], np.eye(40)[second]])
    score = numbers[:, 0] / 60 + 0.5 * first + 0.05 * second + 0.5 * rng.normal(size=rows)
    y = np.searchsorted(np.quantile(score, np.arange(1, 7) / 7), score)
    unit = Penalties(np.full(X.shape[1], 1e-5), np.full(X.shape[1], -1), np.zeros(1))

    def boosted(part: slice, rounds: int, grow: Grower = grow_compiled) -> Boosted:
        loss = Squared((y[part, None] == np.arange(7)).astype(np.float64))
        return boost(
            fit_bins(X[part]), np.arange(X.shape[1]), loss, unit,
            rounds=rounds, depth=DEPTH, learning_rate=RATE, least=1, grow=grow,
        )  # fmt: skip

    everything, few = slice(None), slice(2_000)
    boosted(few, 1)
    seconds, _ = timed(lambda: boosted(everything, rounds), 3)
    bins = fit_bins(X)
    print(f"{rows} rows x {X.shape[1]} columns in {bins.packed.codes.shape[1]} lanes, 7 classes, one thread")
    print(f"  greedymiser                    {1e3 * seconds / (7 * rounds):7.2f} ms a tree of depth {DEPTH}")
    hist = HistGradientBoostingClassifier(
        max_iter=rounds, max_depth=DEPTH, max_leaf_nodes=None, learning_rate=RATE,
        min_samples_leaf=1, early_stopping=False,
    )  # fmt: skip
    theirs, _ = timed(lambda: hist.fit(X, y), 3)
    print(f"  scikit-learn, histogram        {1e3 * theirs / (7 * rounds):7.2f} ms (log loss, its own threads)")
    plain, compiled = (boosted(few, 2, grow).ensemble.trees.flat for grow in (grow_tree, grow_compiled))
    same = all(np.array_equal(getattr(plain, n), getattr(compiled, n)) for n in ("column", "left", "value"))
    print(f"  oracle: the reference trees on 2,000 rows are {'the same' if same else 'DIFFERENT'}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--one-hot", action="store_true")
    own = parser.parse_args()
    if own.one_hot:
        one_hot()
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(own.rows, own.columns))
    weights = 0.8 ** np.arange(own.columns)
    y = np.sin(2 * X[:, 0]) + X @ weights + X[:, 1] * X[:, 2] + rng.normal(size=own.rows)
    train(X[:200], y[:200], 2)

    print(f"{own.rows} rows x {own.columns} columns, {own.trees} trees of depth {DEPTH}, one thread")
    rounded = np.round(X * 40) / 40
    seconds, made = timed(lambda: train(X, y, own.trees), 3)
    print(f"  greedymiser, lambda 0          {seconds:7.2f} s   training loss {made.losses[-1]:.4f}")
    ours = train(np.clip(rounded, -3, 3), y, own.trees).losses[-1]
    exact = GradientBoostingRegressor(n_estimators=own.trees, max_depth=DEPTH, learning_rate=RATE, random_state=0)
    theirs, _ = timed(lambda: exact.fit(np.clip(rounded, -3, 3), y))
    loss = float(np.square(y - exact.predict(np.clip(rounded, -3, 3))).mean() / 2)
    print(f"  scikit-learn, exact            {theirs:7.2f} s   training loss {loss:.4f}")
    hist = HistGradientBoostingRegressor(
        max_iter=own.trees, max_depth=DEPTH, max_leaf_nodes=None, learning_rate=RATE,
        min_samples_leaf=1, early_stopping=False,
    )  # fmt: skip
    histogram, _ = timed(lambda: hist.fit(X, y), 3)
    print(f"  scikit-learn, histogram        {histogram:7.2f} s   (its own threads)")
    print(f"  oracle: at most 241 values a column, loss {ours:.4f} against {loss:.4f}")

    rows = np.random.default_rng(1).normal(size=(100_000, own.columns))
    ensemble = made.ensemble

    def decide() -> None:
        scores, acquired = ensemble.empty(len(rows))
        ensemble.advance(rows, 0, min(100, ensemble.rounds), scores, acquired)

    seconds, _ = timed(decide, 3)
    print(f"  deciding 100,000 rows x 100 trees {seconds:5.2f} s")

    print("  lambda   trees  features used   paths: mean features   training loss")
    for value in (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0):
        made = train(X, y, own.trees, value)
        scores, acquired = made.ensemble.empty(own.rows)
        made.ensemble.advance(X, 0, made.ensemble.rounds, scores, acquired)
        print(
            f"  {value:6g} {made.ensemble.rounds:7d} {made.ensemble.used[-1].sum():10d} "
            f"{acquired.sum(axis=1).mean():18.2f} {made.losses[-1]:21.4f}"
        )


if __name__ == "__main__":
    main()
