"""The comparison as plain data: win rates against the leader, and Friedman's test, recomputed here."""

from __future__ import annotations

from typing import Any

import pytest
from bench_comparison.answer import answer_of, compares_of
from bench_comparison.populations import comparison_of
from bench_comparison.resampling import intervals_by
from bench_records.records import tabulate
from scipy import stats
from support.synthetic import labelled, record_of, suite_of

ACCURACY = {
    "majority": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    "second": [0.6, 0.7, 0.8, 0.6, 0.7, 0.9],
    "leader": [0.9, 0.8, 0.9, 0.7, 0.8, 0.6],
}
"""By data set, on both parts and every split: the leader is better than the second on five of six."""


def measured() -> dict[str, Any]:
    """The results of the comparison at the full price."""
    datasets = [f"D{i}" for i in range(6)]
    more = '[comparison]\nbudgets = [1.0]\nfallback = "majority"\n'
    suite = suite_of(datasets, list(ACCURACY), seeds=2, metrics=("accuracy", "cost"), threshold=None, more=more)
    pieces = []
    for method, values in ACCURACY.items():
        for dataset, accuracy in zip(datasets, values, strict=True):
            numbers = {"accuracy": accuracy, "error": 1 - accuracy, "cost": 1.0, "cost-share": 0.5}
            pieces += [record_of(dataset, method, seed, numbers, threshold=None) for seed in range(2)]
    records, entry = tabulate(labelled(pieces)), comparison_of(suite)
    assert entry is not None
    (population,) = answer_of(suite, records, entry, compares_of(suite, records, entry))["populations"]
    found: dict[str, Any] = population["measures"][0]
    assert found["budget"] == 1.0
    return found


def test_against_the_leader_is_the_win_rate_of_the_other_method() -> None:
    ranked = {row["method"]: row["against_leader"] for row in measured()["ranked"]}
    assert list(ranked) == ["leader", "second", "majority"]
    wins = intervals_by({0: [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]})[0]
    assert ranked["leader"] is None
    assert ranked["second"] == pytest.approx([1 / 6, wins.low, wins.high, 6], rel=1e-4)
    assert ranked["majority"] == [0.0, 0.0, 0.0, 6]


def test_friedmans_p_is_scipys() -> None:
    assert measured()["friedman"] == pytest.approx(stats.friedmanchisquare(*ACCURACY.values()).pvalue, rel=1e-4)
