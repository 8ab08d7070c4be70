"""Means, intervals, and the test of two methods on one data set: what scipy gives on the same numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from bench_analysis.resampled import ALPHA, corrected_resampled_t
from bench_analysis.summary import margins, mean_of_means, mean_with_margin, moments, overlap
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))


def test_the_corrected_resampled_t_test_is_the_formula_of_nadeau_and_bengio() -> None:
    differences = np.array([0.02, 0.05, -0.01, 0.03, 0.04, 0.00, 0.03, 0.02])
    t = differences.mean() / np.sqrt((1 / 8 + 25 / 75) * differences.var(ddof=1))
    expected = 2 * stats.t.sf(t, 7)
    assert corrected_resampled_t(differences, 25 / 75) == pytest.approx(expected)
    plain = stats.ttest_1samp(differences, 0.0).pvalue
    assert corrected_resampled_t(differences, 0.0) == pytest.approx(plain)
    assert plain < 0.05 < expected


@pytest.mark.parametrize(("differences", "p"), [([0.0, 0.0], 1.0), ([0.1, 0.1, 0.1], 0.0)])
def test_differences_without_spread_are_certain(differences: list[float], p: float) -> None:
    assert corrected_resampled_t(np.array(differences), 0.3) == p


def test_one_split_has_no_p_value() -> None:
    assert np.isnan(corrected_resampled_t(np.array([0.1]), 0.3))


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, max_size=30))
def test_the_margin_is_scipys_t_interval(values: list[float]) -> None:
    mean = mean_with_margin(values, 0.0)
    assert mean.value == pytest.approx(np.mean(values), abs=1e-9)
    if np.std(values) > 0:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert mean.margin == pytest.approx((high - low) / 2)


@given(st.lists(st.one_of(numbers, st.just(math.nan)), min_size=1, max_size=6), st.integers(1, 6))
def test_a_mean_has_no_margin_while_fewer_than_three_of_several_splits_are_done(
    values: list[float], expected: int
) -> None:
    whole, so_far = mean_with_margin(values, 0.2), mean_with_margin(values, 0.2, expected)
    if len(values) < 3 and len(values) < expected:
        assert math.isnan(so_far.margin)
        assert math.isnan(so_far.interval()[0])
    else:
        assert repr(so_far) == repr(whole)
    assert (so_far.count, so_far.undefined) == (whole.count, whole.undefined)


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, max_size=30).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_moments_do_not_depend_on_the_order(pair: tuple[list[float], list[float]]) -> None:
    assert moments(pair[0]) == moments(pair[1])


def test_the_margin_over_two_equal_data_sets_has_welchs_degrees_of_freedom() -> None:
    one = np.array([1.0, 2.0, 4.0, 5.0])
    other = one + 10
    mean = mean_of_means([one, other], [0.0, 0.0])
    assert mean.value == 8.0
    error = np.sqrt(2 * one.var(ddof=1) / 4 / 4)
    assert mean.margin == pytest.approx(stats.t.ppf(0.975, 6) * error)
    constant = mean_of_means([one, np.full(4, 7.0)], [0.0, 0.0])
    assert constant.margin == pytest.approx(stats.t.ppf(0.975, 3) * np.sqrt(one.var(ddof=1) / 4 / 4))


SPLIT = {"kind": "random", "train": 0.5, "validation": 0.25, "test": 0.25}
ROWS = {"train": 50, "validation": 25, "test": 25}


def overlap_of(split: dict[str, Any], drawn_from: int | str | None = None) -> float:
    return overlap({"trial": json.dumps({"split": {**SPLIT, **split}}), "rows": ROWS}, drawn_from)


COUNTS = {"train": 50, "validation": 25, "test": 25}


@pytest.mark.parametrize(
    ("split", "drawn_from", "expected"),
    [
        ({}, None, 25 / 75),  # one table: 25 of 100 rows are tested
        (COUNTS, None, 25 / 75),
        (COUNTS, 100, 25 / 75),
        (COUNTS, 425, 25 / 400),  # samples of a large table: 25 of 425
        ({"train": 0.1, "validation": 0.05, "test": 0.05}, None, 25 / 475),  # a fifth of 500 rows
        ({}, "independent", 0.0),
        ({"kind": "given"}, None, 0.0),
        ({"kind": "given", "validation": 0.2}, None, 0.0),
    ],
)
def test_the_overlap_follows_from_the_share_of_test_rows_that_two_splits_have_in_common(
    split: dict[str, Any], drawn_from: int | str | None, expected: float
) -> None:
    assert overlap_of(split, drawn_from) == pytest.approx(expected, rel=1e-12)


@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 300))
def test_two_random_test_parts_share_what_the_overlap_says(test: int, learnt: int, more: int) -> None:
    # The mean number of common rows over the parts' size is ρ = overlap / (1 + overlap).
    total = test + learnt + more
    info = {
        "trial": json.dumps({"split": {**SPLIT, "train": learnt - 1, "validation": 1, "test": test}}),
        "rows": {"train": learnt - 1, "validation": 1, "test": test},
    }
    term = overlap(info, total)
    common = stats.hypergeom(total, test, test).mean()
    assert term / (1 + term) == pytest.approx(common / test)


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, max_size=30), st.floats(0, 2))
def test_the_interval_excludes_a_value_exactly_when_the_corrected_test_rejects_it(
    values: list[float], overlap: float
) -> None:
    mean = mean_with_margin(values, overlap)
    for value in (mean.value - 1.01 * mean.margin, mean.value + 1.01 * mean.margin):
        p = corrected_resampled_t(np.array(values) - value, overlap)
        assert p < ALPHA or mean.margin < 1e-6
    p = corrected_resampled_t(np.array(values) - (mean.value + 0.99 * mean.margin), overlap)
    assert p >= ALPHA or mean.margin < 1e-6


@settings(deadline=None)
@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=2, max_size=12), st.floats(0, 2))
def test_margins_of_a_table_are_those_of_its_columns(rows: list[list[float]], overlap: float) -> None:
    table = np.array(rows)
    expected = [mean_with_margin(column, overlap).margin for column in table.T]
    assert margins(table, overlap) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_margin_over_data_sets_is_corrected_on_each() -> None:
    one = np.array([1.0, 2.0, 4.0, 5.0])
    made = mean_of_means([one, one + 10], [0.5, 0.0])
    variances = one.var(ddof=1) * np.array([1 / 4 + 0.5, 1 / 4]) / 4
    freedom = variances.sum() ** 2 / (variances**2 / 3).sum()
    assert made.margin == pytest.approx(stats.t.ppf(0.975, freedom) * variances.sum() ** 0.5)
