"""Fixtures: small problems, and the paper's real data.

Tests without that data are skipped, with a reason.

BUDGETBENCH_SHARED (or BUDGETBENCH_MIRROR) names the directory; it holds `uci/143`, `uci/519` and `openml_cache/`, the
first two possibly below `files/`. The preprocessing is the suite's: median imputation and standardisation of numeric
columns, fitted on the training part; integer categories enter as they are; 50-25-25, stratified.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from bench_core import Costs, Part, Policy, Problem, Rows

VARIABLES = ("BUDGETBENCH_SHARED", "BUDGETBENCH_MIRROR")


def problem(n: int = 4, rows: int = 80, classes: int = 2, seed: int = 0, prices: np.ndarray | None = None) -> Problem:
    """A learnable problem with n features, each slightly informative, of prices 1, 2, 3, …; every class occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * rows, n))
    score = X @ rng.normal(size=(n, classes)) + rng.gumbel(size=(2 * rows, classes))
    y = score.argmax(axis=1).astype(np.int64)
    y[:classes] = y[rows : rows + classes] = np.arange(classes)
    return Problem(
        train=Part(X[:rows], y[:rows]),
        validation=Part(X[rows:], y[rows:]),
        costs=Costs(np.arange(1.0, n + 1) if prices is None else prices),
        task="binary" if classes == 2 else "multiclass",
        n_classes=classes,
        feature_names=tuple(f"f{i}" for i in range(n)),
        feature_of_column=np.arange(n),
        threshold=0.7,
        seed=seed,
    )


@pytest.fixture(name="problem", scope="session")
def fixture_problem() -> Callable[..., Problem]:
    """The function `problem`."""
    return problem


def outcome(policy: Policy, given: Problem) -> tuple[int, int, float]:
    """Conclusive rows, right rows and total bill of a policy on the validation part."""
    decided = policy.decide(Rows(given.validation.X))
    assert decided.probabilities is not None
    conclusive = decided.probabilities.max(axis=1) >= given.need_threshold("test")
    right = conclusive & (decided.probabilities.argmax(axis=1) == given.validation.y)
    return int(conclusive.sum()), int(right.sum()), float(given.costs.bill(decided.acquired).sum())


@pytest.fixture(name="outcome", scope="session")
def fixture_outcome() -> Callable[[Policy, Problem], tuple[int, int, float]]:
    """The function `outcome`."""
    return outcome


class Split(NamedTuple):
    """One seeded split: training, validation and test part, prices and threshold of the paper."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    prices: list[int]
    threshold: float


class Table(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    numeric: list[int]
    prices: list[int]
    threshold: float


def _find(*relative: str) -> Path:
    root = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if not root:
        pytest.skip(f"{VARIABLES[0]} is not set: the real data is not at hand")
    for name in relative:
        path = Path(root) / name
        if path.exists():
            return path
    pytest.skip(f"{root} holds none of {', '.join(relative)}")


def load_table(name: str) -> Table:
    """The data set heart, credit or pima as a matrix; skips the test if it is not in the directory."""
    if name == "credit":
        data = np.loadtxt(_find("uci/143/australian.dat", "files/uci/143/australian.dat"))
        prices = [10**c for c in (2, 2, 2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2)]
        return Table(data[:, :-1], data[:, -1].astype(int), [1, 2, 6, 9, 12, 13], prices, 0.75)
    if name == "heart":
        file = "519/heart_failure_clinical_records_dataset.csv"
        data = np.loadtxt(_find(f"uci/{file}", f"files/uci/{file}"), delimiter=",", skiprows=1)
        # File order: age, anaemia, CPK, diabetes, ejection, pressure, platelets, creatinine, sodium, sex, smoking, time
        prices = [10**c for c in (1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1)]
        return Table(data[:, :-1], data[:, -1].astype(int), [0, 2, 4, 6, 7, 8, 11], prices, 0.75)
    if name == "pima":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_parquet(_find("openml_cache/org/openml/www/datasets/37/dataset_37.pq"))
        y = (frame["class"].astype(str) == "tested_positive").to_numpy().astype(int)
        X = frame.drop(columns="class").to_numpy(dtype=float)
        return Table(X, y, list(range(8)), [100 * c for c in (1, 3, 2, 2, 3, 2, 2, 1)], 0.65)
    raise ValueError(f"no data set named {name!r}")


def split_table(table: Table, seed: int) -> Split:
    """The 50-25-25 split of one seed, preprocessed on its training part."""
    from sklearn.model_selection import train_test_split

    X_train, rest, y_train, y_rest = train_test_split(
        table.X, table.y, train_size=0.5, stratify=table.y, random_state=seed
    )
    X_valid, X_test, y_valid, y_test = train_test_split(
        rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed
    )
    median = np.nanmedian(X_train, axis=0)
    parts = [np.where(np.isnan(part), median, part) for part in (X_train, X_valid, X_test)]
    centre, spread = np.zeros(median.size), np.ones(median.size)
    centre[table.numeric] = parts[0][:, table.numeric].mean(axis=0)
    spread[table.numeric] = parts[0][:, table.numeric].std(axis=0)
    a, b, c = ((part - centre) / spread for part in parts)
    return Split(a, y_train, b, y_valid, c, y_test, table.prices, table.threshold)


@pytest.fixture
def real_split():
    """Function (name, seed) -> Split of Heart, Pima or Credit."""
    return lambda name, seed: split_table(load_table(name), seed)
