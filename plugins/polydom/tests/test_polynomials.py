"""Crossings and dominance of price polynomials, at the edges: parallel, touching, identical, zero, at size 0."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from bench_polydom.polynomials import MAX_SIZE, checked_prices, crossings, evaluate, never_below
from hypothesis import given, settings
from hypothesis import strategies as st

coefficient = st.one_of(st.integers(-6, 6).map(float), st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3)))


def places(*coefficients: float) -> list[float]:
    found = crossings(np.array([coefficients], dtype=float))[0]
    return found[~np.isnan(found)].tolist()


@pytest.mark.parametrize(
    ("polynomial", "expected"),
    [
        ((0.0, 0.0, 0.0), []),  # identical curves
        ((0.0,), []),
        ((3.0,), []),
        ((0.0, 1.0), []),  # they meet at size 0 only
        ((0.0, -2.0, 1.0), [2.0]),  # at 0 and at 2
        ((4.0, -4.0, 1.0), []),  # a touch at 2
        ((0.0, 0.0, 1.0), []),  # a touch at 0
        ((3.0, -4.0, 1.0), [1.0, 3.0]),
        ((-1e-12, 1e-18), [1e6]),  # nearly parallel
        ((-6.0, 11.0, -6.0, 1.0), [1.0, 2.0, 3.0]),
        ((-1.0, 3.0, -3.0, 1.0), [1.0]),  # (n - 1)³: a touch of every kind, but it changes sign
        ((2.0, -5.0, 4.0, -1.0), [2.0]),  # −(n − 1)²(n − 2)
        ((0.0, 0.0, 0.0, -1.0, 1.0), [1.0]),
        ((-1.0, 0.0, 0.0, 0.0, 1.0), [1.0]),
        ((5.0, 1.0, 0.0, 0.0), []),  # trailing zeros
    ],
)
def test_signs_change_where_worked_out_by_hand(polynomial: tuple[float, ...], expected: list[float]) -> None:
    assert places(*polynomial) == pytest.approx(expected, rel=1e-4)


@given(st.lists(coefficient, min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_between_neighbouring_crossings_the_sign_is_constant_and_at_each_it_changes(given: list[float]) -> None:
    exact = [Fraction(c) for c in given]

    def sign(n: float) -> int:
        value = sum(c * Fraction(n) ** k for k, c in enumerate(exact))
        return (value > 0) - (value < 0)

    def small(n: float) -> bool:
        value = abs(sum(c * Fraction(n) ** k for k, c in enumerate(exact)))
        return value <= Fraction(1e-9) * sum(abs(c) * Fraction(n) ** k for k, c in enumerate(exact))

    cuts = places(*given)
    assert cuts == sorted(cuts)
    edges = [0.0, *cuts, max([100.0, *(2 * c for c in cuts)])]
    signs = []
    for low, high in itertools.pairwise(edges):
        seen = {sign(low + (high - low) * t) for t in (0.03, 0.31, 0.5, 0.77, 0.98)
                if not small(low + (high - low) * t)}  # fmt: skip
        assert len(seen - {0}) <= 1
        signs += list(seen - {0})
    if len(signs) == len(edges) - 1:  # none of the intervals is too thin to see
        assert all(a != b for a, b in itertools.pairwise(signs))


def test_an_interval_is_open_and_may_differ_from_row_to_row() -> None:
    table = np.array([[3.0, -4.0, 1.0]] * 3)
    found = crossings(table, np.array([1.0, 0.0, 2.0]), np.array([4.0, 3.0, 2.5]))
    np.testing.assert_array_equal(np.isnan(found), [[False, True], [False, True], [True, True]])
    assert found[0, 0] == 3.0
    assert found[1, 0] == 1.0


def test_a_crossing_beyond_the_largest_size_is_ignored() -> None:
    assert places(-MAX_SIZE * 4, 1.0) == []


@given(st.lists(st.lists(coefficient, min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_never_below_agrees_with_exact_arithmetic(rows: list[list[float]]) -> None:
    for row, answer in zip(rows, never_below(np.array(rows)), strict=True):
        c, b, a = (Fraction(x) for x in row)
        vertex_fine = b >= 0 or (a > 0 and b * b <= 4 * a * c)
        exact = c >= 0 and a >= 0 and (vertex_fine or (a == 0 and b >= 0))
        if b * b != 4 * a * c:
            assert answer == exact


def test_never_below_of_higher_degree() -> None:
    table = np.array([
        [1.0, -3.0, 3.0, -1.0],  # (1 − n)³
        [0.0, 1.0, -2.0, 1.0],  # n (n − 1)²: touches
        [0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, -1e-9],
        [2.0, -1.0, 0.0, 1.0],
    ])  # fmt: skip
    assert never_below(table).tolist() == [False, True, True, False, True]


@pytest.mark.parametrize("bad", [[-1.0], [1.0, math.nan], [[1.0, math.inf]], [[]], ["expensive"], [[[1.0]]]])
def test_invalid_prices_are_refused_by_number(bad: list[object]) -> None:
    with pytest.raises(ValueError, match=r"price \d"):
        checked_prices([2.0, *bad][:2] if bad != [1.0, math.nan] else bad)


def test_prices_of_different_lengths_are_padded() -> None:
    np.testing.assert_array_equal(checked_prices([1, [2, 3], [0, 0, 4]]), [[1, 0, 0], [2, 3, 0], [0, 0, 4]])
    np.testing.assert_array_equal(evaluate(checked_prices([[1, 2, 3]]), 2.0), [17.0])
