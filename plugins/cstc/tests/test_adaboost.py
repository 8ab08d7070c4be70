"""AdaBoost compared with plain implementations, and sampling on a budget."""

import math
from itertools import pairwise

import numpy as np
import pytest
from bench_cstc.baselines.adaboost import adaboost
from bench_cstc.baselines.adaboost_rs import AdaBoostRS, VotePolicy, prefix_within, sampling
from bench_models.linear import ConstantPolicy
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_case, make_problem


def problem_of(X, y, prices=None, **others):
    part = Part(np.asarray(X, dtype=float), np.asarray(y, dtype=np.int64))
    columns = part.X.shape[1]
    fields = {
        "train": part,
        "validation": part,
        "costs": Costs(np.ones(columns) if prices is None else np.asarray(prices, dtype=float)),
        "task": "binary",
        "n_classes": 2,
        "feature_names": tuple(f"x{i}" for i in range(columns)),
        "feature_of_column": np.arange(columns),
    }
    return Problem(**{**fields, **others})


def noisy(rows, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-30, 30, (rows, columns)) / 8.0 + np.arange(columns) / 64
    y = (X.sum(axis=1) + rng.normal(size=rows) * 4 > 0).astype(np.int64)
    y[:2] = 0, 1
    return X, y


def plain_adaboost(X, y, rounds):
    """Discrete AdaBoost with stumps of least weighted Gini impurity, in plain Python."""
    n = len(y)
    w = [1.0 / n] * n
    scores, alphas = [0.0] * n, []
    for _ in range(rounds):
        best = None
        for column in range(X.shape[1]):
            values = sorted(set(X[:, column].tolist()))
            for low, high in pairwise(values):
                cut = (low + high) / 2
                impurity, signs = 0.0, []
                for side in (True, False):
                    here = [i for i in range(n) if (X[i, column] <= cut) == side]
                    up = sum(w[i] for i in here if y[i] > 0)
                    down = sum(w[i] for i in here if y[i] < 0)
                    impurity += 2 * up * down / (up + down)
                    signs.append(1.0 if up > down else -1.0)
                if best is None or impurity < best[0] - 1e-12:
                    best = (impurity, column, cut, signs)
        _, column, cut, signs = best
        said = [signs[0] if X[i, column] <= cut else signs[1] for i in range(n)]
        error = sum(w[i] for i in range(n) if said[i] != y[i])
        if error >= 0.5:
            break
        alpha = 0.5 * math.log((1 - error) / error)
        alphas.append(alpha)
        scores = [s + alpha * h for s, h in zip(scores, said, strict=True)]
        w = [wi * math.exp(-alpha * yi * h) for wi, yi, h in zip(w, y, said, strict=True)]
        w = [wi / sum(w) for wi in w]
    return alphas, scores


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_with_stumps_it_is_plain_discrete_adaboost(seed):
    X, y = noisy(30, 3, seed)
    signs = np.where(y == 1, 1.0, -1.0)
    alphas, scores = plain_adaboost(X, signs.tolist(), 4)
    voters = adaboost(problem_of(X, y), signs, np.ones(30), 4, 1)
    if not _tied(X, signs):
        assert voters.alpha.tolist() == pytest.approx(alphas, rel=1e-6)
        mine = voters.votes(X, np.arange(len(voters.alpha))) @ voters.alpha
        assert mine == pytest.approx(scores, abs=1e-6)


def _tied(X, y):
    """Whether two stumps are equally good in some round, so that either may be chosen."""
    n = len(y)
    w = np.full(n, 1.0 / n)
    for _ in range(4):
        found = []
        for column in X.T:
            values = np.unique(column)
            for cut in (values[1:] + values[:-1]) / 2:
                left = column <= cut
                parts = [(w[s & (y > 0)].sum(), w[s & (y < 0)].sum()) for s in (left, ~left)]
                impurity = sum(2 * a * b / (a + b) for a, b in parts)
                said = np.where(left, *[1.0 if a > b else -1.0 for a, b in parts])
                found.append((impurity, said))
        found.sort(key=lambda pair: pair[0])
        if found[1][0] - found[0][0] < 1e-9:
            return True
        error = w[found[0][1] != y].sum()
        if not 0 < error < 0.5 - 1e-9:
            return True
        w = w * np.exp(-0.5 * np.log((1 - error) / error) * y * found[0][1])
        w /= w.sum()
    return False


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 4))
def test_with_deeper_trees_it_is_the_textbook_loop(seed, depth):
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)).astype(np.float32).astype(np.float64)
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(size=200) > 0, 1.0, -1.0)
    problem = problem_of(X, y > 0)
    start = rng.uniform(0.5, 2.0, 200)
    w, total, alphas = start / start.sum(), np.zeros(200), []
    for _ in range(5):
        state = int(problem.rng("adaboost").integers(2**31 - 1))
        tree = DecisionTreeClassifier(max_depth=depth, random_state=state).fit(X, y, sample_weight=w)
        wrong = tree.predict(X) != y
        error = w[wrong].sum()
        alphas.append(0.5 * np.log((1 - error) / error))
        total += alphas[-1] * tree.predict(X)
        w = np.where(wrong, w / (2 * error), w / (2 * (1 - error)))
    voters = adaboost(problem, y, start, 5, depth)
    assert voters.alpha.tolist() == pytest.approx(alphas)
    # On training rows, since two features that split a node in the same way are equally good.
    assert voters.votes(X, np.arange(5)) @ voters.alpha == pytest.approx(total)


def test_boosting_ends_at_a_tree_without_errors():
    X = np.arange(10.0)[:, None]
    voters = adaboost(problem_of(X, X[:, 0] > 4), np.where(X[:, 0] > 4, 1.0, -1.0), np.ones(10), 5, 1)
    assert len(voters.alpha) == 1
    assert voters.alpha[0] == pytest.approx(0.5 * math.log((1 - 1e-10) / 1e-10))


def test_without_a_tree_better_than_chance_class_frequencies_are_answered():
    X = np.zeros((10, 1))
    family = AdaBoostRS(n_estimators=5).fit(problem_of(X, [0, 1] * 5))
    assert isinstance(family.policies[0], ConstantPolicy)
    assert family.diagnostics["trees"] == 0


def test_trees_are_drawn_by_weight_over_price():
    chance, say = sampling(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 3.0]))
    assert chance == pytest.approx(np.array([1.0, 0.5, 1.0]) / 2.5)
    assert chance * say == pytest.approx([1.0, 2.0, 3.0])
    chance, say = sampling(np.array([1.0, 1.0]), np.array([0.0, 2.0]), "equal")
    assert chance.tolist() == [0.5, 0.5]
    assert say.tolist() == [1.0, 1.0]
    assert sampling(np.array([1.0, 3.0]), np.zeros(2))[0].tolist() == [0.25, 0.75]


@settings(deadline=None)
@given(
    drawn=st.lists(st.integers(0, 4), max_size=12),
    prices=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    budget=st.integers(0, 15),
)
def test_draws_stop_before_the_first_that_would_exceed_the_budget(drawn, prices, budget):
    features = [np.array(f, dtype=np.int64) for f in ([0], [1, 2], [2, 3], [], [0, 3])]

    def bill(first):
        return sum(prices[f] for f in {int(f) for t in drawn[:first] for f in features[t]})

    within = [n for n in range(len(drawn) + 1) if bill(n) <= budget]
    found = prefix_within(np.array(drawn, dtype=np.int64), features, lambda s: sum(prices[f] for f in s), budget)
    assert found == max(within)


def test_votes_of_equal_weight_give_equal_scores_in_any_order():
    """In floating point, 0.1 + 0.2 - 0.3 is above 0, and 0.3 - 0.1 - 0.2 is below it. The scores must be equal."""
    said = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, 1.0]])

    class Said:
        def votes(self, X, chosen):
            return said[:, chosen]

    policy = VotePolicy(Said(), np.arange(3), np.array([0.1, 0.2, 0.3]), np.ones(1, dtype=bool), 0.0, None)
    assert policy.score(np.zeros((3, 1))).tolist() == [0.0, 0.0, 0.2]


def test_no_row_exceeds_the_budget_and_larger_budgets_extend_the_sample():
    case = make_case("binary", rows=400)
    family = AdaBoostRS(n_estimators=15, max_depth=1, draws=200).fit(case.problem)
    full = case.problem.costs.bill(family.reference.decide(case.rows).acquired, None)[0]
    policies = sorted((p for p in family.policies if "share" in p.details), key=lambda p: p.details["share"])
    assert len(policies) >= 3
    for policy in policies:
        bill = case.problem.costs.bill(policy.decide(case.rows).acquired, None)
        assert bill.max() <= policy.details["share"] * full + 1e-9
    for small, large in pairwise(policies):
        assert set(small.chosen.tolist()) <= set(large.chosen.tolist())
        assert (small.features <= large.features).all()


def test_by_default_the_cheapest_policy_reads_one_feature():
    X, y = noisy(300, 10, 6)
    family = AdaBoostRS(n_estimators=40).fit(problem_of(X, y))
    assert min(policy.features.sum() for policy in family.policies) == 1


def test_a_bill_is_that_of_the_sampled_trees_splits():
    X, y = noisy(200, 5, 3)
    problem = problem_of(X, y, prices=[1, 2, 4, 8, 16])
    family = AdaBoostRS(n_estimators=8, max_depth=2, budgets=(0.95,), evaluation=0.5).fit(problem)
    for policy in (family.policies[0], family.reference):
        decisions = policy.decide(Rows(X[:3]))
        features = set()
        for t in policy.chosen:
            tree = policy.voters.trees[t]
            features |= {int(f) for f, left in zip(tree.feature, tree.children_left, strict=True) if left >= 0}
        expected = sum([1, 2, 4, 8, 16][f] for f in features)
        assert problem.costs.bill(decisions.acquired, None).tolist() == [expected] * 3
        assert decisions.evaluation_cost.tolist() == [0.5 * len(policy.chosen)] * 3


def test_many_unbiased_draws_approach_adaboost():
    X, y = noisy(300, 4, 1)
    problem = problem_of(X, y, prices=[1, 3, 5, 7])
    family = AdaBoostRS(n_estimators=10, max_depth=2, budgets=(1.0,), draws=200_000).fit(problem)
    drawn, complete = family.policies[0].score(X), family.reference.score(X)
    assert np.abs(drawn - complete).max() < 0.02
    assert ((drawn > 0) == (complete > 0)).mean() > 0.97


def test_the_reference_is_adaboost_with_every_tree():
    X, y = noisy(200, 3, 2)
    family = AdaBoostRS(n_estimators=6, max_depth=2).fit(problem_of(X, y))
    voters = family.reference.voters
    plain = sum(a * voters.votes(X, np.array([t]))[:, 0] for t, a in enumerate(voters.alpha))
    assert family.reference.decide(Rows(X)).score == pytest.approx(plain / voters.alpha.sum())


def test_another_seed_draws_other_trees():
    X, y = noisy(200, 6, 4)
    chosen = [
        AdaBoostRS(n_estimators=20, budgets=(0.5,), max_depth=1).fit(problem_of(X, y, seed=seed)).policies[0].chosen
        for seed in (0, 1, 0)
    ]
    assert chosen[0].tolist() == chosen[2].tolist()
    assert chosen[0].tolist() != chosen[1].tolist()


def test_a_budget_below_the_first_draws_price_reads_nothing():
    X, y = noisy(100, 3, 5)
    family = AdaBoostRS(n_estimators=5, budgets=(1e-6,)).fit(problem_of(X, y))
    (policy,) = family.policies
    assert not policy.decide(Rows(X)).acquired.any()


def test_balanced_weights_find_the_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = (X[:, 0] + rng.normal(size=1000) > 2.2).astype(np.int64)
    plain = AdaBoostRS(n_estimators=1, max_depth=1).fit(problem_of(X, y)).reference.score(X)
    balanced = (
        AdaBoostRS(n_estimators=1, max_depth=1, positive_weight="balanced").fit(problem_of(X, y)).reference.score(X)
    )
    assert (balanced[y == 1] > 0).mean() > (plain[y == 1] > 0).mean() + 0.3


def test_grades_of_at_least_relevant_from_are_positive():
    case = make_case("ranking", rows=400)
    decisions = AdaBoostRS(n_estimators=10, relevant_from=3.0).fit(case.problem).policies[0].decide(case.rows)
    relevant = case.y >= 3
    assert decisions.probabilities is None
    assert decisions.score[relevant].mean() > decisions.score[~relevant].mean()


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_are_refused(task):
    with pytest.raises(ValueError, match=f"needs two classes; the task is {task}"):
        AdaBoostRS().fit(make_problem(task))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"budgets": ()}, "budgets must be a list of at least 1 item"),
        ({"budgets": (0.0,)}, "budgets.* must be a number above 0"),
        ({"budgets": (1.5,)}, "budgets.* of at most 1, not 1.5"),
        ({"budgets": (0.5, 0.5)}, "budgets must be .*, distinct, not"),
        ({"draws": 0}, "draws must be a whole number from 1 to"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1 to"),
        ({"evaluation": -1.0}, "evaluation must be"),
        ({"positive_weight": -1.0}, "positive_weight must be"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        AdaBoostRS(**wrong)
