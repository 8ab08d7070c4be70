"""Time look-ups, index building and lattice search: ``python benchmarks/polydom_speed.py``.

Targets: a look-up ≤ 20 µs at 1,000 candidates, and 100 times as fast as the naive look-up at 10,000; an index of 4,096
candidates ≤ 60 s; a lattice search at d = 15 with a trivial learner ≤ 30 s, of which its own work ≤ 50 µs per set.
Every index is checked against a scan of all its candidates. As in the paper, the naive look-up is a loop over the
candidates in the language of the index; the table also shows the vectorised scan. Times of look-ups are those of the
fastest of several passes, all others are processor time, so that other work on the machine has little effect.
"""

from __future__ import annotations

import time

import numpy as np
from bench_polydom.best_first import best_first_search
from bench_polydom.candidates import Candidates, prune, set_curves
from bench_polydom.index import FullIndex, NaiveScan, PolyDomIndex, lookup_microseconds
from bench_polydom.lattice import expand_all, search
from bench_polydom.polynomials import AFFORDABLE
from bench_polydom.simulation import Draw, draw_features
from bench_polydom.sweep import presence_by_sweep

SIZES = np.linspace(1, 500, 40).tolist()


def scan(among: Candidates, size: float, budget: float) -> int:
    """The naive look-up as a loop."""
    best, found, price = -1.0, -1, 0.0
    limit = budget * AFFORDABLE
    for i, (curve, accuracy) in enumerate(zip(_lists(among), _values(among), strict=True)):
        cost = 0.0
        for coefficient in curve:
            cost = cost * size + coefficient
        if cost <= limit and (accuracy > best or (accuracy == best and cost < price)):
            best, found, price = accuracy, i, cost
    return found


_KEPT: dict[int, tuple[list[list[float]], list[float]]] = {}


def _lists(among: Candidates) -> list[list[float]]:
    return _KEPT.setdefault(id(among), (among.curves[:, ::-1].tolist(), among.accuracy.tolist()))[0]


def _values(among: Candidates) -> list[float]:
    return _KEPT[id(among)][1]


def tradeoff(count: int, seed: int = 0) -> Candidates:
    """Candidates most of which are on some skyline: expensive ones are more accurate, and curves cross often."""
    rng = np.random.default_rng(seed)
    accuracy = np.sort(rng.random(count))
    curves = rng.uniform(0.97, 1.03, (count, 3)) * accuracy[:, None] * [600.0, 6.0, 0.006]
    return Candidates(np.arange(count), accuracy, curves)


def lookups() -> None:
    print("candidates  kind        points   entries  skyline  index µs  loop µs  ratio  NumPy scan µs  ratio")
    for count in (100, 1_000, 10_000):
        for kind in ("random", "trade-off"):
            if kind == "random":
                rng = np.random.default_rng(count)
                among = Candidates(np.arange(count), rng.random(count), rng.uniform(0, [100, 1, 0.001], (count, 3)))
            else:
                among = tradeoff(count)
            index, naive = PolyDomIndex.build(among), NaiveScan(among)
            budgets = np.quantile(
                np.polynomial.polynomial.polyval(250.0, among.curves.T), [0.01, 0.1, 0.5, 0.9]
            ).tolist()
            for size in SIZES[::8]:
                for budget in budgets:
                    a, b, c = (index.lookup(size, budget), naive.lookup(size, budget), scan(among, size, budget))
                    assert a == b == c or among.accuracy[a] == among.accuracy[b] == among.accuracy[c]
            fast = lookup_microseconds(index, SIZES, budgets)
            vectorised = lookup_microseconds(naive, SIZES, budgets)
            start = time.process_time()
            for size in SIZES[::8]:
                scan(among, size, budgets[2])
            loop = (time.process_time() - start) / len(SIZES[::8]) * 1e6
            skyline = int(np.median(np.diff(index.offsets)))
            print(f"{count:10}  {kind:9} {index.points:8} {index.entries:9} {skyline:8} {fast:9.2f} {loop:8.0f} "
                  f"{loop / fast:6.0f} {vectorised:14.1f} {vectorised / fast:6.0f}")  # fmt: skip


def building() -> None:
    print("\nbuilding an index  candidates   points   entries  seconds")
    sets = np.arange(4096)
    draw = draw_features(12, "all", np.random.default_rng(1))
    every = expand_all(draw.accuracy, 12).candidates(draw.prices)
    cases = [("random", Candidates(sets, np.random.default_rng(0).random(4096),
                                   np.random.default_rng(1).uniform(0, [100, 1, 0.001], (4096, 3)))),
             ("all sets of 12", every), ("trade-off", tradeoff(4096))]  # fmt: skip
    for name, among in cases:
        start = time.process_time()
        index = PolyDomIndex.build(among)
        spent = time.process_time() - start
        print(f"{name + ', envelope':24} {len(among):5} {index.points:8} {index.entries:9} {spent:8.2f}")
    for name, among in (("sets of 12, pruned", prune(every)), ("trade-off", tradeoff(512))):
        start = time.process_time()
        _, swaps = presence_by_sweep(among)
        print(f"{name + ', sweep':24} {len(among):5} {swaps:8} crossings {time.process_time() - start:16.2f}")
    start = time.process_time()
    full = FullIndex(among)
    print(f"{'every crossing':24} {len(among):5} {full.points:8} {full.entries:9} {time.process_time() - start:8.2f}")


def lattice() -> None:
    print("\nlattice search, d = 15     expanded  seconds  µs a set")
    draw = draw_features(15, "all", np.random.default_rng(0))
    for name, combiner, alpha, covering in (
        ("f_1", "best", 0.0, "none"), ("f_1, covering", "best", 0.0, "both"), ("f_d", "all", 0.0, "none"),
        ("f_d, alpha 0.01", "all", 0.01, "none"), ("f_d, covering", "all", 0.01, "both"),
    ):  # fmt: skip
        ask = Draw(draw.prices, draw.single, combiner).accuracy  # type: ignore[arg-type]
        start = time.process_time()
        found = search(ask, 15, alpha, covering=covering)  # type: ignore[arg-type]
        spent = time.process_time() - start
        print(f"{name:26} {found.n_expanded:8} {spent:8.2f} {spent / found.n_expanded * 1e6:9.1f}")
        if covering == "none":
            start = time.process_time()
            found = best_first_search(ask, 15, alpha)
            spent = time.process_time() - start
            each = spent / found.n_expanded * 1e6
            print(f"{name + ', best first':26} {found.n_expanded:8} {spent:8.2f} {each:9.1f}")
    masks = np.arange(1 << 15)
    start = time.process_time()
    kept = prune(Candidates(masks, np.array(list(expand_all(Draw(draw.prices, draw.single, "all").accuracy, 15)
                                                  .accuracy.values())), set_curves(masks, draw.prices)))  # fmt: skip
    print(f"expand all and prune 2^15 sets: {len(kept)} candidates, {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    lookups()
    building()
    lattice()
