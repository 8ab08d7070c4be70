"""Time the optimisation of QWYC's order and thresholds: Adult with T = 500, N = 32,561; and growth with T and N.

    python bench_optimise.py [--threads 2] [--quick] [--growth PLOT.svg]

- *Adult* is read from $BUDGETBENCH_SHARED (skipped when that is not set): scikit-learn's histogram boosting, 500
  trees of depth 5, learning rate 0.1, on UCI's own training part.
- *baseline*, on the same scores: the same algorithm with an argsort of every candidate's sums at every position.
  Twenty sorts are timed and scaled to all of them, by the number of sums (over positions: candidates × active
  examples) in the optimised run. Only sorting counts.
- *oracle*: the NumPy reference implementation must find the same order, thresholds and exits, bit for bit, on a part
  of the rows and trees; disagreement and exits of the full run are recounted from its thresholds.
- *--quick*: float64 only, without the reference implementation: half a minute.
- *growth*: time against T and against N on random scores, with the exponents.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_qwyc.optimise import Stopping, optimise
from bench_qwyc.reference import optimise_plainly


def adult(shared: Path) -> tuple[Any, Any]:
    """Training rows of Adult, numbers standardised, and classes."""
    from bench_public_data.named import Adult

    from bench_core import DataContext, fit_encoder

    with tempfile.TemporaryDirectory() as cache:
        data = Adult().load(DataContext(Path(cache), mirror=shared, offline=True))
    assert data.split is not None
    rows = np.flatnonzero(data.split == 0)
    return fit_encoder(data, rows, "ordinal").transform(data.values[rows]), data.target[rows]


def base_scores(X: Any, y: Any, trees: int) -> tuple[Any, float]:
    """Base scores (T, N) of a boosted ensemble, and its bias."""
    from bench_qwyc.adapters import adapt
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=trees, max_depth=5, max_leaf_nodes=None, early_stopping=False, random_state=0
    )
    with threadpool_limits(limits=1):
        model.fit(X, y)
    ensemble = adapt(model, X, np.arange(X.shape[1]), n_features=X.shape[1], n_classes=2)
    return ensemble.scores(X), float(ensemble.bias[0])


def sums_of(found: Stopping) -> float:
    """Sums of candidates on active examples, over all positions."""
    models = len(found.exits)
    active = found.examples - np.concatenate([[0], np.cumsum(found.exits)])[:models]
    return float(((models - np.arange(models)) * active)[:-1].sum())


def baseline_seconds(scores: Any, sums: float) -> float:
    """CPU seconds of an argsort per candidate and position, scaled from a sample."""
    spent, sorted_sums = 0.0, 0
    for row in scores[:20]:
        start = time.process_time()
        np.argsort(row)
        spent += time.process_time() - start
        sorted_sums += len(row)
    return spent / sorted_sums * sums


def recount(scores: Any, found: Stopping, bias: float) -> None:
    """Follow the thresholds over all rows and compare exits and errors."""
    g, full = np.full(scores.shape[1], bias), np.full(scores.shape[1], bias)
    for row in scores:
        full += row
    waiting, errors = np.ones(len(g), dtype=bool), 0
    for r, model in enumerate(found.order[:-1]):
        g += scores[model]
        stops = waiting & ((g < found.low[r]) | (g > found.high[r]))
        errors += int(((g > found.high[r]) != (full >= 0))[stops].sum())
        assert stops.sum() == found.exits[r]
        waiting &= ~stops
    assert errors == found.errors


def timed(*arguments: Any, **options: Any) -> tuple[float, float, Stopping]:
    """Seconds of the fastest of three runs, CPU seconds of the cheapest, and the result."""
    best, cheapest = np.inf, np.inf
    for _ in range(3):
        start, cpu = time.perf_counter(), time.process_time()
        found = optimise(*arguments, **options)
        best = min(best, time.perf_counter() - start)
        cheapest = min(cheapest, time.process_time() - cpu)
    return best, cheapest, found


def oracle(scores: Any, bias: float) -> None:
    """Compare with the reference implementation on a part."""
    part = np.ascontiguousarray(scores[:60, :3000])
    one, two = optimise(part, 0.005, bias=bias), optimise_plainly(part, 0.005, bias=bias)
    for name in ("order", "low", "high", "exits"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    print("oracle: the NumPy reference implementation agrees bit for bit; exits and errors recounted")


def growth(path: str, threads: int) -> None:
    """Measure time against T and N on random scores; print the exponents and save a plot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    signal = rng.normal(size=32_000)
    scores = 0.05 * signal + 0.3 * rng.normal(size=(400, 32_000))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
    cases = {"T": [(t, 8_000) for t in (50, 100, 200, 400)], "N": [(100, n) for n in (4_000, 8_000, 16_000, 32_000)]}
    for axis, (name, sizes) in zip(axes, cases.items(), strict=True):
        seconds = [timed(np.ascontiguousarray(scores[:t, :n]), 0.005, threads=threads)[0] for t, n in sizes]
        x = [t if name == "T" else n for t, n in sizes]
        slope = np.polyfit(np.log(x), np.log(seconds), 1)[0]
        axis.loglog(x, seconds, "o-")
        axis.set_xticks(x, [f"{one:,}" for one in x])
        axis.set_xticks([], minor=True)
        axis.set_xlabel(name)
        axis.set_ylabel("seconds")
        axis.set_title(f"time ~ {name}^{slope:.2f}")
        print(f"time ~ {name}^{slope:.2f}   " + "  ".join(f"{a}: {s:.3f} s" for a, s in zip(x, seconds, strict=True)))
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="float64 only, without the reference implementation")
    parser.add_argument("--growth", help="plot of time against T and N")
    options = parser.parse_args()
    optimise(np.random.default_rng(0).normal(size=(4, 50)), 0.1)  # compile
    if "BUDGETBENCH_SHARED" in os.environ:
        X, y = adult(Path(os.environ["BUDGETBENCH_SHARED"]))
        scores, bias = base_scores(X, y, 500)
        print(f"Adult: T = {len(scores)}, N = {scores.shape[1]}, {options.threads} threads")
        print("| scores | alpha | seconds | CPU | argsorts | ratio | of CPU | mean | GBT order |")
        print("|---|---|---|---|---|---|---|---|---|")
        for dtype in (np.float64,) if options.quick else (np.float64, np.float32):
            typed = scores.astype(dtype)
            for alpha in (0.005, 0.0):
                seconds, cpu, found = timed(typed, alpha, bias=bias, threads=options.threads)
                slow = baseline_seconds(typed, sums_of(found))
                given = optimise(typed, alpha, bias=bias, order=np.arange(len(typed)))
                times = f"{seconds:.2f} | {cpu:.2f} | {slow:.1f} | {slow / seconds:.0f}x | {slow / cpu:.0f}x"
                means = f"{found.mean_models:.1f} | {given.mean_models:.1f}"
                print(f"| {np.dtype(dtype)} | {alpha:.1%} | {times} | {means} |")
                if dtype is np.float64:
                    recount(typed, found, bias)
        if not options.quick:
            oracle(scores, bias)
    else:
        print("BUDGETBENCH_SHARED is not set: Adult is left out")
    if options.growth:
        growth(options.growth, options.threads)


if __name__ == "__main__":
    main()
