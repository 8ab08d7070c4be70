"""The two methods on synthetic problems: policies attain the objectives that the search found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco
from bench_emsco.policy import MultiStagePolicy, Stage
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Family, Method, Part, Policy, Problem, Rows

Outcome = Callable[[Policy, Problem], tuple[int, int, float]]


def dominated(a: tuple[int, int, float], b: tuple[int, int, float]) -> bool:
    """Whether b dominates a: coverage and accuracy no less, cost no more, one of them better."""
    accuracy_a, accuracy_b = (p[1] / p[0] if p[0] else 0.0 for p in (a, b))
    no_worse = b[0] >= a[0] and accuracy_b >= accuracy_a and b[2] <= a[2] + 1e-9
    return no_worse and (b[0] > a[0] or accuracy_b > accuracy_a or b[2] < a[2] - 1e-9)


@given(st.integers(0, 50), st.integers(2, 3), st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_a_policy_attains_the_searchs_objectives_on_validation(
    problem: Callable[..., Problem], outcome: Outcome, seed: int, classes: int, n: int
) -> None:
    given_problem = problem(n=n, rows=60, classes=classes, seed=seed)
    family = Emsco(population=20, max_iter=5).fit(given_problem)
    for policy in family.policies:
        conclusive, right, cost = outcome(policy, given_problem)
        about = policy.details
        rows = len(given_problem.validation)
        assert about["g1"] == pytest.approx(conclusive / rows)
        assert about["g2"] == pytest.approx(right / conclusive if conclusive else 0.0)
        assert about["cost"] == pytest.approx(cost / rows)


@given(st.integers(0, 50), st.integers(2, 3), st.integers(1, 4), st.integers(1, 400_000))
@settings(max_examples=15, deadline=None)
def test_policies_attain_their_objectives_too_where_the_work_ended(
    problem: Callable[..., Problem], outcome: Outcome, seed: int, classes: int, k: int, work: int
) -> None:
    given_problem = problem(n=5, rows=60, classes=classes, seed=seed)
    family = Exhaustive(k=k, max_work=work).fit(given_problem)
    for policy in family.policies:
        about = policy.details
        assert outcome(policy, given_problem) == (
            about["conclusive"],
            about["correct"],
            pytest.approx(60 * about["cost"]),
        )
    complete = Exhaustive(k=k).fit(given_problem)
    front = [outcome(policy, given_problem) for policy in complete.policies]
    assert "subsets_left_out" not in complete.diagnostics
    if "subsets_left_out" in family.diagnostics:
        found = [outcome(policy, given_problem) for policy in family.policies]
        assert all(one in front or any(dominated(one, best) for best in front) for one in found)
    evolved = Emsco(population=20, max_iter=5, max_work=work).fit(given_problem)
    for policy in evolved.policies:
        conclusive, _, cost = outcome(policy, given_problem)
        assert policy.details["g1"] == pytest.approx(conclusive / 60)
        assert policy.details["cost"] == pytest.approx(cost / 60)


@given(st.integers(0, 50), st.integers(2, 3))
@settings(max_examples=10, deadline=None)
def test_no_evolved_policy_beats_the_exhaustive_front_and_none_of_the_front_beats_another(
    problem: Callable[..., Problem], outcome: Outcome, seed: int, classes: int
) -> None:
    given_problem = problem(n=5, rows=60, classes=classes, seed=seed)
    front = [outcome(policy, given_problem) for policy in Exhaustive(k=3).fit(given_problem).policies]
    assert len(set(front)) == len(front)
    assert not any(dominated(a, b) for a in front for b in front)
    found = [outcome(p, given_problem) for p in Emsco(k=3, population=20, max_iter=4).fit(given_problem).policies]
    for point in found:
        assert any(dominated(point, b) or np.allclose(point, b) for b in front)


def test_the_history_counts_generations_and_members_of_the_front(problem: Callable[..., Problem]) -> None:
    given_problem = problem(n=5)
    family = Emsco(k=3, population=30, max_iter=12, patience=0, runs=4, exact_front=True).fit(given_problem)
    exact = Exhaustive(k=3).fit(given_problem)
    assert family.diagnostics["front_points"] == exact.diagnostics["front_points"] == len(exact.policies)
    assert family.diagnostics["front_chromosomes"] == exact.diagnostics["front_chromosomes"]
    for name in ("elite_size", "front_members", "front_members_margin", "front_point_share"):
        assert len(family.history[name]) == 13
    share = np.asarray(family.history["front_point_share"])
    assert (np.diff(share) >= 0).all()
    assert share[-1] <= 1
    assert share[-1] > share[0]


def test_runs_after_the_first_change_the_history_only(problem: Callable[..., Problem]) -> None:
    given_problem = problem(n=6)
    one, three = (Emsco(population=20, max_iter=6, runs=runs).fit(given_problem) for runs in (1, 3))
    assert [p.details for p in one.policies] == [p.details for p in three.policies]
    assert list(one.history["best_norm"]) != list(three.history["best_norm"])


def test_seeds_differ_and_repeat(problem: Callable[..., Problem]) -> None:
    given_problem = problem(n=8)
    method = Emsco(population=20, max_iter=3)

    def chromosomes(of: Problem) -> list[list[int]]:
        return [policy.details["chromosome"] for policy in method.fit(of).policies]

    assert chromosomes(given_problem) == chromosomes(given_problem)
    assert chromosomes(given_problem) == chromosomes(replace(given_problem, threads=2))
    assert chromosomes(given_problem) != chromosomes(replace(given_problem, seed=1))


def test_groups_are_paid_once_in_the_search_too(problem: Callable[..., Problem], outcome: Outcome) -> None:
    base = problem()
    costs = Costs(np.zeros(4), np.array([0, 0, 1, -1]), np.array([5.0, 2.0]))
    given_problem = replace(base, costs=costs)
    for policy in Exhaustive(k=4).fit(given_problem).policies:
        rows = len(given_problem.validation)
        assert policy.details["cost"] == pytest.approx(outcome(policy, given_problem)[2] / rows)


def test_a_label_missing_from_training_is_never_right(problem: Callable[..., Problem], outcome: Outcome) -> None:
    base = problem(n=6, classes=3)
    y = np.where(base.train.y == 2, 0, base.train.y)
    given_problem = replace(base, train=Part(base.train.X, y))
    family = Emsco(population=20, max_iter=4).fit(given_problem)
    for policy in family.policies:
        assert policy.details["cost"] == pytest.approx(outcome(policy, given_problem)[2] / 80)
        probabilities = policy.decide(Rows(base.validation.X)).probabilities
        assert probabilities is not None
        assert (probabilities[:, 2] == 0).all()


def test_one_class_in_training_is_a_constant_and_costs_nothing(problem: Callable[..., Problem]) -> None:
    base = problem(n=6)
    given_problem = replace(base, train=Part(base.train.X, np.ones(80, dtype=np.int64)))
    for method in (Emsco(), Exhaustive()):
        fitted = method.fit(given_problem)
        assert isinstance(fitted, Family)
        decided = fitted.policies[0].decide(Rows(base.validation.X))
        assert decided.probabilities is not None
        assert (decided.probabilities[:, 1] == 1).all()
        assert not decided.acquired.any()


def test_wrong_parameters_and_problems_are_refused(problem: Callable[..., Problem]) -> None:
    for name, value in [("k", -1), ("population", 1), ("mutation_rate", 1.5), ("elitism", 1.0), ("C", 0.0)]:
        with pytest.raises(ValueError, match=name):
            Emsco(**{name: value})  # type: ignore[arg-type]
    holed = problem(n=6)
    X = np.array(holed.train.X)
    X[3, 2] = np.nan
    holed = replace(holed, train=replace(holed.train, X=X))
    with pytest.raises(ValueError, match="feature 'f2' has missing values"):
        Emsco().fit(holed)
    with pytest.raises(ValueError, match="at most 20 features"):
        Exhaustive().fit(problem(n=21))
    with pytest.raises(ValueError, match="lower k"):
        Exhaustive(k=4, most_solutions=100).fit(problem(n=6))
    with pytest.raises(ValueError, match="at most 20 features"):
        Emsco(exact_front=True, max_iter=1).fit(problem(n=100))


@pytest.mark.parametrize("method", [Emsco(population=20, max_iter=4), Exhaustive(k=2)])
def test_without_a_threshold_the_family_is_of_nine_and_shares_the_classifiers(
    problem: Callable[..., Problem], outcome: Outcome, method: Method
) -> None:
    base = replace(problem(n=5, prices=np.array([1.0, 2.0, 4.0, 8.0, 16.0])), threshold=None)
    swept = method.fit(base)
    assert isinstance(swept, Family)
    assert swept.diagnostics["thresholds"] == pytest.approx([0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95])
    costs = [outcome(policy, replace(base, threshold=0.5))[2] for policy in swept.policies]
    assert len(costs) <= 40
    assert costs[1:] == sorted(costs[1:])
    # Each policy is one that its threshold gives alone, and the cheapest is cheaper than any at 0.9.
    alone = {}
    for policy in swept.policies:
        p = policy.details["threshold"]
        if p not in alone:
            alone[p] = [other.details["chromosome"] for other in method.fit(replace(base, threshold=p)).policies]
        assert policy.details["chromosome"] in alone[p]
    at_90 = method.fit(replace(base, threshold=0.9)).policies
    assert min(costs) < min(outcome(policy, replace(base, threshold=0.5))[2] for policy in at_90)


def test_a_row_at_the_threshold_leaves() -> None:
    # The first stage gives every row exactly 1/2: a coefficient of 0 for its feature, no intercept.
    even, sure = np.array([[0.0, 0.0]]), np.array([[0.0, 0.0, 5.0]])
    stages = [
        Stage(np.array([True, False]), np.array([0]), even),
        Stage(np.array([True, True]), np.array([0, 1]), sure),
    ]
    rows = Rows(np.array([[1.0, 1.0], [2.0, -1.0]]))
    for threshold, stage in ((0.5, 1), (0.5 + 1e-12, 2)):
        decided = MultiStagePolicy(stages, np.array([0, 1]), 2, threshold).decide(rows)
        assert decided.stage is not None
        assert decided.stage.tolist() == [stage, stage]
