"""Random forests without data, and two exact solvers of (IP) that share no code with the tested one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from bench_budgetprune.instance import Instance, build
from bench_models.forest import FlatForest, price_units
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import maximum_flow

from bench_core import Costs


def _forest(rng: np.random.Generator, trees: int, features: int, depth: int) -> FlatForest:
    offsets, column, left, right, counts = [0], [], [], [], []

    def node(level: int, own: np.ndarray) -> int:
        me = len(column)
        column.append(-1)
        left.append(-1)
        right.append(-1)
        counts.append(own)
        part = rng.integers(0, own + 1)
        if level < depth and 0 < part.sum() < own.sum() and rng.random() < 0.85:
            column[me] = int(rng.integers(features))
            left[me] = node(level + 1, part)
            right[me] = node(level + 1, own - part)
        return me

    for _ in range(trees):
        node(0, rng.integers(1, 40, 2))
        offsets.append(len(column))
    nodes = len(column)
    return FlatForest(
        np.array(offsets), np.array(column, np.int32), np.zeros(nodes), np.array(left, np.int32),
        np.array(right, np.int32), np.zeros(nodes, bool), np.array(counts, float), np.arange(features),
    )  # fmt: skip


def _made(seed: int) -> tuple[FlatForest, Instance]:
    """A forest and (IP) on it: random trees, leaves of rows, prices (some zero), groups, price of a test."""
    rng = np.random.default_rng(seed)
    forest = _forest(rng, int(rng.integers(1, 7)), int(rng.integers(1, 7)), int(rng.integers(0, 6)))
    features = len(forest.feature_of_column)
    prices = rng.integers(0, 4, features).astype(float)
    costs = Costs(prices)
    if rng.random() < 0.5:
        costs = Costs(prices, rng.integers(-1, 2, features), rng.integers(0, 4, 2).astype(float))
    leaf = np.zeros((int(rng.integers(1, 25)), forest.trees), dtype=np.int32)
    for i in range(len(leaf)):
        for t in range(forest.trees):
            h = forest.offsets[t]
            while forest.left[h] >= 0:
                h = forest.left[h] if rng.random() < 0.5 else forest.right[h]
            leaf[i, t] = h
    return forest, build(forest, leaf, price_units(costs), 0.05 if rng.random() < 0.3 else 0.0)


def _needs(instance: Instance) -> list[tuple[float, list[int]]]:
    """Price and nodes of everything that is paid once: pairs, and units that only one node requires."""
    spans = zip(instance.pair_start[:-1], instance.pair_start[1:], instance.price, strict=True)
    shared = [(float(price), instance.entry_node[a:b].tolist()) for a, b, price in spans]
    return shared + [(float(instance.toll[h]), [int(h)]) for h in np.flatnonzero(instance.toll > 0)]


@lru_cache(maxsize=1)
def _conditions(instance: Instance) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix]:
    """The relaxation's conditions: −w − Σ z on the path ≤ −1 per need and node, Σ z = 1 on the path to every leaf."""
    needs, nodes = _needs(instance), instance.nodes
    on_way = np.zeros((nodes, nodes))  # [h, k]: k is on the path to h, or h itself; parents come first
    for h in range(nodes):
        if instance.parent[h] >= 0:
            on_way[h] = on_way[instance.parent[h]]
        on_way[h, h] = 1
    due = [(h, p) for p, (_, at) in enumerate(needs) for h in at]
    pays = np.zeros((max(len(due), 1), nodes + len(needs)))
    for row, (h, p) in enumerate(due):
        pays[row, :nodes], pays[row, nodes + p] = -on_way[h], -1
    one_leaf = np.hstack([on_way[instance.left < 0], np.zeros(((instance.left < 0).sum(), len(needs)))])
    return sparse.csr_matrix(pays), np.where(pays.any(axis=1), -1.0, 0.0), sparse.csr_matrix(one_leaf)


def _relaxation(instance: Instance, lambda_: float) -> tuple[float, np.ndarray]:
    """Optimum and z of the LP relaxation of (IP), by HiGHS's simplex."""
    pays, right, one_leaf = _conditions(instance)
    prices = np.concatenate(
        [instance.error + lambda_ * instance.steps, [lambda_ * price for price, _ in _needs(instance)]]
    )
    answer = linprog(prices, pays, right, one_leaf, np.ones(one_leaf.shape[0]), (0, 1), method="highs-ds")
    assert answer.status == 0
    return float(answer.fun), answer.x[: instance.nodes]


SCALE = 2.0e8


def _min_cut(instance: Instance, lambda_: float) -> float:
    """Optimum of (IP) as a minimum cut: a closure of tests under "needs its parent" and "needs paying".

    Capacities are integers, so the error is less than 1 / `SCALE` per node and need.
    """
    needs, nodes = _needs(instance), instance.nodes
    leaf_price = instance.error + lambda_ * instance.steps
    inner = np.flatnonzero(instance.left >= 0)
    source, sink = nodes + len(needs), nodes + len(needs) + 1
    edges: dict[tuple[int, int], int] = {}
    endless = 2**31 - 1
    base = float(leaf_price[instance.roots].sum())
    gains = 0
    for h in inner:
        gain = leaf_price[h] - leaf_price[instance.left[h]] - leaf_price[instance.right[h]]
        scaled = round(float(gain) * SCALE)
        gains += max(scaled, 0)
        edges[(source, int(h)) if scaled > 0 else (int(h), sink)] = abs(scaled)
        if instance.parent[h] >= 0:
            edges[int(h), int(instance.parent[h])] = endless
    for p, (price, at) in enumerate(needs):
        edges[nodes + p, sink] = round(lambda_ * price * SCALE)
        for h in at:
            edges[h, nodes + p] = endless
    table = sparse.csr_matrix(
        (list(edges.values()), tuple(zip(*edges, strict=True)) if edges else ([], [])),
        shape=(sink + 1, sink + 1), dtype=np.int32,
    )  # fmt: skip
    return base - (gains - maximum_flow(table, source, sink).flow_value) / SCALE


@pytest.fixture(scope="session")
def made() -> Callable[[int], tuple[FlatForest, Instance]]:
    return _made


@pytest.fixture(scope="session")
def relaxation() -> Callable[[Instance, float], tuple[float, np.ndarray]]:
    return _relaxation


@pytest.fixture(scope="session")
def min_cut() -> Callable[[Instance, float], float]:
    return _min_cut
