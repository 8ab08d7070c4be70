"""Cost-complexity pruning, compared with scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_ccp.method import CostComplexityPruning
from bench_ccp.pruning import alpha_grid, prune, risk
from bench_models.forest import from_sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from bench_core import RequestError, Rows
from bench_core.testing import make_case, make_problem

X, Y = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_every_step_of_scikit_learns_path_is_found(criterion):
    tree = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, Y)
    forest = from_sklearn([tree])
    path = tree.cost_complexity_pruning_path(X, Y)
    risks = risk(forest, criterion)
    for alpha, impurity in zip(path.ccp_alphas, path.impurities, strict=True):
        opened = prune(forest, risks, alpha * (1 + 1e-9))
        assert risks[forest.leaves(opened)].sum() == pytest.approx(impurity, abs=1e-12)
    middles = [0.5 * (a + b) for a, b in pairwise(path.ccp_alphas)]
    for alpha in middles:
        pruned = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(X, Y)
        assert forest.leaves(prune(forest, risks, alpha)).sum() == pruned.get_n_leaves()


def test_the_grid_leads_from_unpruned_trees_to_their_roots():
    trees = [DecisionTreeClassifier(max_features=5, random_state=s).fit(X, Y) for s in range(4)]
    forest = from_sklearn(trees)
    risks = risk(forest, "gini")
    alphas = alpha_grid(forest, risks, 6)
    sizes = [int(forest.leaves(prune(forest, risks, alpha)).sum()) for alpha in alphas]
    assert sizes[0] == forest.leaves(prune(forest, risks, 0.0)).sum()
    assert sizes[-1] == 4
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) >= 4


def test_the_error_risk_sums_the_forests_training_errors():
    forest = from_sklearn([DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)])
    assert risk(forest, "error") == pytest.approx(forest.error * forest.trees)


@pytest.mark.parametrize(
    "bad", [{"alphas": [-1.0]}, {"alphas": [0.1, float("nan")]}, {"alphas": [float("inf")]}, {"count": 0}]
)
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=r"alphas|count"):
        CostComplexityPruning(**bad)


def test_regression_is_refused():
    with pytest.raises(RequestError, match="regression"):
        CostComplexityPruning(n_estimators=2).fit(make_problem("regression"))


@pytest.mark.parametrize("task", ["binary", "multiclass", "ranking"])
def test_prunings_are_nested_cheaper_and_err_more_as_alpha_grows(task):
    case = make_case(task)
    forest = CostComplexityPruning(n_estimators=6, risk="error").grow(case.problem)
    risks = risk(forest, "error")
    kept = [prune(forest, risks, alpha) for alpha in alpha_grid(forest, risks, 6)]
    assert len(kept) > 2
    for larger, smaller in pairwise(kept):
        assert forest.valid(larger)
        assert forest.valid(smaller)
        assert not (smaller & ~larger).any()
    policies = CostComplexityPruning(n_estimators=6, count=6, risk="error").fit(case.problem).policies
    bills = [case.problem.costs.bill(policy.decide(case.rows).acquired).mean() for policy in policies]
    errors = [policy.details["training_error"] for policy in policies]
    assert bills == sorted(bills, reverse=True)
    assert errors == sorted(errors)
    assert bills[0] > bills[-1] == 0


@pytest.mark.parametrize("risk_of", ["impurity", "error"])
def test_trees_of_a_single_node_are_left_as_they_are(risk_of):
    problem = make_problem("binary")
    one_class = replace(problem, train=replace(problem.train, y=np.ones_like(problem.train.y)))
    policies = CostComplexityPruning(n_estimators=3, risk=risk_of).fit(one_class).policies
    assert [policy.details["leaves"] for policy in policies] == [3]
    decided = policies[0].decide(Rows(problem.validation.X))
    assert not decided.acquired.any()
    assert (decided.probabilities[:, 1] == 1).all()


def test_given_alphas_are_the_family():
    family = CostComplexityPruning(n_estimators=3, alphas=[0.5, 0.0]).fit(make_problem("binary"))
    assert [p.details["alpha"] for p in family.policies] == [0.0, 0.5]
    leaves = [p.details["leaves"] for p in family.policies]
    assert leaves[0] > leaves[1]
    assert np.isfinite(leaves).all()


def test_policies_at_even_steps_of_cost_lead_from_the_forest_to_nothing() -> None:
    problem = make_case("multiclass").problem

    def bills(spacing: str) -> list[float]:
        forest = {"n_estimators": 10, "grower": "scikit-learn"}
        family = CostComplexityPruning(**forest, count=6, spacing=spacing).fit(problem)
        rows = problem.validation.rows()
        return [float(problem.costs.bill(policy.decide(rows).acquired).mean()) for policy in family.policies]

    even, plain = bills("cost"), bills("leaves")
    assert even[0] == plain[0]
    assert even == sorted(even, reverse=True)
    assert even[-1] == 0
    assert max(a - b for a, b in pairwise(even)) <= max(a - b for a, b in pairwise([*plain, 0.0]))
    assert min(a - b for a, b in pairwise(even)) > 5 * min(a - b for a, b in pairwise(plain))
