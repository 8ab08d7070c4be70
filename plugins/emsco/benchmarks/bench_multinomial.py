"""Multinomial subset regressions as EMSCO meets them on Synthetic30: 30 features, 500 training rows, 3 classes.

Baseline: LogisticRegression(solver="newton-cg", tol=1e-10) on a sample of the same random subsets (about 15 features
each). Oracle: probabilities on the validation rows agree to 1e-7 with scikit-learn.

    python bench_multinomial.py [--subsets M] [--sample S] [--threads N]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_data import synthetic, table
from bench_emsco.subset_cache import SubsetCache
from bench_models.subsets.models import stage_probabilities


def main() -> None:
    """Run the benchmark; raises SystemExit where the oracle disagrees."""
    from sklearn.linear_model import LogisticRegression

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subsets", type=int, default=20000)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    X_train, y_train, X_valid, y_valid = synthetic(30, 25, 3)
    masks = np.unique(np.random.default_rng(0).integers(1, 1 << 30, size=arguments.subsets)).astype(np.uint64)

    def ours(threads: int) -> tuple[float, SubsetCache]:
        best = np.inf
        for _ in range(2):
            cache = SubsetCache(X_train, y_train, X_valid, y_valid, 3, 0.65, threads=threads)
            cache.indices(masks[:1])  # compile or load
            start = time.perf_counter()
            cache.indices(masks)
            best = min(best, time.perf_counter() - start)
        return best / masks.size, cache

    single, cache = ours(1)
    several, _ = ours(arguments.threads)
    spent, gap = 0.0, 0.0
    sample = masks[:: max(1, masks.size // arguments.sample)].tolist()
    for mask in sample:
        columns = cache.columns(mask)
        train, valid = X_train[:, columns], X_valid[:, columns]
        probabilities = stage_probabilities(valid, cache.coefficients(mask))
        start = time.perf_counter()
        model = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=10000).fit(train, y_train)
        spent += time.perf_counter() - start
        gap = max(gap, float(np.abs(probabilities - model.predict_proba(valid)).max()))
    baseline = spent / len(sample)
    table(
        [
            (f"Synthetic30, {masks.size} random subsets", "us per subset", "ratio"),
            (f"scikit-learn newton-cg, tol 1e-10 ({len(sample)} of them, fit alone)", f"{baseline * 1e6:.0f}", "1"),
            ("subset cache, 1 thread", f"{single * 1e6:.0f}", f"{baseline / single:.0f}x"),
            (f"subset cache, {arguments.threads} threads", f"{several * 1e6:.0f}", f"{baseline / several:.0f}x"),
        ]
    )
    print(f"largest difference in a probability: {gap:.1e}")
    if gap > 1e-7 or cache.not_converged:
        raise SystemExit("oracle mismatch")


if __name__ == "__main__":
    main()
