"""Data of the benchmarks: Credit from the mirror directory, Synthetic30 from its recipe."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

VARIABLE = "BUDGETBENCH_SHARED"
CREDIT_PRICES = [10**c for c in (2, 2, 2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2)]


def thirds(X: np.ndarray, y: np.ndarray, numeric: list[int], seed: int) -> tuple[np.ndarray, ...]:
    """X_train, y_train, X_valid, y_valid of the 50-25-25 split, numeric columns standardised on the training part."""
    from sklearn.model_selection import train_test_split

    X_train, rest, y_train, y_rest = train_test_split(X, y, train_size=0.5, stratify=y, random_state=seed)
    X_valid, _, y_valid, _ = train_test_split(rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed)
    centre, spread = np.zeros(X.shape[1]), np.ones(X.shape[1])
    centre[numeric] = X_train[:, numeric].mean(axis=0)
    spread[numeric] = X_train[:, numeric].std(axis=0)
    return (X_train - centre) / spread, y_train, (X_valid - centre) / spread, y_valid


def credit(mirror: str | None, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Credit (UCI 143), split and preprocessed; raises SystemExit when it is not in the mirror."""
    root = mirror or os.environ.get(VARIABLE)
    for name in ("uci/143/australian.dat", "files/uci/143/australian.dat"):
        if root and (Path(root) / name).exists():
            data = np.loadtxt(Path(root) / name)
            return thirds(data[:, :-1], data[:, -1].astype(int), [1, 2, 6, 9, 12, 13], seed)
    raise SystemExit(f"Credit not found: give --mirror or set {VARIABLE} to a directory with uci/143/australian.dat")


def synthetic(features: int, informative: int, classes: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Synthetic30's recipe for any size: 1000 rows, split and standardised."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples=1000,
        n_features=features,
        n_informative=informative,
        n_redundant=0,
        n_classes=classes,
        random_state=seed,
    )
    return thirds(X, y, list(range(features)), seed)


def table(rows: list[tuple[str, str, str]]) -> None:
    """Print a small table: what was timed, the time, and its ratio to the baseline."""
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
