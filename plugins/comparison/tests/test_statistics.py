"""Statistics: what scipy and scikit-posthocs give on the same numbers, and what Demšar (2006) prints."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from bench_comparison import statistics
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

# Demšar (2006), Table 6: AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf. On "voting" two printed numbers are equal, but
# ranked 2 and 3: the third column's was greater before rounding, so a digit is added here.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))
tables = st.integers(2, 12).flatmap(
    lambda n: st.integers(3, 6).flatmap(
        lambda k: st.lists(st.lists(numbers, min_size=k, max_size=k), min_size=n, max_size=n)
    )
)


def test_average_ranks_are_those_of_demsars_table_6() -> None:
    assert statistics.average_ranks(DEMSAR, "max").round(3).tolist() == [3.143, 2.0, 2.893, 1.964]


def test_friedman_and_iman_davenport_are_demsars_to_printed_precision() -> None:
    found = statistics.friedman(DEMSAR)
    assert found is not None
    assert f"{found.uncorrected:.2f}" == "9.28"
    assert f"{found.f_statistic:.2f}" == "3.69"
    assert found.f_p < 0.05  # F(3, 39) has the critical value 2.85 at 5 %


def test_nemenyis_critical_difference_is_demsars() -> None:
    assert f"{statistics.critical_difference(4, 14, 0.05):.2f}" == "1.25"
    assert f"{statistics.critical_difference(4, 14, 0.10):.2f}" == "1.12"


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (6, 2.850), (10, 3.164)])
def test_the_critical_value_is_that_of_demsars_table_5(methods: int, q: float) -> None:
    rest = (methods * (methods + 1) / (6 * 20)) ** 0.5
    assert statistics.critical_difference(methods, 20) / rest == pytest.approx(q, abs=1e-3)


def test_at_ten_percent_nemenyi_distinguishes_the_pairs_that_demsar_names() -> None:
    p = statistics.nemenyi(DEMSAR)
    apart = {(i, j) for i in range(4) for j in range(i) if p[i, j] < 0.10}
    assert apart == {(1, 0), (3, 0)}
    assert (p >= 0.05).all()


@settings(deadline=None)
@given(tables)
def test_friedman_is_scipys(rows: list[list[float]]) -> None:
    table = np.array(rows)
    found = statistics.friedman(table)
    if found is None:
        assert (table == table[:, :1]).all()
        return
    expected = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


@settings(deadline=None)
@given(st.permutations(range(5)), st.integers(2, 9))
def test_without_ties_both_chi_squares_agree(order: list[int], count: int) -> None:
    rng = np.random.default_rng(count)
    table = np.array([rng.permutation(5) for _ in range(count)])[:, order].astype(float)
    found = statistics.friedman(table)
    assert found is not None
    assert found.statistic == pytest.approx(found.uncorrected)


@settings(deadline=None)
@given(tables)
def test_the_best_has_the_lowest_rank_and_ranks_sum_up(rows: list[list[float]]) -> None:
    table = np.array(rows)
    ranks = statistics.average_ranks(table, "max")
    methods = table.shape[1]
    assert ranks.sum() == pytest.approx(methods * (methods + 1) / 2)
    assert statistics.average_ranks(-table, "min") == pytest.approx(ranks)
    by_hand = [np.mean([1 + sum(row > row[j]) + (sum(row == row[j]) - 1) / 2 for row in table]) for j in range(methods)]
    assert ranks == pytest.approx(by_hand)


def test_ranks_of_a_table_with_holes_are_refused() -> None:
    with pytest.raises(ValueError, match="every method on every data set"):
        statistics.average_ranks(np.array([[1.0, np.nan], [1.0, 2.0]]), "max")


@pytest.mark.slow
# Few and short examples: with ties, scipy enumerates all 2ⁿ signs at every call.
@settings(max_examples=25)
@example([n + 0.25 for n in range(-20, 30)])
@example([*map(float, range(-3, 50))])
@given(st.lists(numbers, min_size=6, max_size=8))
def test_wilcoxon_is_scipys_with_pratts_zeros(values: list[float]) -> None:
    differences = np.array(values)
    expected = stats.wilcoxon(differences, zero_method="pratt").pvalue if differences.any() else 1.0
    assert statistics.wilcoxon(differences) == pytest.approx(expected)


@settings(max_examples=25)
@given(st.lists(st.integers(-4, 4), min_size=6, max_size=15).filter(any))
def test_wilcoxon_is_the_share_of_sign_patterns_where_ranks_tie(values: list[int]) -> None:
    differences = np.array(values, dtype=float)
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    signs = np.array(list(product((0, 1), repeat=len(ranks))))
    above, seen = signs @ ranks, ranks[differences[differences != 0] > 0].sum()
    expected = min(1, 2 * min((above <= seen).mean(), (above >= seen).mean()))
    assert statistics.wilcoxon(differences) == pytest.approx(expected)


# Few examples: statsmodels runs the garbage collector at every call.
@settings(max_examples=8)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@pytest.mark.slow
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="holm")[1]
    assert statistics.holm(p_values) == pytest.approx(list(expected))


def test_five_data_sets_are_too_few_for_wilcoxon_whatever_they_say() -> None:
    few = statistics.WILCOXON_NEEDS
    assert statistics.wilcoxon(np.arange(1.0, few)) > statistics.ALPHA
    assert statistics.wilcoxon(np.arange(1.0, few + 1)) < statistics.ALPHA


def test_iman_and_davenports_p_is_that_of_an_analysis_of_variance_of_the_ranks() -> None:
    """Without ties their F is that of a two-way analysis of the ranks, with k − 1 and (k − 1)(N − 1) degrees."""
    ranks = np.array([[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3], [2, 3, 1, 4]], dtype=float)
    found = statistics.friedman(ranks)
    assert found is not None
    between = 5 * np.square(ranks.mean(axis=0) - 2.5).sum()
    rest = np.square(ranks - 2.5).sum() - between  # every data set has the mean rank 2.5
    f = (between / 3) / (rest / 12)
    assert found.f_statistic == pytest.approx(f)
    assert found.f_p == pytest.approx(stats.f.sf(f, 3, 12))
    # Demšar (2006), §3.2.2: four classifiers on fourteen data sets have 3 and 39 degrees of freedom.
    of_demsar = statistics.friedman(DEMSAR)
    assert of_demsar is not None
    assert of_demsar.f_p == pytest.approx(stats.f.sf(of_demsar.f_statistic, 3, 39))


@pytest.mark.parametrize("scale", [1.0, 70.0, 0.001])
def test_differences_that_are_equal_in_decimals_tie(scale: float) -> None:
    """The means are those of methods with two decimals and thirds; the last digits of their differences are noise."""
    first = np.array([0.9, 0.83, 0.71, 0.95, 0.77, 0.88, 2 / 3, 0.8])
    steps = np.array([0.01, 0.02, -0.01, 0.02, 0.02, 0.01, 0.01, 0.0])
    rows = scale * np.column_stack([first, first - steps])
    means = np.array([[float(f"{value:.12g}") for value in row] for row in rows])
    assert len(np.unique(np.abs(means[:, 0] - means[:, 1]))) > 3
    assert statistics.wilcoxon_holm(means) == {(0, 1): statistics.wilcoxon(steps)}


def test_methods_with_the_same_means_differ_nowhere() -> None:
    assert statistics.wilcoxon_holm(np.zeros((6, 2))) == {(0, 1): 1.0}
    assert statistics.wilcoxon_holm(np.array([[0.3, 0.1 + 0.2]] * 6)) == {(0, 1): 1.0}
