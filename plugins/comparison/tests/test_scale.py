"""The common scale of data sets: what counts as the empty policy's answer, and draws over a data set's splits."""

from __future__ import annotations

import numpy as np
import pytest
from bench_comparison.draws import split_draws
from bench_comparison.populations import comparison_of, populations
from bench_comparison.scale import measured
from bench_records.records import tabulate
from support.synthetic import family_of, labelled, policies_of, record_of, suite_of

COMPARISON = '[comparison]\nbudgets = [0.1, 1.0]\nfallback = "majority"\nreference = ["slow"]\n'
METHODS = ("majority", "within", "over", "slow")


def test_an_answer_over_budget_counts_as_the_empty_policy() -> None:
    pieces = []
    for seed in range(2):
        spent = {"majority": (0.0, 0.0), "within": (0.1, 0.1), "over": (0.1, 0.3), "slow": (1.0, 1.0)}
        accuracy = {"majority": 0.5, "within": 0.7, "over": 0.7, "slow": 0.9}
        for method, costs in spent.items():
            record = record_of("D", method, seed, {"accuracy": 0.0}, threshold=None)
            validation, test = (family_of([(cost, accuracy[method])])["test"] for cost in costs)
            pieces.append({**record, "policies": policies_of(validation, test)})
    suite = suite_of(["D"], METHODS, 2, metrics=("accuracy", "cost"), threshold=None, more=COMPARISON)
    records, entry = tabulate(labelled(pieces)), comparison_of(suite)
    assert entry is not None
    (found,) = measured(suite, records, entry, populations(suite, records, entry))
    by_method = {method: found.quality[place, :, 0].tolist() for place, method in enumerate(METHODS)}
    assert by_method["within"] == pytest.approx([0.5, 0.5])  # (0.7 - 0.5) / (0.9 - 0.5)
    assert by_method["over"] == [0.0, 0.0]
    assert found.quality[METHODS.index("over"), :, 1].tolist() == pytest.approx([0.5, 0.5])


def test_every_data_set_has_draws_of_its_own_and_its_cost_schemes_share_them() -> None:
    values = np.arange(10.0).reshape(1, 5, 2)
    first, second = split_draws(values, 0), split_draws(values, 1)
    assert np.array_equal(first, split_draws(values, 0))
    assert np.array_equal(first[0], second[0])  # the observed mean
    assert (first[1:] != second[1:]).mean() > 0.9
    assert abs(np.corrcoef(first[1:, 0, 0], second[1:, 0, 0])[0, 1]) < 0.15
