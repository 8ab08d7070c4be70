"""Methods compared over data sets at a budget: a data set counts once, nothing is imputed, data sets are resampled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from bench_analysis.quality import quality_named
from bench_comparison.budgets import Answers
from bench_comparison.comparison import Compared, compare, shared_set, split_ranks
from bench_comparison.resampling import intervals_by, resampled
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench_core.builtin.metrics import BUILT_IN

KNOWN = {metric.name: metric for metric in BUILT_IN}
ACCURACY = quality_named("accuracy", KNOWN)


def place(dataset: str, values: Mapping[str, list[float]], costs: str = "unit", cost: float = 0.1) -> Answers:
    """Answers at a budget of 0.1: accuracy by split; NaN for no policy."""
    test = np.array(list(values.values()), dtype=float)[:, :, None]
    splits = test.shape[1]
    return Answers(
        dataset=dataset,
        costs=costs,
        quality=ACCURACY,
        budgets=(0.1,),
        methods=tuple(values),
        seeds=tuple(range(splits)),
        done=np.ones(test.shape[:2], dtype=bool),
        validation=test,
        test=test,
        cost=np.where(np.isnan(test), np.nan, cost),
        area=test[:, :, 0],
        fixed=np.full(test.shape, 0.5),
        reference=("a",) * splits,
        full=np.ones(splits),
        whole_validation=test[:, :, 0],
        whole_test=test[:, :, 0],
        beside=np.full(test.shape, np.nan),
    )


def compared(places: list[Answers], methods: str = "abc", fallback: str = "") -> Compared:
    return compare(places, 0, list(methods), 0.1, fallback)


def test_ranks_are_per_split_then_per_data_set() -> None:
    """On D1 a beats b on 1 of 3 splits, though its mean is higher; on D2, of one split, a is best.

    Ranks by split: D1 a 5/3, b 4/3; D2 a 1, b 2. Mean ranks: 4/3 and 5/3. Over all four splits at once they would be
    1.5 each, and by the data sets' means 1 and 2.
    """
    found = compared(
        [place("D1", {"a": [0.99, 0.5, 0.5], "b": [0.1, 0.6, 0.6]}), place("D2", {"a": [0.9], "b": [0.8]})], "ab"
    )
    assert {m: one.value for m, one in found.ranks.items()} == pytest.approx({"a": 4 / 3, "b": 5 / 3})
    assert found.leader == "a"
    assert found.leads == {"a": 1, "b": 1}
    assert found.relative["b"].value == pytest.approx(((0.1 + 0.6 + 0.6) / 3 + 0.8) / 2)
    assert found.wins["a", "b"].value == pytest.approx((1 / 3 + 1) / 2)
    both = found.win_rate("b", "a")
    assert both is not None
    assert both.value == pytest.approx(1 / 3)


def test_two_draws_of_prices_are_one_data_set() -> None:
    once = [place("D1", {"a": [0.9], "b": [0.8]}), place("D2", {"a": [0.7], "b": [0.8]})]
    again = [*once, place("D1", {"a": [0.9], "b": [0.8]}, costs="drawn 2")]
    assert compared(again, "ab").ranks == compared(once, "ab").ranks
    assert compared(again, "ab").datasets == ("D1", "D2")


@given(st.integers(1, 30))
def test_a_data_set_counts_as_much_as_another_whatever_its_number_of_splits(splits: int) -> None:
    places = [place("D1", {"a": [0.9] * splits, "b": [0.8] * splits}), place("D2", {"a": [0.1], "b": [0.2]})]
    assert [one.value for one in compared(places, "ab").ranks.values()] == [1.5, 1.5]


def test_ties_share_their_ranks_and_their_wins() -> None:
    assert split_ranks(np.array([[0.5], [0.5], [0.1]]), "max").tolist() == [1.5, 1.5, 3.0]
    assert split_ranks(np.array([[0.1 + 0.2], [0.3]]), "min").tolist() == [1.5, 1.5]
    found = compared([place("D1", {"a": [0.5], "b": [0.5]})], "ab")
    assert found.wins["a", "b"].value == 0.5
    assert found.first == {"a": 0.5, "b": 0.5}


def test_missing_results_are_not_imputed_and_left_out_methods_have_a_reason() -> None:
    nan = float("nan")
    full = [place(f"D{i}", {"a": [0.9, 0.9], "b": [0.8, 0.8], "c": [nan, 0.99]}) for i in range(3)]
    found = compared([*full, place("D3", {"a": [0.9], "b": [0.8], "c": [0.99]})])
    assert list(found.ranks) == ["a", "b"]
    assert found.out == {"c": {"no policy": 3, "ranked": 1}}
    assert found.datasets == ("D0", "D1", "D2", "D3")
    alone = compared(full, "ab")
    assert alone.ranks["a"].value == found.ranks["a"].value == 1.0  # c's 0.99 on one split changed no rank


def test_a_method_over_budget_is_not_ranked() -> None:
    dear = place("D1", {"a": [0.9], "b": [0.99]})
    dear.cost[1] = 0.2
    found = compared([dear], "ab")
    assert list(found.ranks) == ["a"]
    assert found.out["b"] == {"over budget": 1}


def test_methods_are_compared_on_the_data_sets_that_they_share() -> None:
    both, one = {"a": [0.9], "b": [0.8], "c": [0.7]}, {"a": [0.9], "b": [0.8]}
    found = compared([place("D1", both), place("D2", both), place("D3", one)])
    assert found.datasets == ("D1", "D2")
    assert found.every == ("D1", "D2", "D3")
    assert list(found.ranks) == ["a", "b", "c"]


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6), st.integers(1, 5))
def test_the_shared_set_is_complete_and_has_every_method_that_fits(rows: list[list[bool]], least: int) -> None:
    there = np.array(rows)
    methods, datasets = shared_set(there, least)
    assert there[np.ix_(methods, datasets)].all()
    if len(methods):
        assert len(datasets) >= least
        assert {int(m) for m in np.flatnonzero(there[:, datasets].all(axis=1))} == set(methods.tolist())
    else:
        assert (there.sum(axis=1) < least).all()


@given(st.lists(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=3, max_size=3), min_size=1, max_size=7))
def test_ranks_sum_up_and_shares_of_first_to_one(table: list[list[float]]) -> None:
    found = compared([place(f"D{i}", {m: [v] for m, v in zip("abc", row, strict=True)}) for i, row in enumerate(table)])
    assert sum(one.value for one in found.ranks.values()) == pytest.approx(6.0)
    assert sum(found.first.values()) == pytest.approx(1.0)
    for one in found.ranks.values():
        assert np.isnan(one.low) if len(table) == 1 else one.low <= one.value + 1e-9 <= one.high + 2e-9
    assert found.ranks[str(found.leader)].value == min(one.value for one in found.ranks.values())


def test_the_bootstrap_resamples_data_sets() -> None:
    values = np.array([0.0, 0.0, 0.0, 1.0])
    means = resampled(values)
    assert set(np.unique(means)) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert float((means == 0).mean()) == pytest.approx(0.75**4, abs=0.03)
    assert (resampled(values) == means).all()  # the same draws each time
    assert intervals_by({0: [0.3, 0.3]})[0].low == intervals_by({0: [0.3, 0.3]})[0].high == 0.3
    assert np.isnan(intervals_by({0: [0.3]})[0].low)


def test_gains_over_the_fallback_and_over_the_best_fixed_subset() -> None:
    places = [place("D1", {"a": [0.7], "f": [0.6]}), place("D2", {"a": [0.4], "f": [0.6]})]
    found = compared(places, "af", fallback="f")
    assert found.over_fallback["a"].value == pytest.approx((0.1 - 0.2) / 2)
    assert found.over_fixed["a"].value == pytest.approx((0.2 - 0.1) / 2)  # the fixed subset has 0.5 everywhere
    assert "f" not in found.over_fallback


def test_near_is_within_the_critical_difference() -> None:
    """Three methods on twenty data sets: the critical difference is 0.741 (Demšar 2006, Table 5: q = 2.343)."""
    places = [place(f"D{i}", {"a": [0.9], "b": [0.8 if i % 5 else 0.95], "c": [0.1]}) for i in range(20)]
    found = compared(places)
    assert found.difference == pytest.approx(2.343 * (3 * 4 / (6 * 20)) ** 0.5, abs=1e-3)
    assert found.ranks["a"].value == pytest.approx(1.2)
    assert found.near() == ["b"]


def test_a_win_rate_has_the_same_interval_whichever_method_is_named_first() -> None:
    """Of five data sets a is better on all splits of two, on one of three splits of two, and on none of one."""
    third = {"a": [0.9, 0.1, 0.1], "b": [0.5, 0.5, 0.5]}
    places = [
        place("D1", {"a": [0.9], "b": [0.5]}),
        place("D2", {"a": [0.9], "b": [0.5]}),
        place("D3", third),
        place("D4", third),
        place("D5", {"a": [0.1], "b": [0.5]}),
    ]
    wins = intervals_by({0: [1.0, 1.0, 1 / 3, 1 / 3, 0.0]})[0]
    losses = intervals_by({0: [0.0, 0.0, 2 / 3, 2 / 3, 1.0]})[0]
    assert losses.low < losses.value < losses.high
    for found in (compared(places, "ab"), compared(places, "ba")):
        for (one, other), expected in {("a", "b"): wins, ("b", "a"): losses}.items():
            rate = found.win_rate(one, other)
            assert rate is not None
            assert [rate.value, rate.low, rate.high] == pytest.approx([expected.value, expected.low, expected.high])
            assert rate.datasets == 5


def test_every_draw_of_prices_counts_in_the_ranks() -> None:
    """On D1 a is better under one draw of prices, b under two; on D2 a is better."""
    drawn = [
        place("D1", {"a": [0.9], "b": [0.8]}),
        place("D1", {"a": [0.7], "b": [0.8]}, costs="drawn 2"),
        place("D1", {"a": [0.6], "b": [0.8]}, costs="drawn 3"),
    ]
    found = compared([*drawn, place("D2", {"a": [0.9], "b": [0.8]})], "ab")
    assert {m: one.value for m, one in found.ranks.items()} == pytest.approx(
        {"a": (5 / 3 + 1) / 2, "b": (4 / 3 + 2) / 2}
    )
    assert found.wins["a", "b"].value == pytest.approx((1 / 3 + 1) / 2)


def test_an_interval_has_95_percent_of_the_resamples_in_it() -> None:
    """Of 100 data sets half have the value 1: a resample's sum is binomial, and 95 % of them are from 40 to 60."""
    interval = intervals_by({0: [0.0, 1.0] * 50})[0]
    assert (interval.value, interval.datasets) == (0.5, 100)
    expected = stats.binom.ppf([0.025, 0.975], 100, 0.5) / 100
    assert [interval.low, interval.high] == pytest.approx(expected.tolist(), abs=0.002)
