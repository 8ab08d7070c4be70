"""The walk down dumped trees, compared with LightGBM's predictions, and the features on each row's paths."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
from bench_cegb.forest import Forest, walk_plain
from bench_models.boosting import probabilities_of
from hypothesis import given, settings
from hypothesis import strategies as st


def trained(objective, seed=0, rows=400, columns=6, rounds=8, holes=0.2, zeros=0.2, **others):
    """A booster on a table with missing values, zeros, integers and a constant column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 1] = np.round(2 * X[:, 1])
    X[:, -1] = 3.0
    signal = X[:, 0] + X[:, 1] * (X[:, 2] > 0)
    X[rng.random(X.shape) < zeros] = 0.0
    X[:, :3][rng.random((rows, 3)) < holes] = np.nan
    classes = {"regression": 0, "binary": 2, "multiclass": 3}[objective]
    y = np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal) if classes else signal
    settings = {"objective": objective, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, **others}
    if classes > 2:
        settings["num_class"] = classes
    return X, lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), rounds)


def edge_rows(X, seed=1):
    """Training-like rows with missing values and zeros in every column, extreme values, and exact thresholds."""
    rng = np.random.default_rng(seed)
    rows = X[rng.permutation(len(X))[:150]]
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[rng.random(rows.shape) < 0.1] = 0.0
    rows[rng.random(rows.shape) < 0.05] = 1e300
    rows[rng.random(rows.shape) < 0.05] = -1e-36
    rows[rng.random(rows.shape) < 0.02] = -2e-35
    return rows


@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize(
    "others",
    [{}, {"zero_as_missing": True}, {"use_missing": False}, {"max_bin": 4}, {"num_leaves": 300, "min_data_in_leaf": 1}],
    ids=["nan", "zero", "none", "few bins", "deep"],
)
def test_predictions_equal_the_boosters(objective, others):
    X, booster = trained(objective, **others)
    rows = edge_rows(X)
    forest = Forest.from_dump(booster.dump_model())
    scores, _ = forest.run(rows, np.arange(6), 6)
    raw = booster.predict(rows, raw_score=True).reshape(scores.shape)
    np.testing.assert_allclose(scores, raw, rtol=0, atol=1e-12)
    if objective != "regression":
        table = booster.predict(rows)
        table = table if objective == "multiclass" else np.column_stack([1 - table, table])
        np.testing.assert_allclose(probabilities_of(scores), table, rtol=0, atol=1e-12)


@given(seed=st.integers(0, 2**31 - 1), holes=st.sampled_from([0.0, 0.3]), as_zero=st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_compiled_walk_equals_its_reference_implementation_and_the_booster(seed, holes, as_zero):
    X, booster = trained("multiclass", seed, rows=60, rounds=3, holes=holes, zero_as_missing=as_zero)
    rows = edge_rows(X, seed)[:40]
    forest = Forest.from_dump(booster.dump_model())
    feature_of_column = np.array([0, 0, 1, 2, 2, 3])
    scores, acquired = forest.run(rows, feature_of_column, 4)
    plain, read = walk_plain(forest, rows, feature_of_column, 4)
    np.testing.assert_array_equal(scores, plain)
    np.testing.assert_array_equal(acquired, read)
    np.testing.assert_allclose(scores, booster.predict(rows, raw_score=True), rtol=0, atol=1e-12)


def test_a_value_equal_to_the_threshold_goes_left():
    X, booster = trained("regression", holes=0.0)
    forest = Forest.from_dump(booster.dump_model())
    splits = np.flatnonzero(forest.column >= 0)
    rows = np.repeat(X[:1], 2 * len(splits), axis=0)
    rows[np.arange(len(splits)), forest.column[splits]] = forest.threshold[splits]
    above = np.nextafter(forest.threshold[splits], np.inf)
    rows[len(splits) + np.arange(len(splits)), forest.column[splits]] = above
    scores, _ = forest.run(rows, np.arange(6), 6)
    np.testing.assert_allclose(scores[:, 0], booster.predict(rows), rtol=0, atol=1e-12)


def test_unacquired_columns_do_not_change_the_score():
    # An unread column may have any value; every read column is tested on the row's path in some tree.
    X, booster = trained("regression", rounds=2)
    forest = Forest.from_dump(booster.dump_model())
    rows = edge_rows(X)
    scores, acquired = forest.run(rows, np.arange(6), 6)
    changed = np.where(acquired, rows, np.random.default_rng(0).normal(size=rows.shape) * 9)
    np.testing.assert_array_equal(forest.run(changed, np.arange(6), 6)[0], scores)
    assert 0 < acquired.mean() < 1


def test_a_forest_without_a_split_reads_nothing():
    booster = lightgbm.train(
        {"objective": "regression", "verbosity": -1, "num_threads": 1},
        lightgbm.Dataset(np.ones((30, 2)), np.arange(30.0)),
        5,
    )
    forest = Forest.from_dump(booster.dump_model())
    scores, acquired = forest.run(np.zeros((4, 2)), np.arange(2), 2)
    assert not acquired.any()
    np.testing.assert_allclose(scores[:, 0], booster.predict(np.zeros((4, 2))), atol=1e-12)
    assert forest.used().size == 0


def test_categorical_splits_are_refused():
    X = np.repeat(np.arange(6.0), 40)[:, None]
    y = np.isin(X[:, 0], [1, 4]).astype(float)
    booster = lightgbm.train(
        {"objective": "regression", "verbosity": -1, "num_threads": 1, "min_data_per_group": 1, "cat_smooth": 0},
        lightgbm.Dataset(X, y, categorical_feature=[0]),
        2,
    )
    with pytest.raises(ValueError, match="numeric splits"):
        Forest.from_dump(booster.dump_model())
