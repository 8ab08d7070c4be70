"""How often the 95 % interval of a mean over splits holds the truth, by simulation of data, splits and learners."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bench_analysis.summary import mean_with_margin, overlap
from numpy.typing import NDArray
from support.bench import ROOT

from bench_core import DataContext
from bench_core.suites import load_registry, load_suite

Numbers = NDArray[np.float64]
Learner = Callable[[Numbers, Numbers, Numbers], Numbers]

TABLES = 800
"""A simulated coverage of 95 % has a standard error of 0.8 points."""
LEARNT, TESTED, FEATURES = 75, 25, 4
MIDDLE = 0.6
"""Classes −1 and 1 have their means at ∓ and ± this value in every feature."""


def drawn(rng: np.random.Generator, count: int) -> tuple[Numbers, Numbers]:
    """Rows of two classes, normal around their means."""
    y = rng.choice([-1.0, 1.0], size=count)
    return MIDDLE * y[:, None] + rng.normal(size=(count, FEATURES)), y


def centroids(X: Numbers, y: Numbers, new: Numbers) -> Numbers:
    """The class whose mean is nearer: a learner that one row hardly changes."""
    above, below = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
    return np.sign((new - (above + below) / 2) @ (above - below))


def neighbour(X: Numbers, y: Numbers, new: Numbers) -> Numbers:
    """The class of the nearest row: a learner that follows single rows."""
    squares = (X * X).sum(axis=1)
    return y[np.argmin(squares - 2 * new @ X.T, axis=1)]


def accuracy(learner: Learner, X: Numbers, y: Numbers, rows: NDArray[np.int64]) -> float:
    """Accuracy on the last rows after learning from the rows before them."""
    learnt, tested = rows[:LEARNT], rows[LEARNT:]
    return float(np.mean(learner(X[learnt], y[learnt], X[tested]) == y[tested]))


def coverage(learner: Learner, table: int | None, seeds: int, drawn_from: int | str | None) -> tuple[float, float]:
    """How often the truth lies in the interval, corrected and not, over many tables.

    Args:
        table: its rows, of which each split takes `LEARNT` + `TESTED`; None: every split has a table of its own.
    """
    rng = np.random.default_rng([seeds, table or 0, len(learner.__name__)])
    rule = {"kind": "random", "train": LEARNT - 1, "validation": 1, "test": TESTED}
    rows = {"train": LEARNT - 1, "validation": 1, "test": TESTED}
    term = overlap({"trial": json.dumps({"split": rule}), "rows": rows}, drawn_from)
    used = LEARNT + TESTED
    # The truth: the mean accuracy on new rows after learning from other new rows.
    X, y = drawn(rng, 4000)
    truth = np.mean([np.mean(learner(*drawn(rng, LEARNT), X) == y) for _ in range(300)])
    hits = np.zeros(2)
    for _ in range(TABLES):
        values = []
        X, y = drawn(rng, table or used)
        for _ in range(seeds):
            if table is None:
                X, y = drawn(rng, used)
            values.append(accuracy(learner, X, y, rng.permutation(len(y))[:used]))
        for i, shared in enumerate((term, 0.0)):
            mean = mean_with_margin(values, shared)
            hits[i] += abs(mean.value - truth) <= mean.margin
    return float(hits[0] / TABLES), float(hits[1] / TABLES)


CASES = [
    pytest.param(LEARNT + TESTED, None, id="splits of one table"),
    pytest.param(400, 400, id="samples of a table four times as large"),
    pytest.param(1000, 1000, id="samples of a table ten times as large"),
    pytest.param(None, "independent", id="independent draws"),
]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [5, 20])
@pytest.mark.parametrize(("table", "drawn_from"), CASES)
def test_the_interval_covers_the_truth_as_often_as_promised(
    table: int | None, drawn_from: int | str | None, seeds: int
) -> None:
    corrected, uncorrected = coverage(centroids, table, seeds, drawn_from)
    assert 0.90 <= corrected <= 0.98
    assert uncorrected < (0.95 if table else 0.98)
    if table == LEARNT + TESTED:
        assert uncorrected < 0.90


@pytest.mark.slow
def test_the_term_of_other_splits_makes_intervals_too_wide_or_too_narrow() -> None:
    # Independent draws with the term of one table; splits of one table with that of a table ten times as large.
    too_wide, _ = coverage(centroids, None, 20, LEARNT + TESTED)
    too_narrow, _ = coverage(centroids, LEARNT + TESTED, 20, 10 * (LEARNT + TESTED))
    assert too_wide > 0.98
    assert too_narrow < 0.90


@pytest.mark.slow
def test_the_least_stable_learner_is_covered_a_little_less() -> None:
    corrected, uncorrected = coverage(neighbour, LEARNT + TESTED, 20, None)
    assert 0.88 <= corrected <= 0.98
    assert uncorrected < 0.6


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["budgetprune_paper", "open"])
def test_suites_state_the_sizes_of_the_tables_that_they_sample(
    name: str, budgetbench_shared: Path, tmp_path: Path
) -> None:
    context = DataContext(tmp_path, budgetbench_shared, True)
    suite = load_suite(Path(ROOT, "suites", f"{name}.toml"), load_registry())
    sampled = {t.dataset: t.source for t in suite.trials(1) if isinstance(suite.drawn_from(t.dataset), int)}
    assert sampled
    for dataset, source in sampled.items():
        assert source.load(context).n_rows == suite.drawn_from(dataset)
