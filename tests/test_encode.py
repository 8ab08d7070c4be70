"""Encoding: fitted on the training part only; the results for numbers, categories and missing values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import RequestError
from bench_core.protocol.encode import fit_encoder

NAN = np.nan


def toy(values, categorical=()):
    values = np.asarray(values, dtype=np.float64)
    names = tuple(f"f{i}" for i in range(values.shape[1]))
    return Dataset("toy", "regression", values, names, np.zeros(len(values)), categorical=categorical)


# Feature 1 is a category with codes 0, 2, 5; the last two rows are not for training.
MIXED = toy(
    [[1.0, 2, 4.0], [3.0, 5, NAN], [NAN, 2, 8.0], [5.0, NAN, 6.0], [7.0, 0, 6.0], [NAN, NAN, NAN]], categorical=(1,)
)
TRAIN = np.arange(4)


def encode(encoding, dataset=MIXED, train=TRAIN, values=None):
    return fit_encoder(dataset, train, encoding).transform(dataset.values if values is None else values)


def test_raw_changes_nothing():
    np.testing.assert_array_equal(encode("raw"), MIXED.values)


def test_impute_takes_median_and_most_frequent_of_the_training_rows():
    np.testing.assert_array_equal(encode("impute"), [[1, 2, 4], [3, 5, 6], [3, 2, 8], [5, 2, 6], [7, 0, 6], [3, 2, 6]])


def test_ordinal_standardises_numbers_and_leaves_categories():
    X = encode("ordinal")
    np.testing.assert_allclose(X[TRAIN].mean(axis=0)[[0, 2]], 0, atol=1e-15)
    np.testing.assert_allclose(X[TRAIN].std(axis=0)[[0, 2]], 1)
    assert X[:, 1].tolist() == [2, 5, 2, 2, 0, 2]
    np.testing.assert_allclose(X[4, 0], (7 - 3) / np.std([1, 3, 3, 5]))


def test_onehot_has_a_column_per_training_category_and_zeros_for_an_unseen_one():
    encoder = fit_encoder(MIXED, TRAIN, "onehot")
    assert encoder.feature_of_column.tolist() == [0, 1, 1, 2]
    X = encoder.transform(MIXED.values)
    assert X[:, 1:3].tolist() == [[1, 0], [0, 1], [1, 0], [1, 0], [0, 0], [1, 0]]


def test_rows_outside_the_training_part_change_nothing():
    other = toy(np.vstack([MIXED.values[:4], [[1e6, 3, -50], [2e6, 3, NAN]]]), categorical=(1,))
    for encoding in ("raw", "impute", "ordinal", "onehot"):
        np.testing.assert_array_equal(
            encode(encoding, values=MIXED.values), encode(encoding, other, values=MIXED.values)
        )


def test_equal_counts_take_the_least_category():
    assert encode("impute", toy([[5.0], [2.0], [5.0], [2.0], [NAN]], (0,)), np.arange(5))[4, 0] == 2.0


@pytest.mark.parametrize("category", [(), (0,)])
@pytest.mark.parametrize("encoding", ["impute", "ordinal", "onehot"])
def test_a_feature_missing_in_every_training_row_is_a_constant(encoding, category):
    X = encode(encoding, toy([[NAN], [NAN], [NAN]], category), np.arange(3))
    assert np.isfinite(X).all()
    assert len(np.unique(X)) == 1


def test_a_constant_column_becomes_exactly_zero():
    assert encode("ordinal", toy([[0.1]] * 7), np.arange(7)).tolist() == [[0.0]] * 7


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1.7e308])
def test_extreme_scales_are_standardised_like_any_other(scale):
    X = encode("ordinal", toy(np.array([[0.0], [1.0], [1.0], [0.5]]) * scale), np.arange(4))
    np.testing.assert_allclose(X, encode("ordinal", toy([[0.0], [1.0], [1.0], [0.5]]), np.arange(4)), rtol=1e-3)


def test_a_spread_that_underflows_causes_no_division_by_zero():
    assert np.isfinite(encode("ordinal", toy([[0.0], [5e-324]]), np.arange(2))).all()


def test_the_median_of_huge_numbers_is_finite():
    huge = toy([[1.6e308], [1.7e308], [NAN]])
    assert encode("impute", huge, np.arange(3))[2, 0] == 1.7e308


def test_the_values_given_are_not_changed_and_the_result_is_contiguous():
    before = MIXED.values.copy()
    for encoding in ("raw", "impute", "ordinal", "onehot"):
        X = encode(encoding)
        assert X.flags.c_contiguous
        assert X.dtype == np.float64
        np.testing.assert_array_equal(MIXED.values, before)


@given(
    arrays(np.float64, (9, 3), elements=st.one_of(st.floats(-1e6, 1e6), st.just(NAN))),
    st.sampled_from(["impute", "ordinal", "onehot"]),
)
def test_only_raw_keeps_missing_values_and_rows_are_encoded_independently(values, encoding):
    values[:, 2] = np.round(values[:, 2] / 1e6)
    encoder = fit_encoder(toy(values, (2,)), np.arange(6), encoding)
    X = encoder.transform(values)
    assert np.isfinite(X).all()
    assert X.shape[1] == len(encoder.feature_of_column)
    np.testing.assert_array_equal(encoder.transform(values[7:8]), X[7:8])
    assert encoder.transform(values[:0]).shape == (0, X.shape[1])


def test_an_unknown_encoding_is_refused_with_the_nearest():
    with pytest.raises(RequestError, match="'one-hot' is unknown; did you mean 'onehot'"):
        fit_encoder(MIXED, TRAIN, "one-hot")


def test_the_median_of_an_even_count_is_the_mean_of_the_two_middle_numbers():
    # The first column misses a value outside the training part, the second one inside it; sorted: 1, 2, 4, 10.
    values = toy([[10.0, 4.0], [2.0, 10.0], [1.0, NAN], [4.0, 1.0], [NAN, 2.0], [NAN, NAN]])
    X = encode("impute", values, np.array([0, 1, 2, 3]))
    assert X[5].tolist() == [3.0, 4.0]
    X = encode("impute", values, np.array([1, 2, 3, 4]))
    assert X[5].tolist() == [2.0, 2.0]
    X = encode("impute", toy([[10.0], [2.0], [NAN], [1.0], [4.0], [NAN]]), np.arange(5))
    assert X[5].tolist() == [3.0]
