"""How long a path takes, and how far from optimal it ends: ``python benchmarks/path.py``.

Each line is one grid on 500 rows × 30 features: λ solved, seconds, the largest KKT violation (the oracle), and
the seconds that scikit-learn's saga takes for five of the same λ at tolerance 1e-6, with its own violation.
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
    shares: NDArray[np.float64],
) -> float:
    """Largest violation of the KKT conditions of the coefficients."""
    error = shares - np.eye(shares.shape[1])[y]
    slope = (error[:, 1:] if len(coef) == 1 else error).T @ X / len(X)
    off = np.maximum(np.abs(slope) - penalty, 0)
    return float(np.where(coef == 0, off, np.abs(slope + penalty * np.sign(coef))).max())


def main() -> None:
    """Print the table."""
    print("classes  grid            λ  seconds      KKT   saga, 5 λ  its KKT")
    for n_classes in (2, 3):
        X, y = make_classification(
            500, 30, n_informative=25, n_redundant=0, n_classes=n_classes, random_state=0
        )
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        learner = L1Logistic(X, y, n_classes)
        list(learner.path([learner.penalty_max / 2]))
        for name, unit in (("mean", 1.0), ("sum", 500.0)):
            grid = [i / 10 / unit for i in range(1000, 0, -1) if i / 10 / unit < learner.penalty_max]
            start = time.perf_counter()
            points = list(learner.path(grid))
            seconds = time.perf_counter() - start
            some = grid[:: max(1, len(grid) // 5)][:5]
            start = time.perf_counter()
            worst = 0.0
            for penalty in some:
                saga = LogisticRegression(
                    C=1 / (500 * penalty),
                    l1_ratio=1.0,
                    solver="saga",
                    tol=1e-6,
                    max_iter=10_000,
                    random_state=0,
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    saga.fit(X, y)
                worst = max(worst, violation(X, y, penalty, saga.coef_, saga.predict_proba(X)))
            theirs = time.perf_counter() - start
            ours = max(point.residual for point in points)
            print(
                f"{n_classes:7}  {name:4}  {len(grid):11}  {seconds:7.4f}  {ours:7.0e}  {theirs:10.3f}  {worst:7.0e}"
            )


if __name__ == "__main__":
    main()
