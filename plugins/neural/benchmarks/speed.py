"""Seconds of a first and a further fit, rows decided per second, and whether two fits give the same bits, by method.

    python plugins/neural/benchmarks/speed.py [METHOD …]

The table has 1,500 training rows and 60 features of unit price, two classes: the limits of every method are 60 s for a
first fit, 30 s for a further one, and 5,000 rows a second. Each method runs in a process of its own, without compiled
programs on disk: its first fit compiles, the further one (another seed) does not. Seconds are processor time. Deciding
is measured on the policies of the family, which buy from 1 to 60 features, with rows that they have not seen; their
programs are compiled before.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import numpy as np

from bench_core import Costs, Method, Part, Problem

LIMITS = (60.0, 30.0, 5000.0)
ROWS = {"eddi": 300}
"""Number of rows to decide, for methods where it is not 3,000."""


def methods() -> dict[str, Method]:
    """All methods with their defaults."""
    from bench_neural import plugin

    return {
        "mask-static": plugin.MaskStatic(),
        "cae": plugin.CAE(),
        "gdfs": plugin.GDFS(),
        "dime": plugin.DIME(),
        "ol": plugin.OL(),
        "cwcf": plugin.CwCF(),
        "eddi": plugin.EDDI(),
    }


def table(rows: int, seed: int) -> Part:
    """Rows whose label depends on ten of sixty features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 60))
    return Part(X, (X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=rows) > 0).astype(np.int64))


def measure(name: str) -> str:
    """One line of the table."""
    method, names = methods()[name], tuple(f"f{i}" for i in range(60))
    problem = Problem(
        table(1500, 0), table(500, 1), Costs(np.ones(60)), "binary", 2, names, np.arange(60), seed=0
    )  # fmt: skip
    results, families = [], []
    for seed in (0, 1, 1):
        start = time.process_time()
        families.append(method.fit(replace(problem, seed=seed)))
        results.append(time.process_time() - start)
    rows, policies = table(ROWS.get(name, 3000), 2).rows(), families[1].policies
    decided = [policy.decide(rows).probabilities for policy in policies]
    again = [policy.decide(rows).probabilities for policy in families[2].policies]
    same = all(np.array_equal(one, other) for one, other in zip(decided, again, strict=True))
    new = table(len(rows), 3).rows()
    start = time.process_time()
    for policy in policies:
        policy.decide(new)
    speed = len(rows) * len(policies) / (time.process_time() - start)
    within = results[0] <= LIMITS[0] and results[1] <= LIMITS[1] and speed >= LIMITS[2]
    return (
        f"{name:12} {results[0]:8.1f} {results[1]:8.1f} {speed:12,.0f} {speed / LIMITS[2]:6.2f}"
        f" {'same' if same else 'DIFFER':>7} {'yes' if within and same else 'no':>7}"
    )


def main(chosen: list[str]) -> None:
    """Print the table."""
    if chosen[:1] == ["--one"]:
        print(measure(chosen[1]), flush=True)
        return
    print("method       first, s  next, s  rows/second  /5000    bits  within limits")
    for name in chosen or methods():
        subprocess.run([sys.executable, __file__, "--one", name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
