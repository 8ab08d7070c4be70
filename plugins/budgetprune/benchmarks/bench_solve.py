"""Seconds to solve (IP), beside HiGHS on the paper's LP; prints a table.

    python plugins/budgetprune/benchmarks/bench_solve.py [--no-highs] [--trees 40] [--rows 15000]

Made-up data (make_classification, 50 columns, 7 classes), unit prices, JIT time apart.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_budgetprune.instance import Instance, build
from bench_budgetprune.path import lambda_grid
from bench_budgetprune.solve import Solver
from bench_forest import price_units
from bench_forest.grower import grow
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import make_classification

from bench_core.costs import Costs


def instance_of(trees: int, rows: int, seed: int = 0) -> tuple[Instance, np.ndarray]:
    """(IP) of a forest grown on twice as many rows as it is pruned on."""
    X, y = make_classification(
        3 * rows, 50, n_informative=12, n_classes=7, n_clusters_per_class=3, flip_y=0.05, random_state=seed
    )
    forest = grow(X[rows:], y[rows:], 7, np.arange(50), trees, "entropy", seed=seed, threads=2)
    units = price_units(Costs(np.ones(50)))
    return build(forest, forest.route(X[:rows], 2), units), forest.inner


def highs(instance: Instance, lam: float) -> tuple[float, float]:
    """Seconds and optimum of HiGHS on the LP relaxation; ways are summed in flow form, to keep it sparse."""
    # u[h] = 1 when h or a node above it is a leaf, so z[h] = u[h] − u[parent]: every row has two or three entries.
    nodes, pairs = instance.nodes, instance.pairs
    inner, parent = instance.left >= 0, instance.parent
    price_z = instance.error + lam * instance.steps
    price = np.zeros(nodes + pairs)
    price[:nodes] = price_z
    np.subtract.at(price, parent[parent >= 0], price_z[parent >= 0])
    price[:nodes][inner] -= lam * instance.toll[inner]  # w of a lone entry is 1 − u
    constant = lam * instance.toll[inner].sum()
    price[nodes:] = lam * instance.price
    below = np.flatnonzero(parent >= 0)
    k = np.arange(len(below))
    order = sparse.csr_matrix(
        (np.r_[np.ones(len(k)), -np.ones(len(k))], (np.r_[k, k], np.r_[parent[below], below])),
        shape=(len(k), nodes + pairs),
    )
    e = np.arange(instance.entries)
    pays = sparse.csr_matrix(
        (-np.ones(2 * len(e)), (np.r_[e, e], np.r_[instance.entry_node, nodes + instance.entry_pair])),
        shape=(len(e), nodes + pairs),
    )
    right = np.r_[np.zeros(len(k)), -np.ones(len(e))]
    bounds = [(0.0 if i else 1.0, 1.0) for i in inner] + [(0.0, 1.0)] * pairs
    start = time.perf_counter()
    answer = linprog(price, sparse.vstack([order, pays]).tocsr(), right, bounds=bounds, method="highs")
    return time.perf_counter() - start, float(answer.fun + constant)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--no-highs", action="store_true")
    arguments.add_argument("--trees", type=int, default=40)
    arguments.add_argument("--rows", type=int, default=15000)
    asked = arguments.parse_args()
    warm, whole = instance_of(3, 200)
    Solver(warm).solve(lambda_grid(warm, whole, 1, 0.5, 0.5)[0])
    print("trees  rows   entries    λ/λ0   iterations  gap       seconds  CPU     HiGHS    ratio")
    for trees, rows, beside in ((20, 2000, not asked.no_highs), (asked.trees, asked.rows, False)):
        instance, whole = instance_of(trees, rows)
        for share in (0.1, 0.3, 0.6, 1.0):
            lam = lambda_grid(instance, whole, 1, share, share)[0]
            start, cpu = time.perf_counter(), time.process_time()
            found = Solver(instance, 2).solve(lam, 1e-4, 600)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            said = ""
            if beside:
                slow, optimum = highs(instance, lam)
                if abs(found.objective - optimum) > 1e-4 * optimum + 1e-9:
                    raise SystemExit(f"HiGHS finds {optimum}, the solver {found.objective}")
                said = f"{slow:8.1f} {slow / seconds:7.0f}x"
            print(
                f"{trees:5d} {rows:6d} {instance.entries:9d} {share:7.1f} {found.iterations:10d}   "
                f"{found.gap:.1e} {seconds:8.2f} {cpu:7.2f} {said}",
                flush=True,
            )


if __name__ == "__main__":
    main()
