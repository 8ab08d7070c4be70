"""Remembered losses equal computed ones, and are bounded in number."""

from __future__ import annotations

import pickle

import numpy as np
from bench_aaco.plugin import AACO
from bench_aaco.remembered import RememberedLosses
from hypothesis import given
from hypothesis import strategies as st

from bench_core.testing import make_problem

FEATURES, REFERENCES, WIDTH = 10, 7, 3


class Counter:
    """Losses that depend on the reference and on every known feature; counts the pairs that were computed."""

    def __init__(self) -> None:
        self.pairs = 0

    def __call__(self, reference, known):
        self.pairs += len(reference)
        number = known @ 2.0 ** np.arange(FEATURES)
        return np.stack([np.sin(reference + number), np.cos(number), reference + 0.5], axis=1)


def ask(seed: int, rows: int):
    """Rows with few different masks: their references, and what they know."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, REFERENCES, (rows, 4)), rng.integers(0, 4, (rows, FEATURES)) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 30)), min_size=1, max_size=6), st.integers(0, 70))
def test_remembered_losses_equal_computed_ones_for_every_size_of_the_memory(asked, most):
    remembered, counter = RememberedLosses(REFERENCES, WIDTH, most), Counter()
    for near, known in (ask(*one) for one in asked):
        losses = remembered.of(near, known, counter)
        for row in range(len(near)):
            np.testing.assert_array_equal(losses[row], Counter()(near[row], np.repeat(known[row : row + 1], 4, axis=0)))
        assert len(remembered) <= most


def test_a_pair_is_computed_once_while_there_is_room():
    remembered, counter = RememberedLosses(REFERENCES, WIDTH), Counter()
    near, known = ask(0, 40)
    distinct = {(int(r), known[i].tobytes()) for i in range(40) for r in near[i]}
    remembered.of(near, known, counter)
    remembered.of(near[::-1], known[::-1], counter)
    assert counter.pairs == len(distinct) == len(remembered)


def test_without_room_the_first_pairs_are_kept():
    remembered, counter = RememberedLosses(REFERENCES, WIDTH, most=5), Counter()
    near, known = ask(0, 1)
    remembered.of(near, known, counter)
    for seed in range(1, 9):
        remembered.of(*ask(seed, 20), counter)
    before = counter.pairs
    remembered.of(near, known, counter)
    assert counter.pairs == before
    assert len(remembered) == 5


def test_copied_policies_do_not_contain_what_they_remember():
    problem = make_problem(seed=1)
    policy = AACO(lambdas=(0.01,), subsets=4, masked_copies=4, passes=0).fit(problem).policies[0]
    rows = problem.validation.rows()
    answers = policy.decide(rows)
    assert len(policy.oracle._remembered)
    copy = pickle.loads(pickle.dumps(policy))
    assert not len(copy.oracle._remembered)
    again = copy.decide(rows)
    np.testing.assert_array_equal(again.probabilities, answers.probabilities)
    np.testing.assert_array_equal(again.acquired, answers.acquired)
