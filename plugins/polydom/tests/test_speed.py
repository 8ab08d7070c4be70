"""The bars of speed, with margins of at least ten in a quiet hour; `benchmarks/polydom_speed.py` prints the figures."""

from __future__ import annotations

import time

import numpy as np
import pytest
from bench_polydom.candidates import Candidates
from bench_polydom.index import PolyDomIndex, lookup_microseconds
from bench_polydom.lattice import search

pytestmark = pytest.mark.slow


def tradeoff(count: int) -> Candidates:
    """The dearer the better, and curves that cross often: most candidates are on some skyline."""
    rng = np.random.default_rng(0)
    accuracy = np.sort(rng.random(count))
    curves = rng.uniform(0.97, 1.03, (count, 3)) * accuracy[:, None] * [600.0, 6.0, 0.006]
    return Candidates(np.arange(count), accuracy, curves)


def loop(curves: list[list[float]], accuracy: list[float], size: float, budget: float) -> int:
    best, found = -1.0, -1
    for i, curve in enumerate(curves):
        cost = 0.0
        for coefficient in curve:
            cost = cost * size + coefficient
        if cost <= budget and accuracy[i] > best:
            best, found = accuracy[i], i
    return found


def test_a_look_up_takes_at_most_20_microseconds_at_1000_candidates() -> None:
    assert (
        lookup_microseconds(PolyDomIndex.build(tradeoff(1000)), [1.0, 99.0, 400.0], [100.0, 1e3, 3e3]) <= 20
    )


def test_a_look_up_is_100_times_faster_than_the_naive_one_at_10000_candidates() -> None:
    among = tradeoff(10_000)
    index = PolyDomIndex.build(among)
    curves, accuracy = among.curves[:, ::-1].tolist(), among.accuracy.tolist()
    seconds = []
    for size in (1.0, 99.0, 400.0):
        start = time.perf_counter()
        naive = loop(curves, accuracy, size, 1e3)
        seconds.append(time.perf_counter() - start)
        assert naive == index.lookup(size, 1e3)
    assert min(seconds) * 1e6 >= 100 * lookup_microseconds(index, [1.0, 99.0, 400.0], [1e3])


def test_an_index_of_4096_candidates_is_built_within_a_minute() -> None:
    start = time.perf_counter()
    PolyDomIndex.build(tradeoff(4096))
    assert time.perf_counter() - start <= 60


def test_a_lattice_of_15_features_is_searched_within_30_seconds_at_50_microseconds_a_set() -> None:
    start = time.perf_counter()
    found = search(lambda s: float(len(s)), 15)
    spent = time.perf_counter() - start
    assert found.n_expanded == 1 << 15
    assert spent <= 30
    assert spent / found.n_expanded <= 50e-6
