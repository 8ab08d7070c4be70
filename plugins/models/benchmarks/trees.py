"""Time of scoring rows by striking out leaves, compared with walking the same trees; prints a table of ratios.

    python plugins/models/benchmarks/trees.py [--rows 50000] [--columns 54] [--trees 700] [--repeats 3]

The trees are balanced with 16 or 64 leaves, or random with 31. Check: both ways give the same bits.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from bench_models.trees import AdditiveTrees, FlatTrees


def random_trees(rng: np.random.Generator, trees: int, leaves: int, columns: int, balanced: bool) -> AdditiveTrees:
    """Trees whose thresholds halve standard normal columns on average."""
    nodes = 2 * leaves - 1
    column = np.full((trees, nodes), -1, dtype=np.int32)
    left = np.full((trees, nodes), -1, dtype=np.int32)
    for t in range(trees):
        waiting, made = [0], 1
        while made < nodes:
            at = waiting.pop(0 if balanced else int(rng.integers(len(waiting))))
            column[t, at], left[t, at] = rng.integers(columns), t * nodes + made
            waiting += [made, made + 1]
            made += 2
    inner = column.ravel() >= 0
    flat = FlatTrees(
        np.arange(trees, dtype=np.int64) * nodes, column.ravel(),
        np.where(inner, rng.normal(size=inner.size) / 2, np.nan), left.ravel(),
        np.zeros(inner.size, dtype=np.int8), np.where(inner, 0.0, rng.normal(size=inner.size))[:, None],
        np.arange(columns),
    )  # fmt: skip
    return AdditiveTrees(flat, 7, columns)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("rows", 50_000), ("columns", 54), ("trees", 700), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    own = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(own.rows, own.columns))
    print(f"{own.rows} rows x {own.columns} columns, {own.trees} trees; ns a row and tree")
    print("  trees                 struck out   walked    ratio")
    for leaves, balanced in ((16, True), (31, False), (64, True)):
        struck = random_trees(rng, own.trees, leaves, own.columns, balanced)
        walked = replace(struck)
        walked.__dict__["tests"] = None
        best = {}
        found = {}
        for name, trees in (("struck", struck), ("walked", walked)) * own.repeats:
            trees.run(X[:1])
            start = time.perf_counter()
            found[name] = trees.run(X)
            best[name] = min(best.get(name, np.inf), time.perf_counter() - start)
        if not all(np.array_equal(a, b) for a, b in zip(found["struck"], found["walked"], strict=True)):
            raise SystemExit("striking out and walking differ")
        each = {name: seconds / own.rows / own.trees * 1e9 for name, seconds in best.items()}
        shape = f"{leaves} leaves, {'balanced' if balanced else 'random'}"
        print(f"  {shape:20s} {each['struck']:11.1f} {each['walked']:8.1f} {best['walked'] / best['struck']:7.1f}x")


if __name__ == "__main__":
    main()
