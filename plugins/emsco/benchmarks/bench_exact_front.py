"""The exact global Pareto front: Credit with at most 4 stages (254,152,083 chromosomes), and 18 features with 4.

Baselines: the paper's month on 32 cores, and this machine's scalar reference implementation on a small table, scaled by
the number of chromosomes. Oracles: the reference implementation gives the identical front (points and multiplicities)
on the small table; the large runs evaluate exactly the number of chromosomes of Equations 1 and 2; one thread and
several give the same result (Credit); sampled optimal chromosomes are re-evaluated.

    python bench_exact_front.py [--mirror DIR] [--threads N] [--skip-18]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_data import CREDIT_PRICES, credit, synthetic, table
from bench_emsco.exhaustive import GlobalFront, chromosome_count, exact_front, exact_front_reference
from bench_emsco.prices import SubsetPrices
from bench_emsco.subset_cache import SubsetCache

MONTH = 30 * 86400.0


def check_listed(front: GlobalFront, cache: SubsetCache, costs: np.ndarray) -> bool:
    """Whether listed chromosomes, evaluated one by one from the bit masks, are on the front."""
    good = True
    for chromosome in front.chromosomes(25):
        waiting = [(1 << min(64, cache.n_rows - 64 * w)) - 1 for w in range(cache.n_words)]
        decided = hits = total = 0
        for stage in range(int(chromosome.max()) + 1):
            mask = int((1 << np.flatnonzero(chromosome <= stage)).sum())
            for w in range(cache.n_words):
                leaving = waiting[w] & int(cache.confident[mask, w])
                decided += leaving.bit_count()
                hits += (leaving & int(cache.right[mask, w])).bit_count()
                total += leaving.bit_count() * int(costs[mask])
                waiting[w] &= ~leaving
        total += sum(word.bit_count() for word in waiting) * int(costs[-1])
        good &= bool(front.membership(decided, hits, total)[0])
    return good


def main() -> None:
    """Run the benchmark; raises SystemExit where an oracle disagrees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--skip-18", action="store_true")
    arguments = parser.parse_args()
    threads = arguments.threads

    X_train, y_train, X_valid, y_valid = synthetic(7, 5, 2)
    small = SubsetCache(X_train, y_train, X_valid, y_valid, 2, 0.75)
    small.fill_all()
    small_costs = SubsetPrices(range(1, 8), rows=small.n_rows).subset_cost_table()
    start = time.perf_counter()
    expected = exact_front_reference(small.confident, small.right, small_costs, small.n_rows, 4)
    per_chromosome = (time.perf_counter() - start) / chromosome_count(7, 4)
    front = exact_front(small.confident, small.right, small_costs, small.n_rows, 4, threads=threads)
    same = expected == [(*p, m) for p, m in zip(front.points, front.multiplicity.tolist(), strict=True)]

    data = credit(arguments.mirror)
    reference = per_chromosome * 254152083
    results = []
    for count in (threads, threads, 1):  # the first loads the compiled kernels
        start = time.perf_counter()
        cache = SubsetCache(*data, 2, 0.75, threads=count)
        cache.fill_all()
        costs = SubsetPrices(CREDIT_PRICES, rows=cache.n_rows).subset_cost_table()
        front = exact_front(cache.confident, cache.right, costs, cache.n_rows, 4, threads=count)
        results.append((time.perf_counter() - start, front))
    seconds, front = results[1]
    single, alone = results[2]
    same &= front.points == alone.points and bool((front.multiplicity == alone.multiplicity).all())
    same &= front.n_chromosomes == 254_152_083 and check_listed(front, cache, costs)
    rows = [
        ("exact front, models included", "seconds", "chromosomes per second, beside the baselines"),
        ("Credit k=4, the paper (a month on 32 cores)", f"{MONTH:.0f}", "98"),
        (
            "scalar reference implementation (n=7, k=4), scaled to Credit",
            f"{reference:.0f}",
            f"{1 / per_chromosome:.0f}",
        ),
        ("Credit k=4, 1 thread", f"{single:.2f}", f"{254152083 / single:.3g} ({MONTH / single:.2g}x the paper)"),
        (
            f"Credit k=4, {threads} threads",
            f"{seconds:.2f}",
            f"{254152083 / seconds:.3g} ({MONTH / seconds:.2g}x the paper, {reference / seconds:.2g}x the reference)",
        ),
    ]
    notes = [f"Credit: {front.n_points} points, {front.n_optimal} chromosomes on the front"]
    if not arguments.skip_18:
        start, busy = time.perf_counter(), time.process_time()
        cache = SubsetCache(*synthetic(18, 12, 2), 2, 0.75, threads=threads)
        cache.fill_all()
        costs = SubsetPrices([100 * (1 + f % 5) for f in range(18)], rows=cache.n_rows).subset_cost_table()
        fitted = time.perf_counter() - start
        front = exact_front(cache.confident, cache.right, costs, cache.n_rows, 4, threads=threads)
        seconds = time.perf_counter() - start
        busy = time.process_time() - busy
        total = chromosome_count(18, 4)
        same &= front.n_chromosomes == total
        rows.append(
            (f"18 features, k=4, {threads} threads", f"{seconds:.1f}", f"{total / seconds:.3g} ({busy:.0f} s of CPU)")
        )
        notes.append(
            f"18 features, {cache.n_rows} rows: {total} chromosomes, {fitted:.1f} s of it the 2**18 models;"
            f" {front.n_points} points, {front.n_optimal} chromosomes on the front"
        )
    table(rows)
    print("\n".join(notes))
    if not same:
        raise SystemExit("oracle mismatch")


if __name__ == "__main__":
    main()
