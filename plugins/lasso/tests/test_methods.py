"""``cact-lasso`` and ``lasso``: the family, its default policy, and the features that policies acquire."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_lasso.plugin import CaCTLasso, Lasso
from bench_lasso.policies import LinearPolicy
from bench_models.linear import ClassModel
from numpy.typing import NDArray

from bench_core import Costs, Family, Part, Policy, Problem, RequestError, Rows, build

MakeProblem = Callable[..., Problem]


def table_of(policy: Policy, X: NDArray[np.float64]) -> NDArray[np.float64]:
    probabilities = policy.decide(Rows(X)).probabilities
    assert probabilities is not None
    return probabilities


def scores_of(policy: Policy, X: NDArray[np.float64]) -> NDArray[np.float64]:
    score = policy.decide(Rows(X)).score
    assert score is not None
    return score


def by_hand(policy: Policy, problem: Problem) -> float:
    """g1 + g2 + (1 − g3*/Σc) of EMSCO §2.2 and Fig. 12, computed row by row."""
    prices = problem.costs.prices[:, 0]
    part = problem.validation
    decisions = policy.decide(Rows(part.X))
    conclusive = right = 0
    paid = 0.0
    assert decisions.probabilities is not None
    for shares, acquired, label in zip(decisions.probabilities, decisions.acquired, part.y, strict=True):
        paid += prices[acquired].sum()
        if problem.threshold is None or shares.max() >= problem.threshold:
            conclusive += 1
            right += int(shares.argmax() == label)
    accuracy = right / conclusive if conclusive else 0.0
    return float(conclusive / len(part) + accuracy + 1 - paid / len(part) / prices.sum())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("threshold", [None, 0.6, 0.9])
def test_the_first_policy_is_the_best_on_validation(
    make_problem: MakeProblem, n_classes: int, threshold: float | None
) -> None:
    problem = make_problem(n_classes, rows=300, features=8, threshold=threshold)
    family = CaCTLasso(scale="sum", highest=60.0, step=1.0).fit(problem)
    values = [by_hand(policy, problem) for policy in family.policies]
    assert len(values) > 10
    assert values[0] == pytest.approx(max(values), abs=1e-12)
    assert max(family.history["validation_combined"]) == pytest.approx(values[0], abs=1e-12)


def test_the_family_covers_the_papers_grid(make_problem: MakeProblem) -> None:
    grid = CaCTLasso().grid()
    assert len(grid) == 1001
    assert grid[:4] == [0.0, 0.1, 0.2, 0.3]
    assert grid[-1] == 100.0
    family = CaCTLasso().fit(make_problem(2))
    assert sum(policy.details["stands_for"] for policy in family.policies) == 1001
    assert family.diagnostics["lambdas"] == 1001
    below = sum(penalty < family.diagnostics["lambda_max"] for penalty in grid)
    assert len(family.policies) == below + 1


def test_the_sum_scale_is_the_mean_scale_times_the_rows(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    rows = len(problem.train)
    mean = CaCTLasso(scale="mean", highest=0.2, step=0.1).fit(problem)
    total = CaCTLasso(scale="sum", highest=0.2 * rows, step=0.1 * rows).fit(problem)
    for a, b in zip(mean.policies, total.policies, strict=True):
        assert b.details["lambda"] == pytest.approx(a.details["lambda"] * rows)
        X = problem.validation.X
        assert (a.decide(Rows(X)).acquired == b.decide(Rows(X)).acquired).all()
        np.testing.assert_allclose(table_of(a, X), table_of(b, X), atol=1e-9)


def test_without_the_empty_policy_every_policy_reads_something(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    with_it = CaCTLasso().fit(problem)
    without = CaCTLasso(include_empty_policy=False).fit(problem)
    assert min(policy.details["features"] for policy in with_it.policies) == 0
    assert min(policy.details["features"] for policy in without.policies) > 0
    constant = replace(problem, train=Part(np.zeros((100, 5)), problem.train.y))
    assert [policy.details["features"] for policy in CaCTLasso(include_empty_policy=False).fit(constant).policies] == [
        0
    ]


def test_features_with_a_nonzero_coefficient_are_acquired_and_no_others(make_problem: MakeProblem) -> None:
    problem = make_problem(
        3,
        features=6,
        feature_names=("a", "b", "c"),
        feature_of_column=np.array([0, 0, 1, 1, 2, 2]),
        costs=Costs(np.array([1.0, 2.0, 4.0])),
    )
    for policy in CaCTLasso(scale="sum", highest=30.0, step=0.5).fit(problem).policies:
        assert isinstance(policy, LinearPolicy)
        decisions = policy.decide(Rows(problem.validation.X)).checked(50, 3, 3)
        read = {int(column) // 2 for column in policy.model.columns}
        assert (policy.model.coef != 0).any(axis=0).all()
        assert (decisions.acquired == np.isin(np.arange(3), list(read))).all()


@pytest.mark.slow
def test_a_rows_decision_is_the_same_bits_in_any_batch(make_problem: MakeProblem) -> None:
    for problem in (make_problem(2), make_problem(3)):
        X = problem.validation.X
        for policy in CaCTLasso().fit(problem).policies:
            together = table_of(policy, X)
            for i in range(len(X)):
                assert (table_of(policy, X[i : i + 1]) == together[i]).all()
            assert policy.decide(Rows(X[:0])).checked(0, 5, problem.n_classes).acquired.shape == (0, 5)


def best_first(family: Family, values: list[float], better: Callable[[list[float]], float]) -> bool:
    return values[0] == pytest.approx(better(values), abs=1e-12)


def test_lasso_puts_the_least_squared_error_first(make_problem: MakeProblem) -> None:
    problem = make_problem(0, features=12)
    family = Lasso().fit(problem)
    y: NDArray[np.float64] = problem.validation.y
    values = [float(np.mean((scores_of(p, problem.validation.X) - y) ** 2)) for p in family.policies]
    assert len(values) == 50
    assert best_first(family, values, min)
    sizes = [policy.details["features"] for policy in family.policies]
    assert min(sizes) == 0
    assert max(sizes) == 12


def test_lasso_puts_the_least_log_loss_first(make_problem: MakeProblem) -> None:
    problem = make_problem(3)
    family = Lasso(lambdas=(0.0, 0.01, 0.05, 3.0)).fit(problem)
    y = problem.validation.y
    tables = [table_of(policy, problem.validation.X) for policy in family.policies]
    values = [float(-np.mean([np.log(t[i, y[i]]) for i in range(len(y))])) for t in tables]
    assert best_first(family, values, min)
    assert sorted(policy.details["lambda"] for policy in family.policies) == [0.0, 0.01, 0.05, 3.0]


def test_missing_values_name_the_feature(make_problem: MakeProblem) -> None:
    for method, n_classes in ((CaCTLasso(), 2), (Lasso(), 0), (Lasso(), 3)):
        problem = make_problem(n_classes)
        X = np.array(problem.train.X)
        X[0, 2] = np.nan
        with pytest.raises(ValueError, match=r"'f2' hold NaN; choose an encoding that imputes"):
            method.fit(replace(problem, train=Part(X, problem.train.y)))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"step": 0.0}, "step must be a number above 0, not 0.0"),
        ({"highest": 0.05}, "step must not be above highest, 0.05, not 0.1"),
        ({"ridge": -1.0}, "ridge must be a number above 0, not -1.0"),
        ({"scale": "median"}, "scale"),
        ({"lambda": 1.0}, "there is no parameter 'lambda'"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(parameters: dict[str, float], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        build(CaCTLasso, parameters, "here")


def test_a_list_of_lambdas_comes_from_toml() -> None:
    assert build(Lasso, {"lambdas": [0, 0.5]}, "here") == Lasso(lambdas=(0.0, 0.5))
    with pytest.raises(RequestError, match=r"lambdas.* must be a number of at least 0, not -1.0"):
        build(Lasso, {"lambdas": [-1.0]}, "here")


def test_importing_stays_light() -> None:
    code = "import bench_lasso.plugin, sys; sys.exit(any(m in sys.modules for m in ('sklearn', 'numba')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("intercept", [(0.3, 0.1 + 0.2, 0.0), (0.1 + 0.2, 0.3, 0.0)])
def test_of_classes_that_are_equally_probable_but_for_rounding_the_first_is_answered(
    intercept: tuple[float, ...],
) -> None:
    X = np.linspace(-2, 2, 41)[:, None]
    slope = np.array([[0.7], [0.7], [-0.2]])
    model = ClassModel(np.array([0]), slope, np.array(intercept), np.arange(3), 3, ("f",))
    table = table_of(LinearPolicy(1, (0,), model), X)
    assert (table[:, 0] == table[:, 1]).all()
    assert set(table.argmax(axis=1).tolist()) == {0, 2}
    np.testing.assert_allclose(table, model.probabilities(X), atol=1e-12)
