"""AACO on a large draw of CUBE-NM: the share of the full price paid and the accuracy, for every λ of the family.

    python plugins/aaco/benchmarks/cube_nm.py [--rows 20000] [--rounds 50 200]

The noise is the article's, 0.1. There are 1,000 validation rows, which only choose the default policy, and 2,000 test
rows: the standard error of an accuracy near 0.96 is 0.0045. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from bench_aaco.plugin import AACO
from bench_synthetic.cube import CubeNM

from bench_core import DataContext, Part, Problem

VALIDATION, TEST = 1000, 2000


def draw(rows: int) -> tuple[Problem, Part]:
    """The problem, and the test rows."""
    data = CubeNM(rows=rows + VALIDATION + TEST).load(DataContext(Path(), offline=True))
    X, y = np.asarray(data.values, dtype=np.float64), np.asarray(data.target)
    parts = [Part(X[a:b], y[a:b]) for a, b in [(0, rows), (rows, rows + VALIDATION), (rows + VALIDATION, len(X))]]
    columns = np.arange(X.shape[1])
    problem = Problem(parts[0], parts[1], data.costs, "multiclass", 8, data.feature_names, columns, seed=0)
    return problem, parts[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000, help="training rows")
    parser.add_argument("--rounds", type=int, nargs="+", default=[50, 200], help="boosting rounds")
    options = parser.parse_args()
    problem, test = draw(options.rows)
    full = float(problem.costs.total(1, None)[0])
    print("| rounds | fit, s | lambda | share of the price | accuracy |")
    print("|---|---|---|---|---|")
    for rounds in options.rounds:
        start = time.process_time()
        family = AACO(n_estimators=rounds).fit(problem)
        seconds = time.process_time() - start
        for policy in sorted(family.policies, key=lambda policy: -policy.lambda_):
            decisions = policy.decide(test.rows())
            share = problem.costs.bill(decisions.acquired).mean() / full
            accuracy = (decisions.probabilities.argmax(axis=1) == test.y).mean()
            print(f"| {rounds} | {seconds:.0f} | {policy.lambda_:.3g} | {share:.1%} | {accuracy:.3f} |", flush=True)


if __name__ == "__main__":
    main()
