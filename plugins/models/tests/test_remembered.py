"""Remembered results equal computed ones, and are bounded in size."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.remembered import RememberedRows, row_keys
from hypothesis import given
from hypothesis import strategies as st

SIZE = 3 * 8 + 256
"""Bytes of an entry of three numbers."""


def results_of(rows):
    """Results that depend on every value of a row."""
    return rows @ 2.0 ** np.arange(15).reshape(5, 3)


def ask(seed: int, count: int):
    """Rows of five values, many of them equal."""
    return np.random.default_rng(seed).integers(0, 2, (count, 5)).astype(np.float64)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 30)), min_size=1, max_size=6), st.integers(0, 40))
def test_remembered_results_equal_computed_ones_for_every_size_of_the_memory(asked, most):
    remembered = RememberedRows(most * SIZE)
    for rows in (ask(*one) for one in asked):
        results = remembered.of(row_keys(rows), lambda new, rows=rows: results_of(rows[new]))
        np.testing.assert_array_equal(results, results_of(rows))


@pytest.mark.parametrize("most", [0, 1, 7, 100])
def test_rows_are_computed_again_only_if_there_was_no_room(most):
    rows = np.arange(100.0).reshape(20, 5)
    remembered, computed = RememberedRows(most * SIZE + SIZE // 2), []

    def compute(new):
        computed.append(len(new))
        return results_of(rows[new])

    for _ in range(2):
        remembered.of(row_keys(rows), compute)
    assert computed == [20, max(20 - most, 0)]


def test_keys_differ_exactly_where_a_value_or_the_mask_does():
    values, known = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, -0.0], [1.0, np.nan], [1.0, np.nan]]), np.eye(5, 2) > 0
    keys = row_keys(values, np.zeros((5, 2), dtype=bool))
    assert [keys.index(key) for key in keys] == [0, 0, 2, 3, 3]
    assert row_keys(values, known)[0] != row_keys(values, ~known)[0]
    assert row_keys(values[:0], known[:0]) == []
