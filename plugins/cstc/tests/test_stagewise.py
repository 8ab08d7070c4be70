"""Stage-wise regression: prefixes, bills, and refused input."""

from itertools import pairwise

import numpy as np
import pytest
from bench_cstc.baselines.stagewise import Stagewise
from bench_models.columns import Boosting, boost
from bench_models.linear import ConstantPolicy
from bench_models.sums import Additive, kept_prefixes
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_case


def problem_of(X, y, task="regression", prices=None, **others):
    part = Part(np.asarray(X, dtype=float), np.asarray(y))
    columns = part.X.shape[1]
    fields = {
        "train": part,
        "validation": part,
        "costs": Costs(np.ones(columns) if prices is None else np.asarray(prices, dtype=float)),
        "task": task,
        "n_classes": 0 if task in ("regression", "ranking") else int(np.max(y)) + 1,
        "feature_names": tuple(f"x{i}" for i in range(columns)),
        "feature_of_column": np.arange(columns),
    }
    return Problem(**{**fields, **others})


def by_label(family):
    return {policy.label: policy for policy in family.policies}


def smooth(rows, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, -1]) + 0.1 * rng.normal(size=rows)


def test_every_prefix_predicts_what_lightgbm_predicts_after_so_many_iterations():
    X, y = smooth(400, 4, 0)
    problem = problem_of(X, y)
    family = Stagewise(n_estimators=20, max_depth=3, prefixes="all", learning_rate=0.3).fit(problem)
    reference = boost(problem, y, Boosting(20, 3, 0.3, 0.0), np.ones(len(y)))
    new = np.random.default_rng(1).normal(size=(50, 4))
    policies = by_label(family)
    for k in range(1, 21):
        expected = reference.booster.predict(new, num_iteration=k) + y.mean()
        assert policies[f"trees={k}"].decide(Rows(new)).score == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 3))
def test_prefixes_are_friedmans_stagewise_regression(seed, depth):
    """Compared with scikit-learn's exact gradient boosting on training rows, where thresholds make no difference."""
    from sklearn.ensemble import GradientBoostingRegressor

    X, y = smooth(100, 3, seed)
    other = GradientBoostingRegressor(
        n_estimators=6, max_depth=depth, learning_rate=0.5, min_samples_leaf=5, random_state=0
    ).fit(X, y)
    policies = by_label(
        Stagewise(n_estimators=6, max_depth=depth, learning_rate=0.5, prefixes="all").fit(problem_of(X, y))
    )
    for k, expected in enumerate(other.staged_predict(X), 1):
        assert policies[f"trees={k}"].decide(Rows(X)).score == pytest.approx(expected, abs=1e-4)


def test_the_bill_is_for_the_distinct_features_of_the_trees_run():
    X, y = smooth(300, 6, 2)
    groups = Costs(np.array([1.0, 0.5, 2.0, 0.0, 0.0, 3.0]), np.array([-1, -1, 0, 0, 1, 1]), np.array([5.0, 7.0]))
    problem = problem_of(X, y, costs=groups)
    policies = by_label(Stagewise(n_estimators=12, max_depth=2, prefixes="all", evaluation=0.25).fit(problem))
    table = boost(problem, y, Boosting(12, 2, 0.1, 0.0)).booster.trees_to_dataframe()
    group_price = {-1: 0.0, 0: 5.0, 1: 7.0}
    for k in range(1, 13):
        names = set(table[table.tree_index < k].split_feature.dropna())
        features = {int(name.removeprefix("Column_")) for name in names}
        price = sum(float(groups.prices[f, 0]) for f in features)
        price += sum(group_price[g] for g in {int(groups.groups[f]) for f in features})
        decisions = policies[f"trees={k}"].decide(Rows(X[:7]))
        assert groups.bill(decisions.acquired, None) == pytest.approx(np.full(7, price))
        assert decisions.evaluation_cost.tolist() == [0.25 * k] * 7
        assert decisions.evaluations.tolist() == [k] * 7
        assert policies[f"trees={k}"].details["features"] == len(features)


def test_several_classes_have_a_boosting_each_and_share_what_is_acquired():
    case = make_case("multiclass", rows=600)
    family = Stagewise(n_estimators=4, learning_rate=0.5, prefixes="all").fit(case.problem)
    policy = by_label(family)["trees=3"]
    decisions = policy.decide(case.rows)
    assert len(policy.sums) == 3
    assert decisions.evaluations.tolist() == [9.0] * len(case.rows)
    union = np.any([one.used[3] for one in policy.sums], axis=0)
    assert (decisions.acquired == union).all()
    assert (decisions.probabilities.argmax(axis=1) == case.y).mean() > 0.6


def test_trees_are_the_columns_of_a_cost_sensitive_tree():
    X, y = smooth(200, 3, 5)
    problem = problem_of(X, (y > 0).astype(np.int64), "binary")
    policy = by_label(Stagewise(n_estimators=5, prefixes=(5,)).fit(problem))["trees=5"]
    columns = boost(problem, np.where(y > 0, 1.0, -1.0), Boosting(5, 4, 0.1, 0.0))
    total = columns.base + columns.values(X).sum(axis=1)
    assert policy.decide(Rows(X)).score == pytest.approx(total, abs=1e-12)


@settings(deadline=None)
@given(rounds=st.integers(1, 400))
def test_geometric_prefixes_double_and_end_with_all(rounds):
    kept = kept_prefixes("geometric", rounds)
    assert kept[0] == 1
    assert kept[-1] == rounds
    assert all(b <= 2 * a and a < b for a, b in pairwise(kept))


def test_prefixes_are_limited_to_the_number_of_trees():
    assert kept_prefixes((3, 50, 70), 60) == [3, 50, 60]
    assert kept_prefixes("all", 4) == [1, 2, 3, 4]
    assert kept_prefixes("geometric", 0) == []


def test_running_sums_do_not_depend_on_the_other_prefixes():
    X, y = smooth(150, 3, 7)
    sums = Additive.of(boost(problem_of(X, y), y, Boosting(9, 3, 0.2, 1.0)), 3)
    complete = sums.partial(X, range(10))
    assert (complete[:, 0] == y.mean()).all()
    for t in range(10):
        assert (sums.partial(X[3:40], [t])[:, 0] == complete[3:40, t]).all()
    assert sums.partial(X[:0], [2, 5]).shape == (0, 2)


def test_constant_features_leave_the_constant_prediction():
    y = np.arange(30.0)
    family = Stagewise(n_estimators=3).fit(problem_of(np.ones((30, 2)), y))
    for policy in family.policies:
        decisions = policy.decide(Rows(np.ones((2, 2))))
        assert decisions.score == pytest.approx([14.5, 14.5])
        assert not decisions.acquired.any()


def test_one_class_gives_its_frequency():
    X, _ = smooth(40, 2, 0)
    problem = problem_of(X, np.ones(40, dtype=np.int64), "binary", n_classes=2)
    (policy,) = Stagewise(n_estimators=3, include_empty_policy=False).fit(problem).policies
    assert isinstance(policy, ConstantPolicy)
    assert policy.decide(Rows(X[:1])).probabilities.tolist() == [[0.0, 1.0]]


def test_a_weighted_positive_class_is_predicted_more_often():
    X, y = smooth(300, 3, 3)
    skewed = problem_of(X, (y > 1).astype(np.int64), "binary")
    plain = by_label(Stagewise(n_estimators=10, prefixes=(10,)).fit(skewed))["trees=10"]
    heavy = by_label(Stagewise(n_estimators=10, prefixes=(10,), positive_weight="balanced").fit(skewed))["trees=10"]
    assert heavy.decide(Rows(X)).score.mean() > plain.decide(Rows(X)).score.mean() + 0.1


def test_labels_that_are_not_numbers_are_refused():
    X, _ = smooth(4, 2, 0)
    with pytest.raises(ValueError, match="must be numbers"):
        Stagewise(n_estimators=2).fit(problem_of(X, np.array(["a", "b", "c", "d"])))
    with pytest.raises(ValueError, match="finite: 1 are not"):
        Stagewise(n_estimators=2).fit(problem_of(X, np.array([1.0, 2.0, np.nan, 0.0])))


def test_class_weights_need_classes():
    X, y = smooth(30, 2, 0)
    with pytest.raises(ValueError, match="positive_weight is for classes and rankings"):
        Stagewise(n_estimators=2, positive_weight=2.0).fit(problem_of(X, y))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1 to"),
        ({"max_depth": 13}, "max_depth must be a whole number from 1 to 12"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ({"learning_rate": float("inf")}, "learning_rate: must be a finite number, not inf"),
        ({"evaluation": -1.0}, "evaluation must be a number of at least 0 or 'scheme', not -1.0"),
        ({"positive_weight": 0.0}, "positive_weight must be a number above 0 or 'balanced', not 0.0"),
        ({"prefixes": ()}, "prefixes must be .* a list of at least 1 item"),
        ({"prefixes": (3, 0)}, r"prefixes\[1\] must be a whole number of at least 1, not 0"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        Stagewise(**wrong)
