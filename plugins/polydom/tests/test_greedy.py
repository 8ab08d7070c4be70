"""The Greedy family: sequences computed by hand, and the budget as an upper bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from bench_polydom.candidates import features_of, mask_of, set_curves
from bench_polydom.greedy import GreedyIndex, grow
from hypothesis import given, settings
from hypothesis import strategies as st

PRICES = np.array([[4.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
WORTH = {0: 0.3, 1: 0.1, 2: 0.05}


def accuracy(features: tuple[int, ...]) -> float:
    return 0.5 + sum(WORTH[f] for f in features)


def curves(masks: np.ndarray) -> np.ndarray:
    return set_curves(masks, PRICES)


def orders(sequences: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    return [[features_of(b ^ a)[0] for a, b in itertools.pairwise(s)] for s in sequences]


def test_sequences_worked_by_hand() -> None:
    """At size 10 the prices are 4, 1, 5; by gain 0.3 − 4λ, 0.1 − λ, 0.05 − 5λ."""
    assert orders(grow(accuracy, 3, curves, 10.0, (0.0,)).sequences) == [[0, 1, 2]]
    assert orders(grow(accuracy, 3, curves, 10.0, (0.08,)).sequences) == [[1, 0, 2]]
    assert orders(grow(accuracy, 3, curves, 2.0, by="cost").sequences) == [[1, 2, 0]]


def test_greedy_trains_every_set_once_and_at_most_quadratically_many() -> None:
    asked: list[tuple[int, ...]] = []

    def counted(features: tuple[int, ...]) -> float:
        asked.append(features)
        return accuracy(features)

    found = grow(counted, 3, curves, 10.0, (0.0, 0.01, 0.08))
    assert len(asked) == len(set(asked)) == found.expansion.n_expanded == 8
    assert grow(accuracy, 3, curves, 10.0, (0.0,)).expansion.n_expanded == 1 + 3 + 2 + 1
    assert grow(accuracy, 3, curves, 10.0, by="cost").expansion.n_expanded == 4


def test_a_smaller_item_gets_more_features_and_a_larger_one_fewer() -> None:
    index = GreedyIndex(grow(accuracy, 3, curves, 10.0, (0.0,)), curves)

    def features(size: float, budget: float) -> tuple[int, ...]:
        return features_of(int(index.candidates.masks[index.lookup(size, budget)]))

    assert features(10.0, 5.0) == (0, 1)
    assert features(10.0, 10.0) == (0, 1, 2)
    assert features(0.0, 5.0) == (0, 1, 2)
    assert features(100.0, 10.0) == (0, 1)
    assert features(10.0, 0.5) == ()


@given(st.integers(0, 6), st.integers(0, 2**32 - 1), st.floats(0, 1000), st.floats(0, 3000))
@settings(max_examples=80, deadline=None)
def test_greedy_never_exceeds_the_budget(d: int, seed: int, size: float, budget: float) -> None:
    rng = np.random.default_rng(seed)
    prices, table = rng.uniform(0, [100, 1, 0.001], (d, 3)), rng.random(1 << d)

    def made(masks: np.ndarray) -> np.ndarray:
        return set_curves(masks, prices)

    index = GreedyIndex(grow(lambda s: float(table[mask_of(s)]), d, made, 100.0), made)
    found = index.lookup(size, budget)
    assert found >= 0  # the empty set always fits
    cost = np.polynomial.polynomial.polyval(size, index.candidates.curves[found])
    assert cost <= budget * (1 + 1e-11)


def test_a_set_that_cannot_be_trained_does_not_end_its_sequence() -> None:
    def fragile(features: tuple[int, ...]) -> float:
        if features == (0, 1):
            raise ValueError("no")
        return accuracy(features)

    found = grow(fragile, 3, curves, 10.0, by="cost")
    index = GreedyIndex(found, curves)
    assert list(found.expansion.failures) == [0b011]
    assert index.candidates.masks[index.lookup(10.0, 5.5)] == 0b010
    assert index.candidates.masks[index.lookup(10.0, 10.0)] == 0b111


@pytest.mark.parametrize("lambdas", [(), (-1.0,), (float("inf"),)])
def test_invalid_lambdas_are_refused(lambdas: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="lambdas must be"):
        grow(accuracy, 3, curves, 1.0, lambdas)
