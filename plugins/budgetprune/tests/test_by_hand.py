"""Numbers computed by hand or by another program: uses of a feature, and prices by weight."""

from __future__ import annotations

import numpy as np
import pytest
from bench_budgetprune.costs import SvmWeights
from bench_budgetprune.method import BudgetPrune
from sklearn.svm import LinearSVC

from bench_core import Costs, Dataset, Part, Problem


@pytest.mark.parametrize(("trees", "few", "many"), [(1, 0.5, 0.0), (7, 0.5, 0.0), (8, 0.0, 0.5)])
def test_seven_uses_of_a_feature_are_few_and_eight_are_many(trees: int, few: float, many: float) -> None:
    """The first of two features determines the class: every tree tests it once, and the second never."""
    X = np.column_stack([np.repeat([-1.0, 1.0], 20), np.zeros(40)])
    part = Part(X, np.repeat([0, 1], 20))
    problem = Problem(
        train=part,
        validation=part,
        costs=Costs(np.ones(2)),
        task="binary",
        n_classes=2,
        feature_names=("informative", "constant"),
        feature_of_column=np.arange(2),
    )
    (policy,) = BudgetPrune(n_estimators=trees, lambdas=[0.0]).fit(problem).policies
    shares = [policy.details[f"usage_{name}"] for name in ("none", "few", "many")]
    assert shares == pytest.approx([0.5, few, many])


def test_with_three_classes_a_price_is_the_largest_of_the_weights_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 40)
    X = rng.normal(size=(120, 4))
    X[:, 0] += 3.0 * (y == 0)
    X[:, 1] += 2.0 * (y == 1)
    X[:, 2] += 4.0 * (y == 2)
    dataset = Dataset("three", "multiclass", X, ("a", "b", "c", "d"), y, ("x", "y", "z"))
    found = SvmWeights(C=10.0).price(dataset, np.arange(120), 0).prices[:, 0]
    unit = X / np.sqrt((X * X).sum(axis=0))
    weights = np.array([LinearSVC(C=10.0, dual=False).fit(unit, y == k).coef_[0] for k in range(3)])
    largest = np.maximum(np.round(np.abs(weights).max(axis=0)), 1.0)
    assert found == pytest.approx(largest / largest.mean())
    mean = np.maximum(np.round(np.abs(weights).mean(axis=0)), 1.0)
    assert found != pytest.approx(mean / mean.mean())
