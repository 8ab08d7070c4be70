"""Packing: columns that share a lane, and the rows counted in each place."""

import numpy as np
import pytest
from bench_greedymiser.bins import fit_bins
from bench_greedymiser.packed import pack
from hypothesis import given, settings
from hypothesis import strategies as st


def packed_of(X):
    bins = fit_bins(np.asarray(X, dtype=np.float64))
    return bins, bins.packed


def rows_at(packed, place):
    return ((packed.codes.astype(np.int64) + packed.starts) == place).any(axis=1)


def test_a_category_is_one_lane_and_overlapping_columns_are_not():
    colour = np.eye(3)[[0, 1, 2, 0, 1, 2, 2]]
    overlapping = np.array([[0, 1, 1, 0, 0, 0, 1]]).T
    numbers = np.arange(7.0)[:, None]
    _, packed = packed_of(np.hstack([colour[:, :2], numbers, colour[:, 2:], overlapping]))
    assert packed.shares.tolist() == [True, True, False, True, False]
    assert packed.codes.shape == (7, 3)
    assert packed.codes[:, 0].tolist() == [1, 2, 3, 1, 2, 3, 3]


def test_a_column_with_missing_values_shares_no_lane():
    X = np.eye(3)[[0, 1, 2, 0]]
    X[3, 2] = np.nan
    _, packed = packed_of(X)
    assert packed.shares.tolist() == [True, True, False]
    assert packed.missing.tolist() == [False, False, True]


def test_a_constant_column_has_no_place_unless_values_are_missing():
    X = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 2.0], [5.0, 5.0, 4.0]])
    _, packed = packed_of(X)
    assert packed.first[0] == -1
    assert (packed.first[1:] >= 0).all()
    assert packed.codes.shape[1] == 2


def test_the_codes_of_a_lane_fit_in_a_byte():
    _, packed = packed_of(np.eye(300))
    assert packed.shares.all()
    assert packed.codes.max(axis=0).tolist() == [255, 45]


def test_all_columns_constant_leave_no_lane():
    _, packed = packed_of(np.ones((4, 2)))
    assert packed.codes.shape == (4, 0)
    assert len(packed.counts) == 0


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 8))
@settings(max_examples=80, deadline=None)
def test_every_place_counts_the_rows_of_its_bin(seed, rows, columns):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(1, 4, columns), (rows, columns)).astype(np.float64)
    X[(rng.random(X.shape) < 0.1) & (rng.random(columns) < 0.3)] = np.nan
    bins, packed = packed_of(X)
    for column in range(columns):
        start = int(packed.first[column])
        if start < 0:
            assert len(np.unique(bins.codes[column])) == 1
            continue
        if packed.shares[column]:
            wanted = {start: bins.codes[column] == 1}
        else:
            n_codes = int(bins.n_values[column]) + int(packed.missing[column])
            wanted = {start + code: bins.codes[column] == code for code in range(n_codes)}
        for place, here in wanted.items():
            np.testing.assert_array_equal(rows_at(packed, place), here)
            assert packed.counts[place] == here.sum()


@pytest.mark.parametrize("columns", [33, 60])
def test_columns_that_all_overlap_are_packed_one_by_one(columns):
    codes = np.ones((columns, 3), dtype=np.uint8)
    codes[:, 0] = 0
    packed = pack(codes, np.full(columns, 2))
    assert not packed.shares.any()
    assert packed.codes.shape == (3, columns)
