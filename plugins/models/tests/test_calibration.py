"""Platt's sigmoid and one-vs-rest; the policy that reads nothing."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bench_models.linear import ConstantPolicy, Platt, combine, fit_platt
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bench_core import Part, Rows


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_platts_sigmoid_maximises_the_smoothed_likelihood(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(3.0, 2.0, 50)
    positive = scores + rng.normal(0, 2.0, 50) > 3.5
    up, down = positive.sum(), (~positive).sum()
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(ab):
        u = ab[0] * scores + ab[1]
        return float((np.logaddexp(0, u) - target * u).sum())

    best = minimize(loss, [0.1, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun
    found = fit_platt(scores, positive)
    assert found.slope >= 0
    assert loss([found.slope, found.shift]) <= best + 1e-6 or found.slope == 0


def test_uninformative_or_reversed_scores_get_the_share_of_positives():
    positive = np.array([True, False, False, True, False])
    share = (2 + 1) / (5 + 2)
    for scores in (np.zeros(5), np.where(positive, -1.0, 1.0)):
        sigmoid = fit_platt(scores, positive)
        assert sigmoid(np.array([3.0])) == pytest.approx(share)
    assert fit_platt(np.zeros(0), np.zeros(0, dtype=bool))(np.zeros(1)) == pytest.approx(0.5)


def test_one_vs_rest_is_normalised_and_absent_classes_get_probability_zero():
    table = combine([np.array([0.2, 0.0]), np.array([0.6, 0.0]), np.array([0.2, 0.0])], [0, 2, 3], 4)
    np.testing.assert_allclose(table, [[0.2, 0.0, 0.6, 0.2], [1 / 3, 0.0, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(combine([np.array([0.3])], [0, 2], 3), [[0.7, 0.0, 0.3]])


def test_a_sigmoid_does_not_overflow():
    assert Platt(1e9, 0.0)(np.array([-1e10, 1e10])).tolist() == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_constant_answers_the_training_average_and_reads_nothing(make_problem, n_classes):
    problem = make_problem(n_classes)
    decisions = pickle.loads(pickle.dumps(ConstantPolicy.learnt(problem))).decide(Rows(problem.validation.X))
    assert not decisions.acquired.any()
    if n_classes:
        shares = np.bincount(problem.train.y, minlength=n_classes) / len(problem.train)
        np.testing.assert_array_equal(decisions.probabilities, np.tile(shares, (len(problem.validation), 1)))
    else:
        np.testing.assert_array_equal(decisions.score, np.full(len(problem.validation), problem.train.y.mean()))


def test_a_constant_of_one_class_gives_it_probability_one(make_problem):
    problem = make_problem(3)
    only = replace(problem, train=Part(problem.train.X, np.full(len(problem.train), 1)))
    assert ConstantPolicy.learnt(only).probabilities == (0.0, 1.0, 0.0)
