"""GDFS and DIME against static orders on draws of CUBE with 600 and 6,000 training rows.

    python plugins/neural/benchmarks/cube.py [DRAWS [ROWS …]]

CUBE as AFABench stores it: the label is uniform in 0 … 7, its three bits (the lowest first) stand at the positions
label, label + 1, label + 2 of twenty features; every value has a standard deviation of 0.3. The test part of each draw
has 5,000 rows. The output is the mean accuracy at each cap of purchases, with two standard errors over the draws.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from bench_neural.plugin import CAE, DIME, EDDI, GDFS, OL, MaskStatic
from numpy.typing import NDArray

from bench_core import Costs, Part, Problem

CAPS = (3.0, 5.0, 10.0)
METHODS = {
    "mask-static": MaskStatic(budgets=CAPS),
    "cae": CAE(budgets=CAPS),
    "gdfs": GDFS(budgets=CAPS),
    "dime": DIME(stop="budget", values=CAPS),
    "ol": OL(stop="budget", values=CAPS),
    "eddi": EDDI(budgets=CAPS),
}


def cube(rng: np.random.Generator, rows: int) -> Part:
    """Draw rows."""
    y = rng.integers(0, 8, rows)
    X = rng.normal(0.5, 0.3, (rows, 20))
    for bit in range(3):
        X[np.arange(rows), y + bit] = ((y >> bit) & 1) + rng.normal(0, 0.3, rows)
    return Part(X, y)


def best_static(train: Part, test: Part, size: int) -> float:
    """Accuracy of Bayes' rule with the true densities, on the fixed set of features that is best on the test rows."""
    from itertools import combinations

    means = np.full((8, 10), 0.5)
    for label in range(8):
        for bit in range(3):
            means[label, label + bit] = (label >> bit) & 1
    distance: NDArray[np.float64] = (test.X[:, None, :10] - means) ** 2  # the same variance for all classes
    return max(
        float((distance[:, :, chosen].sum(axis=2).argmin(axis=1) == test.y).mean())
        for chosen in combinations(range(10), size)
    )


def main(draws: int, sizes: list[int]) -> None:
    """Print a table for each number of training rows, and each draw's results as they come."""
    for rows in sizes:
        results: dict[str, list[list[float]]] = {}
        for draw in range(draws):
            rng = np.random.default_rng(np.random.SeedSequence([rows, draw]))
            train, validation, test = cube(rng, rows), cube(rng, 200), cube(rng, 5000)
            names = tuple(f"f{i}" for i in range(20))
            problem = Problem(train, validation, Costs(np.ones(20)), "multiclass", 8, names, np.arange(20), seed=draw)
            for name, method in METHODS.items():
                start = time.process_time()
                family = method.fit(problem)
                seconds = time.process_time() - start
                by_cap = {policy.details["budget"]: policy.decide(test.rows()) for policy in family.policies}
                right = [
                    float((by_cap[cap].probabilities.argmax(axis=1) == test.y).mean())  # type: ignore[union-attr]
                    for cap in CAPS
                ]
                results.setdefault(name, []).append([*right, seconds])
                print(f"  draw {draw}, {name}: {right}, {seconds:.1f} s", flush=True)
            bound = [best_static(train, test, int(cap)) for cap in CAPS]
            results.setdefault("best fixed set, true densities", []).append([*bound, 0.0])
        print(f"{rows} training rows, {draws} draws")
        for name, table in results.items():
            mean, error = np.mean(table, axis=0), 2 * np.std(table, axis=0, ddof=1) / np.sqrt(draws)
            cells = "  ".join(f"{cap:.0f}: {m:.3f} ± {e:.3f}" for cap, m, e in zip(CAPS, mean, error, strict=False))
            print(f"  {name:32} {cells}  {mean[-1]:.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, [int(rows) for rows in sys.argv[2:]] or [600, 6000])
