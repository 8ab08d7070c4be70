"""Time of solving (IP), compared with HiGHS on the paper's LP, and of a path of λ on covertype; prints tables.

    python plugins/budgetprune/benchmarks/bench_solve.py [--no-highs] [--no-covertype] [--solver subgradient]

The first table: synthetic data (make_classification, 50 columns, 7 classes), unit prices; 20 trees × 2000 rows with
HiGHS for comparison, 40 × 15,000 without. HiGHS solves the relaxation of (IP) in the form of §3, and in flow form, our
smaller and easier formulation; the table has the ratio of its seconds to ours. The second: 40 trees on 36,603 rows of
covertype, pruned on 15,688 for λ = 0 and 12 more, deciding 58,101; the data from BUDGETBENCH_SHARED (`openml_cache/`),
or synthetic data of the same shape. Compilation is not timed.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from bench_budgetprune._build_kernels import entries as entries_of
from bench_budgetprune.instance import Instance, build
from bench_budgetprune.path import lambda_grid, solve_path
from bench_budgetprune.pruning import Kind
from bench_budgetprune.solve import Solver
from bench_budgetprune.spread import spread_path
from bench_models.forest import FlatForest, Units, price_units
from bench_models.forest.acquisition import first_tests
from bench_models.forest.grower import Growth, grow
from bench_models.forest.walk import decide
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import make_classification

from bench_core import Costs


@dataclass(frozen=True)
class Case:
    """A forest grown on twice as many rows as it is pruned on."""

    forest: FlatForest
    leaf: np.ndarray
    units: Units
    instance: Instance


def case_of(trees: int, rows: int, seed: int = 0) -> Case:
    """A forest on synthetic data, and its (IP)."""
    X, y = make_classification(
        3 * rows, 50, n_informative=12, n_classes=7, n_clusters_per_class=3, flip_y=0.05, random_state=seed
    )
    forest = grow(X[rows:], y[rows:], 7, np.arange(50), Growth(trees, "entropy"), seed=seed, threads=2)
    units, leaf = price_units(Costs(np.ones(50))), forest.route(X[:rows], 2)
    return Case(forest, leaf, units, build(forest, leaf, units))


def as_written(case: Case, lambda_: float) -> tuple[float, float]:
    """Seconds and optimum of HiGHS on the relaxation of (IP) with the variables and rows of §3.

    Variables: z of every node, w of every (row, feature, tree), w of every (row, feature). Constraints: Σ z = 1 on the
    path to every leaf, w + Σ z = 1 on the path to every first test of a feature, w of a tree ≤ w.
    """
    forest, rows = case.forest, len(case.leaf)
    own, group = first_tests(forest, case.units.own), first_tests(forest, case.units.group)
    starts, first, _, _ = entries_of(np.ascontiguousarray(case.leaf), forest.parent, own, group, case.units.count)
    pairs, entries, nodes = len(starts) - 1, len(first), forest.nodes
    pair_of = np.repeat(np.arange(pairs), np.diff(starts))
    ways = []
    for node, above in enumerate(forest.parent):
        ways.append(np.append(ways[above], node) if above >= 0 else np.array([node]))
    ends = np.concatenate([np.flatnonzero(forest.left < 0), first])
    lengths = np.array([len(ways[node]) for node in ends])
    row = np.repeat(np.arange(len(ends)), lengths)
    column = np.concatenate([ways[node] for node in ends])
    e = np.arange(entries)
    row = np.concatenate([row, len(ends) - entries + e])
    column = np.concatenate([column, nodes + e])
    shape = (len(ends), nodes + entries + pairs)
    prunings = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=shape)
    signs = np.concatenate([np.ones(entries), -np.ones(entries)])
    usage = sparse.csr_matrix(
        (signs, (np.tile(e, 2), np.concatenate([nodes + e, nodes + entries + pair_of]))), shape=(entries, shape[1])
    )
    price = np.concatenate([forest.error, np.zeros(entries), np.full(pairs, lambda_ / rows)])
    start = time.perf_counter()
    answer = linprog(price, usage, np.zeros(entries), prunings, np.ones(len(ends)), bounds=(0.0, 1.0), method="highs")
    return time.perf_counter() - start, float(answer.fun)


def in_flow_form(instance: Instance, lambda_: float) -> tuple[float, float]:
    """Seconds and optimum of HiGHS on the same relaxation in flow form."""
    # u[h] = 1 when h or a node above it is a leaf, so z[h] = u[h] − u[parent]: every row has two or three entries.
    nodes, pairs = instance.nodes, instance.pairs
    inner, parent = instance.left >= 0, instance.parent
    price_z = instance.error + lambda_ * instance.steps
    price = np.zeros(nodes + pairs)
    price[:nodes] = price_z
    np.subtract.at(price, parent[parent >= 0], price_z[parent >= 0])
    price[:nodes][inner] -= lambda_ * instance.toll[inner]  # w of a single entry is 1 − u
    constant = lambda_ * instance.toll[inner].sum()
    price[nodes:] = lambda_ * instance.price
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


def covertype(seed: int = 0) -> tuple[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Training, validation and test part in the paper's sizes, and their source."""
    sizes = (36603, 15688, 58101)
    shared = os.environ.get("BUDGETBENCH_SHARED", "")
    path = Path(shared, "openml_cache/org/openml/www/datasets/1596/dataset_1596.pq")
    if shared and path.exists():
        import pandas as pd

        table = pd.read_parquet(path)
        rows = np.random.default_rng(seed).permutation(len(table))[: sum(sizes)]
        y = table.iloc[rows, -1].astype("category").cat.codes.to_numpy(np.int64)
        X, name = table.iloc[rows, :-1].astype(float).to_numpy(), "covertype"
    else:
        name = "synthetic"
        X, y = make_classification(
            sum(sizes), 54, n_informative=14, n_classes=7, n_clusters_per_class=4, random_state=seed
        )
    ends = np.cumsum(sizes)[:-1]
    return name, list(zip(np.split(X, ends), np.split(y, ends), strict=True))


def end_to_end(kind: Kind) -> None:
    """Time growing, pruning along the path, and deciding."""
    name, ((X, y), (V, _), (T, _)) = covertype()
    marks = [time.perf_counter()]
    forest = grow(X, y, 7, np.arange(54), Growth(40, "entropy"), seed=0, threads=2)
    marks.append(time.perf_counter())
    instance = build(forest, forest.route(V, 2), price_units(Costs(np.ones(54))))
    marks.append(time.perf_counter())
    cpu = time.process_time()
    path = spread_path(instance, forest.inner, 12, 1e-4, 600, 2, kind)
    cpu = time.process_time() - cpu
    marks.append(time.perf_counter())
    slowest, slowest_cpu = 0.0, 0.0
    for one in path:
        pruned = forest.pruned(one.opened)
        start, start_cpu = time.perf_counter(), time.process_time()
        decide(pruned.walked[0], T, 54, 2)
        slowest = max(slowest, time.perf_counter() - start)
        slowest_cpu = max(slowest_cpu, time.process_time() - start_cpu)
    grown, built, solved = np.diff(marks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{name}, 40 trees: grown in {grown:.1f} s; {instance.entries} entries laid out in {built:.1f} s; "
        f"λ = 0 and 12 more, {len(path)} prunings, in {solved:.1f} s (CPU {cpu:.1f} s), "
        f"largest gap {max(one.gap for one in path):.1e}; "
        f"{len(T)} rows decided in {slowest:.2f} s (CPU {slowest_cpu:.2f} s) at most; peak memory {peak:.2f} GiB"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--no-highs", action="store_true")
    arguments.add_argument("--no-covertype", action="store_true")
    arguments.add_argument("--solver", choices=get_args(Kind), default="flow")
    arguments.add_argument("--trees", type=int, default=40)
    arguments.add_argument("--rows", type=int, default=15000)
    asked = arguments.parse_args()
    warm = case_of(3, 200)
    unpruned = warm.forest.inner
    lambdas = [0.0, *lambda_grid(warm.instance, unpruned, 3, 0.2, 1.0)]
    solve_path(warm.instance, unpruned, lambdas, 1e-9, 600, 2, asked.solver)
    print("trees  rows   entries    λ/λ0   iterations  gap       seconds  CPU     HiGHS on (IP)    in flow form")
    for trees, rows, beside in ((20, 2000, not asked.no_highs), (asked.trees, asked.rows, False)):
        case = case_of(trees, rows)
        instance, unpruned = case.instance, case.forest.inner
        spent = []
        for share in (0.1, 0.3, 0.6, 1.0):
            lambda_ = lambda_grid(instance, unpruned, 1, share, share)[0]
            start, cpu = time.perf_counter(), time.process_time()
            found = Solver(instance, 2, asked.solver).solve(lambda_, 1e-4, 600)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            spent.append(cpu)
            said = ""
            for slow, optimum in (as_written(case, lambda_), in_flow_form(instance, lambda_)) if beside else ():
                if abs(found.objective - optimum) > 1e-4 * optimum + 1e-9:
                    raise SystemExit(f"HiGHS finds {optimum}, the solver {found.objective}")
                said += f"{slow:8.1f} {slow / seconds:6.0f}x"
            print(
                f"{trees:5d} {rows:6d} {instance.entries:9d} {share:7.1f} {found.iterations:10d}   "
                f"{found.gap:.1e} {seconds:8.2f} {cpu:7.2f} {said}",
                flush=True,
            )
        print(f"the slowest λ takes {max(spent) / np.median(spent):.1f} times the median's CPU seconds", flush=True)
    if not asked.no_covertype:
        end_to_end(asked.solver)


if __name__ == "__main__":
    main()
