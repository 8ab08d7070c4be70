"""All subset regressions of Credit (2**14 - 1, 345 training rows) against scikit-learn, in one process.

Baseline: LogisticRegression(solver="newton-cholesky", tol=1e-10), a fit and a predict_proba per subset. By default it
is timed on a seeded random sample of 1024 subsets and scaled to all of them; --full runs every one. Oracle: on the
subsets the baseline ran, probabilities agree to 1e-8 and not one confident or right bit differs.

    python bench_subset_regressions.py [--mirror DIR] [--full] [--threads N]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_data import credit, table
from bench_emsco.subset_cache import SubsetCache
from bench_models.subsets.models import stage_probabilities
from bench_models.subsets.sets import pack_rows

THRESHOLD = 0.75


def main() -> None:
    """Run the benchmark; raises SystemExit where the oracle disagrees."""
    from sklearn.linear_model import LogisticRegression

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    X_train, y_train, X_valid, y_valid = credit(arguments.mirror)
    subsets = np.arange(1, 1 << X_train.shape[1])
    sample = subsets if arguments.full else np.random.default_rng(0).choice(subsets, size=1024, replace=False)

    def ours(threads: int) -> tuple[float, SubsetCache]:
        best = np.inf
        for _ in range(4):  # the first run compiles or loads the kernels
            start = time.perf_counter()
            cache = SubsetCache(X_train, y_train, X_valid, y_valid, 2, THRESHOLD, threads=threads)
            cache.fill_all()
            best = min(best, time.perf_counter() - start)
        return best, cache

    seconds, cache = ours(arguments.threads)
    single, _ = ours(1)
    spent, wrong, gap = 0.0, 0, 0.0
    for mask in sample.tolist():
        columns = cache.columns(mask)
        train, valid = X_train[:, columns], X_valid[:, columns]
        start = time.perf_counter()
        model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(train, y_train)
        expected = model.predict_proba(valid)
        spent += time.perf_counter() - start
        gap = max(gap, float(np.abs(stage_probabilities(valid, cache.coefficients(mask)) - expected).max()))
        confident = expected.max(axis=1) >= THRESHOLD
        right = confident & (expected.argmax(axis=1) == y_valid)
        wrong += bool((cache.confident[mask] != pack_rows(confident)[0]).any())
        wrong += bool((cache.right[mask] != pack_rows(right)[0]).any())
    baseline = spent * subsets.size / sample.size
    how = "every subset" if arguments.full else f"{sample.size} subsets, scaled"
    table(
        [
            (f"Credit, {subsets.size} subset regressions and their decisions", "seconds", "ratio"),
            (f"scikit-learn newton-cholesky, tol 1e-10 ({how})", f"{baseline:.2f}", "1"),
            ("subset cache, 1 thread", f"{single:.3f}", f"{baseline / single:.0f}x"),
            (f"subset cache, {arguments.threads} threads", f"{seconds:.3f}", f"{baseline / seconds:.0f}x"),
        ]
    )
    print(f"largest difference in a probability {gap:.1e}; subsets with a differing bit {wrong}")
    if wrong or gap > 1e-8 or cache.not_converged:
        raise SystemExit("oracle mismatch")


if __name__ == "__main__":
    main()
