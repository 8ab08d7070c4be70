"""Compare time and accuracy of the path solver with scikit-learn's saga: ``python benchmarks/path.py``.

The data have 500 rows and 30 features, either standardised or each in a unit of its own. saga solves for the same λ,
warm-started, until tolerance 1e-8 or 5,000 passes. Accuracy is the largest violation of the KKT conditions, in units
of each column's root mean square. ``supports`` counts the features that only one of the two solvers uses, summed
over the path.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from bench_lasso.logistic import L1Logistic
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression


def violation(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    penalty: float,
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
) -> float:
    """Largest violation of the KKT conditions of the coefficients."""
    scores = X @ coef.T + intercept
    if len(coef) == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    error = shares / shares.sum(axis=1, keepdims=True) - np.eye(scores.shape[1])[y]
    slope = (error[:, 1:] if len(coef) == 1 else error).T @ X / len(X)
    off = np.maximum(np.abs(slope) - penalty, 0)
    broken = np.where(coef == 0, off, np.abs(slope + penalty * np.sign(coef)))
    return float((broken / np.sqrt(np.mean(np.square(X), axis=0))).max())


def main() -> None:
    """Print the table."""
    print("classes  columns         λ  seconds      KKT  saga seconds  saga KKT  supports")
    for n_classes in (2, 3):
        X, y = make_classification(500, 30, n_informative=25, n_redundant=0, n_classes=n_classes, random_state=0)
        standard = (X - X.mean(axis=0)) / X.std(axis=0)
        units = 10 ** np.random.default_rng(0).uniform(-1, 2, 30)
        for name, table in (("standardised", standard), ("own units", (X + 3) * units)):
            learner = L1Logistic(table, y, n_classes)
            list(learner.path([learner.penalty_max / 2]))
            grid = (learner.penalty_max * np.geomspace(1, 1e-3, 17)[1:]).tolist()
            start = time.perf_counter()
            points = list(learner.path(grid))
            seconds = time.perf_counter() - start
            saga = LogisticRegression(
                solver="saga", l1_ratio=1.0, tol=1e-8, max_iter=5_000, warm_start=True, random_state=0
            )
            found = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                for penalty in grid:
                    saga.set_params(C=1 / (500 * penalty)).fit(table, y)
                    found.append((saga.coef_.copy(), saga.intercept_.copy()))
                theirs = time.perf_counter() - start
            ours = max(violation(table, y, p.penalty, p.coef, p.intercept) for p in points)
            worst = max(violation(table, y, p, *one) for p, one in zip(grid, found, strict=True))
            differ = sum(
                int((p.coef.any(axis=0) != coef.any(axis=0)).sum()) for p, (coef, _) in zip(points, found, strict=True)
            )
            print(
                f"{n_classes:7}  {name:12}  {len(grid):2}  {seconds:7.4f}  {ours:7.0e}  {theirs:12.3f}"
                f"  {worst:8.0e}  {differ:8}"
            )


if __name__ == "__main__":
    main()
