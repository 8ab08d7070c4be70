"""The time of a search's work (`max_work` of `emsco` and `exhaustive`) by features and classes; prints a table.

    python plugins/emsco/benchmarks/bench_work.py [--subsets 40]

Random subsets of 80 % of the features are fitted, on standard normal columns, by one thread. *Work* is the mean count
of a fit (`SubsetModels.work`), *rate* is work per CPU second, and the last two columns are the CPU seconds in which the
two methods reach their limits. The shapes are those of Spambase, Digits, Covertype, MNIST and Thyroid in the open
comparison. The oracle: one fit of each shape equals scikit-learn's, to 1e-6 in every probability.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.parameters import MAX_WORK
from bench_models.subsets.models import SubsetModels, stage_probabilities
from bench_models.subsets.sets import from_flags
from sklearn.linear_model import LogisticRegression

SHAPES = [(1500, 57, 2), (900, 64, 10), (1500, 54, 7), (1000, 336, 2), (1886, 20, 3)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subsets", type=int, default=40)
    count = parser.parse_args().subsets
    print("| rows | features | classes | ms a fit | work | rate | emsco, s | exhaustive, s |")
    print("|---|---|---|---|---|---|---|---|")
    for rows, features, classes in SHAPES:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(rows, features))
        score = X @ rng.normal(size=(features, classes)) / 3 + rng.gumbel(size=(rows, classes))
        y = score.argmax(axis=1)
        models = SubsetModels(X, y, classes)
        flags = rng.random((count, features)) < 0.8
        subsets = from_flags(flags)
        models.fit(subsets[:1], threads=1)  # compiles
        start = time.process_time()
        fits = models.fit(subsets, threads=1)
        seconds = time.process_time() - start
        work = float(models.work(fits.chosen).sum())
        columns = np.flatnonzero(flags[0])
        own = stage_probabilities(X[:, columns], fits.coefficients[0][:, np.concatenate([[0], columns + 1])])
        oracle = LogisticRegression(tol=1e-10, max_iter=10_000).fit(X[:, columns], y)
        if np.abs(own - oracle.predict_proba(X[:, columns])).max() > 1e-6:
            raise SystemExit(f"{rows} x {features}, {classes} classes: the fit is not scikit-learn's")
        rate = work / seconds
        print(
            f"| {rows} | {features} | {classes} | {seconds / count * 1e3:.2f} | {work / count:.2g} | {rate:.2g} | "
            f"{MAX_WORK / rate:.0f} | {Exhaustive().max_work / rate:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
