"""Sigmoids are fitted on the scores of rows that were left out when their model was learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_models.answers import several_outputs
from bench_models.folds import folds
from bench_models.linear import fit_platt

from bench_core import Part
from bench_core.testing import make_problem


def problem_with(labels: list[int]):
    """A problem whose only column numbers its training rows."""
    y = np.array(labels)
    X = np.arange(len(y), dtype=np.float64)[:, None]
    return replace(make_problem("multiclass"), train=Part(X, y), n_classes=3, seed=1)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_row_is_scored_once_by_a_model_that_has_not_seen_it(classes: int) -> None:
    rng = np.random.default_rng(0)
    problem = problem_with(rng.integers(0, classes, 60).tolist())
    outputs = several_outputs(problem, 1.0)
    noise = rng.normal(size=(2, len(problem.train)))

    def learn(part, target):
        seen = part.train.X[:, 0]
        np.testing.assert_array_equal(target.y > 0, part.train.y == target.positive)

        def score(rows):
            assert not set(rows.X[:, 0]) & set(seen)
            return target.positive + noise[:, rows.X[:, 0].astype(int)] + (rows.y == target.positive)

        return score

    answers = outputs.answers(problem, 2, learn)
    assert len(answers) == 2
    for policy, answer in enumerate(answers):
        for target, sigmoid in zip(outputs.targets, answer.sigmoids, strict=True):
            positive = problem.train.y == target.positive
            assert sigmoid == fit_platt(target.positive + noise[policy] + positive, positive)


def test_folds_without_which_a_class_is_missing_are_left_out() -> None:
    problem = problem_with([0, 0, 0, 0, 0, 0, 0, 1])
    outputs = several_outputs(problem, 1.0)
    (answer,) = outputs.answers(problem, 1, lambda part, target: lambda rows: rows.X.T)
    used = np.sort(np.concatenate([held for held in folds(problem, 3) if 7 not in held]))
    assert answer.sigmoids == (fit_platt(used.astype(np.float64), np.zeros(len(used), dtype=bool)),)


def test_without_any_fold_the_answer_is_the_class_frequency() -> None:
    problem = problem_with([0, 1])
    outputs = several_outputs(problem, 1.0)
    (answer,) = outputs.answers(problem, 1, lambda part, target: pytest.fail("there is nothing to learn"))
    decisions = answer([np.array([-5.0, 5.0])], np.zeros((2, problem.n_features), dtype=bool))
    np.testing.assert_allclose(decisions.probabilities, [[0.5, 0.5, 0.0]] * 2)


def test_scores_of_a_regression_are_not_converted() -> None:
    problem = make_problem("regression")
    answers = several_outputs(problem, 1.0).answers(problem, 3, lambda part, target: pytest.fail("not needed"))
    assert [answer.sigmoids for answer in answers] == [()] * 3
