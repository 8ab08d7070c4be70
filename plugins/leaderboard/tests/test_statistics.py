"""Means, intervals, and the test of two methods on one data set: what scipy gives on the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from bench_leaderboard.analysis.resampled import ALPHA, corrected_resampled_t
from bench_leaderboard.analysis.summary import margins, mean_of_means, mean_with_margin, moments, overlap
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


def test_one_split_tests_nothing() -> None:
    assert np.isnan(corrected_resampled_t(np.array([0.1]), 0.3))


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, max_size=30))
def test_the_margin_is_scipys_t_interval(values: list[float]) -> None:
    mean = mean_with_margin(values, 0.0)
    assert mean.value == pytest.approx(np.mean(values), abs=1e-9)
    if np.std(values) > 0:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert mean.margin == pytest.approx((high - low) / 2)


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


def test_the_overlap_is_test_rows_over_rows_learnt_from_and_none_for_a_given_split() -> None:
    info = {"trial": '{"split":{"kind":"random"}}', "rows": {"train": 50, "validation": 25, "test": 25}}
    assert overlap(info) == pytest.approx(1 / 3)
    assert overlap({**info, "trial": '{"split":{"kind":"given"}}'}) == 0.0


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
def test_margins_of_columns_are_those_of_each(rows: list[list[float]], overlap: float) -> None:
    table = np.array(rows)
    expected = [mean_with_margin(column, overlap).margin for column in table.T]
    assert margins(table, overlap) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_margin_over_data_sets_is_corrected_on_each() -> None:
    one = np.array([1.0, 2.0, 4.0, 5.0])
    made = mean_of_means([one, one + 10], [0.5, 0.0])
    variances = one.var(ddof=1) * np.array([1 / 4 + 0.5, 1 / 4]) / 4
    freedom = variances.sum() ** 2 / (variances**2 / 3).sum()
    assert made.margin == pytest.approx(stats.t.ppf(0.975, freedom) * variances.sum() ** 0.5)
