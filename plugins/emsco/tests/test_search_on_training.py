"""A search on the training part decides each half by classifiers of the other, and uses no validation label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco
from bench_emsco.prepare import prepare, searchable
from bench_emsco.subset_cache import SubsetCache
from bench_models.folds import folds
from bench_models.subsets.sets import pack_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from bench_core import Costs, Method, Problem, Rows


def out_of_fold(given_problem: Problem, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Probability and label of scikit-learn's most probable class for each training row, by classifiers of its other
    fold, in the order of the folds."""
    train = given_problem.train
    probability, label = [], []
    for held in folds(given_problem, 2):
        rest = np.setdiff1d(np.arange(len(train)), held)
        model = LogisticRegression(tol=1e-10, max_iter=10_000).fit(train.X[np.ix_(rest, columns)], train.y[rest])
        answers = model.predict_proba(train.X[np.ix_(held, columns)])
        probability.append(answers.max(axis=1))
        label.append(model.classes_[answers.argmax(axis=1)])
    return np.concatenate(probability), np.concatenate(label)


@pytest.mark.parametrize("classes", [2, 3])
def test_each_half_is_decided_by_classifiers_of_the_other(problem: Callable[..., Problem], classes: int) -> None:
    given_problem = problem(classes=classes)
    cache = prepare(given_problem, 1.0, "emsco", "training").cache
    assert cache.n_rows == 80
    y = given_problem.train.y[np.concatenate(folds(given_problem, 2))]
    for index, mask in zip(cache.indices(np.arange(1, 16)), range(1, 16), strict=True):
        probability, label = out_of_fold(given_problem, [f for f in range(4) if mask >> f & 1])
        confident = probability >= 0.7
        assert (cache.confident[index] == pack_rows(confident)[0]).all()
        assert (cache.right[index] == pack_rows(confident & (label == y))[0]).all()


@pytest.mark.parametrize("method", [Emsco(population=30, max_iter=8, search="training"), Exhaustive(search="training")])
@given(seed=st.integers(0, 30))
@settings(max_examples=6, deadline=None)
def test_validation_labels_do_not_change_what_is_found(
    problem: Callable[..., Problem], method: Method, seed: int
) -> None:
    given_problem = problem(rows=60, seed=seed)
    other = replace(given_problem, validation=replace(given_problem.validation, y=1 - given_problem.validation.y))
    families = method.fit(given_problem), method.fit(other)
    assert [p.details for p in families[0].policies] == [p.details for p in families[1].policies]
    searching_there = replace(method, search="validation")
    found = [[p.details for p in searching_there.fit(one).policies] for one in (given_problem, other)]
    assert found[0] != found[1]


def test_policies_answer_by_classifiers_of_the_whole_training_part(problem: Callable[..., Problem]) -> None:
    given_problem = problem(rows=100)
    used = 0
    for policy in Exhaustive(k=1, search="training").fit(given_problem).policies:
        rows = Rows(given_problem.validation.X)
        columns = np.flatnonzero(policy.decide(rows).acquired[0])
        if not len(columns):
            continue
        model = LogisticRegression(tol=1e-10, max_iter=10_000)
        model.fit(given_problem.train.X[:, columns], given_problem.train.y)
        expected = model.predict_proba(given_problem.validation.X[:, columns])
        assert policy.decide(rows).probabilities == pytest.approx(expected, abs=1e-6)
        used += 1
    assert used


def test_the_prices_are_those_of_the_training_items(problem: Callable[..., Problem]) -> None:
    given_problem = problem()
    sized = replace(
        given_problem,
        costs=Costs(np.array([[1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])),
        train=replace(given_problem.train, sizes=np.full(80, 1.0)),
        validation=replace(given_problem.validation, sizes=np.full(80, 10.0)),
    )
    for rows, price in (("training", 2.0), ("validation", 11.0)):
        search = prepare(sized, 1.0, "emsco", rows)
        assert search.prices.in_price(search.prices.costs_of(np.array([1], dtype=np.uint64))) == pytest.approx(price)


def test_a_class_with_a_single_row_leaves_nothing_to_search(problem: Callable[..., Problem]) -> None:
    rare = problem()
    y = np.zeros(80, dtype=np.int64)
    y[7] = 1
    rare = replace(rare, train=replace(rare.train, y=y))
    assert searchable(rare, "validation")
    assert not searchable(rare, "training")
    family = Emsco(search="training").fit(rare)
    assert len(family.policies) == 1
    assert family.diagnostics == {"constant": True}


def test_a_label_that_only_one_half_has_is_never_right_in_it(problem: Callable[..., Problem]) -> None:
    given_problem = problem(classes=3)
    y = given_problem.train.y % 2
    y[11] = 2
    rare = replace(given_problem, train=replace(given_problem.train, y=y))
    cache = prepare(rare, 1.0, "emsco", "training").cache
    place = int(np.flatnonzero(np.concatenate(folds(rare, 2)) == 11)[0])
    right = cache.right[cache.indices(np.arange(16))]
    assert not (right[:, place // 64] >> np.uint64(place % 64) & np.uint64(1)).any()


def test_caches_that_differ_cannot_be_joined(problem: Callable[..., Problem]) -> None:
    given_problem = problem()
    train = given_problem.train
    one, other = (SubsetCache(train.X, train.y, train.X, train.y, 2, p) for p in (0.7, 0.8))
    asked = SubsetCache(train.X, train.y, train.X, train.y, 2, 0.7)
    asked.indices([3])
    for caches in ([], [one, other], [one, asked], [asked, one]):
        with pytest.raises(ValueError, match="join"):
            SubsetCache.joined(caches)
