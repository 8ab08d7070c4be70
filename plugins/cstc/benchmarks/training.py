"""Time of fitting a tree by rows, columns, nodes and λ; with ``--large``, at the sizes of the paper.

Compare CPU seconds; wall time depends on the other load of the machine.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_cstc.methods import CSTC, SingleCostSensitive, TreeMethod

from bench_core import Costs, Part, Problem


def problem(rows: int, features: int, task: str, seed: int = 0) -> Problem:
    """Columns with a few common factors, like pixels; two classes, or grades 0..4 in queries of 20."""
    rng = np.random.default_rng(seed)
    factors = min(30, features)
    loads = rng.normal(size=(factors, features))
    hidden = rng.normal(size=(rows + rows // 4, factors))
    X = hidden @ loads / np.sqrt(factors) + 0.5 * rng.normal(size=(len(hidden), features))
    signal = np.tanh(hidden[:, 0] * hidden[:, 1]) + hidden[:, 2] + 0.3 * rng.normal(size=len(hidden))
    levels = 2 if task == "binary" else 5
    y = np.searchsorted(np.quantile(signal, np.arange(1, levels) / levels), signal)
    target = y.astype(np.int64) if task == "binary" else y.astype(np.float64)
    query = np.arange(len(y)) // 20 if task == "ranking" else None

    def part(chosen: slice) -> Part:
        return Part(np.ascontiguousarray(X[chosen]), target[chosen], None, None if query is None else query[chosen])

    prices = rng.choice([1.0, 5.0, 20.0, 50.0], features)
    return Problem(
        part(slice(rows)),
        part(slice(rows, None)),
        Costs(prices),
        task,  # type: ignore[arg-type]
        2 if task == "binary" else 0,
        tuple(f"x{i}" for i in range(features)),
        np.arange(features),
        threads=1,
    )


def timed(method: TreeMethod, given: Problem, what: str) -> None:
    """Fit once and print the time."""
    wall, cpu = time.perf_counter(), time.process_time()
    family = method.fit(given)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    policy = max(family.policies, key=lambda policy: -policy.details["lambda"])
    details = policy.details
    sweeps = details["trees"][0]["sweeps"]
    print(f"| {what} | {cpu:.2f} | {wall:.2f} | {details['nodes']} | {sweeps} | {details['features']} |", flush=True)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="the sizes of MNIST 3-vs-8 and of learning to rank")
    large = parser.parse_args().large
    base = {"lambdas": (0.03,), "structure": "full"}
    CSTC(levels=2, **base).fit(problem(100, 4, "binary"))  # compile
    print("| what | CPU s | wall s | nodes | sweeps | features |\n|---|---:|---:|---:|---:|---:|")
    for rows in (1000, 4000, 16000):
        timed(CSTC(levels=3, **base), problem(rows, 50, "binary"), f"{rows} rows × 50 columns, 7 nodes")
    for columns in (25, 100, 400):
        timed(CSTC(levels=3, **base), problem(4000, columns, "binary"), f"4000 rows × {columns} columns, 7 nodes")
    given = problem(4000, 50, "binary")
    for depth in (1, 2, 3, 4, 5):
        timed(CSTC(levels=depth, **base), given, f"4000 rows × 50 columns, {2**depth - 1} nodes")
    many = (0.01, 0.03, 0.1, 0.3)
    timed(CSTC(levels=3, lambdas=many, structure="full"), given, "4000 rows × 50 columns, 7 nodes, 4 λ")
    boosted = {"features": "boosted", "evaluation": 1.0, **base}
    for trees in (50, 200):
        timed(
            CSTC(levels=3, n_estimators=trees, **boosted),
            problem(4000, 100, "ranking"),
            f"4000 rows, {trees} trees, 7 nodes",
        )
    if large:
        digits = problem(12000, 1120, "binary")
        for lambda_ in (0.1, 0.01, 0.003):
            timed(CSTC(levels=4, lambdas=(lambda_,)), digits, f"12000 rows × 1120 columns, depth 4, λ = {lambda_}")
        ranking = problem(12000, 136, "ranking")
        for lambda_ in (0.1, 0.01):
            method = CSTC(levels=4, lambdas=(lambda_,), features="boosted", n_estimators=500, evaluation=1.0)
            timed(method, ranking, f"12000 rows, 500 trees, depth 4, λ = {lambda_}")
        timed(SingleCostSensitive(lambdas=(0.01,)), digits, "12000 rows × 1120 columns, one node")


if __name__ == "__main__":
    main()
