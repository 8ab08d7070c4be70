"""Boosting: plain gradient boosting without prices, and fewer acquired features with prices."""

import numpy as np
import pytest
from bench_greedymiser.bins import fit_bins
from bench_greedymiser.boosting import boost
from bench_greedymiser.losses import Logistic, Softmax, Squared, loss_of
from bench_greedymiser.prices import mean_prices
from bench_greedymiser.tree import grow_compiled, grow_tree
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from bench_core import Costs


def data(seed=0, rows=200, columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=rows)
    return X, signal


def boosted(problem, loss="auto", value=0.0, rounds=20, depth=3, least=1, rate=0.1, **others):
    return boost(
        fit_bins(problem.train.X),
        problem.feature_of_column,
        loss_of(loss, problem),
        mean_prices(problem).times(value),
        rounds=rounds,
        depth=depth,
        learning_rate=rate,
        least=least,
        **others,
    )


def scores_of(made, X, rounds=None):
    scores, acquired = made.ensemble.empty(len(X))
    made.ensemble.advance(X, 0, made.ensemble.rounds if rounds is None else rounds, scores, acquired)
    return scores, acquired


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 7])
def test_without_prices_it_is_plain_gradient_boosting(make, plain_tree, least):
    X, y = data(rows=100)
    made = boosted(make(X, y), rounds=15, least=least)
    plain = np.full(len(y), y.mean())
    for rounds in range(16):
        np.testing.assert_allclose(scores_of(made, X, rounds)[0][:, 0], plain, atol=1e-10)
        plain = plain + 0.1 * plain_tree.grow(X, y - plain, 3, least).predict(X)


def test_without_prices_the_logistic_loss_is_plain_gradient_boosting(make, plain_tree):
    X, signal = data(1, 120)
    y = (signal > 0.3).astype(np.int64)
    made = boosted(make(X, y, task="binary"), rounds=10)
    plain = np.full(len(y), np.log(y.mean() / (1 - y.mean())))
    for _ in range(10):
        plain = plain + 0.1 * plain_tree.grow(X, y - 1 / (1 + np.exp(-plain)), 3, 1).predict(X)
    np.testing.assert_allclose(scores_of(made, X)[0][:, 0], plain, atol=1e-10)


@pytest.mark.parametrize("least", [1, 5])
def test_without_prices_it_predicts_what_scikit_learn_does(make, least):
    X, y = data(2, 230)
    made = boosted(make(X, y), rounds=40, least=least)
    theirs = GradientBoostingRegressor(n_estimators=40, max_depth=3, min_samples_leaf=least, random_state=0).fit(X, y)
    np.testing.assert_allclose(scores_of(made, X)[0][:, 0], theirs.predict(X), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_with_newton_leaves_it_predicts_what_scikit_learn_does(make, classes):
    # Few and large leaves, because scikit-learn breaks ties between equally good splits at random.
    X, signal = data(3, 250)
    y = np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal)
    problem = make(X, y, task="binary" if classes == 2 else "multiclass")
    made = boosted(problem, rounds=12, newton=True, depth=2, least=20)
    theirs = GradientBoostingClassifier(n_estimators=12, max_depth=2, min_samples_leaf=20, random_state=0).fit(X, y)
    scores, _ = scores_of(made, X)
    if classes == 2:
        ours = 1 / (1 + np.exp(-scores[:, 0]))
        np.testing.assert_allclose(ours, theirs.predict_proba(X)[:, 1], atol=1e-9)
    else:
        ours = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("newton", [False, True])
def test_compiled_and_plain_growers_give_the_same_bits(make, task, newton):
    X, y = data(4, 120, 6)
    X = np.round(X, 1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    if task != "regression":
        y = np.searchsorted([0.0] if task == "binary" else [-0.5, 0.5], y)
    costs = Costs(np.array([1.0, 2, 0, 1, 1, 3]), np.array([0, 0, -1, 1, 1, -1]), np.array([2.0, 1.0]))
    problem = make(X, y, task=task, costs=costs)
    a, b = (boosted(problem, value=0.003, newton=newton, grow=g) for g in (grow_tree, grow_compiled))
    for name in ("column", "threshold", "missing", "left", "value", "root"):
        np.testing.assert_array_equal(getattr(a.ensemble.trees.flat, name), getattr(b.ensemble.trees.flat, name))
    np.testing.assert_array_equal(a.ensemble.used, b.ensemble.used)
    assert a.losses == b.losses


def test_dear_copies_are_never_bought(make):
    X, y = data(5)
    made = boosted(make(np.column_stack([X, X]), y, prices=[1, 1, 1, 1, 9, 9, 9, 9]), value=1e-4, rounds=60)
    assert made.ensemble.used[-1].tolist() == [True] * 4 + [False] * 4


@pytest.mark.parametrize("factor", [0.0, 0.03, 2.0])
def test_lambda_scales_the_prices_of_features_and_of_groups(make, factor):
    costs = Costs(np.array([1.0, 2, 4]), np.array([0, 0, -1]), np.array([8.0]))
    problem = make(np.zeros((2, 3)), np.zeros(2), costs=costs)
    prices, scaled = mean_prices(problem), mean_prices(problem).times(factor)
    for used, price in (([1, 0, 0], 9.0), ([1, 1, 0], 11.0), ([0, 0, 1], 4.0), ([1, 1, 1], 15.0)):
        chosen = np.array(used, dtype=bool)
        assert prices.of(chosen) == price
        assert scaled.of(chosen) == pytest.approx(factor * price)
    assert scaled.total == pytest.approx(factor * 15.0)


def test_a_group_is_bought_where_lambda_times_its_price_is_less_than_the_gain(make):
    # The one split takes the variance of x, 1, off the loss: a group at price 2 pays up to λ = 1/2.
    x = np.repeat([-1.0, 1.0], 20)
    problem = make(x[:, None], x, costs=Costs(np.zeros(1), np.zeros(1, dtype=int), np.array([2.0])))
    for value, acquired in ((0.4, True), (0.6, False)):
        made = boosted(problem, value=value, rounds=1, depth=1, grow=grow_tree)
        assert bool(made.ensemble.used[-1].any()) == acquired


def test_a_used_feature_is_free_to_later_trees(make):
    # One feature explains the target step by step: later trees gain less than its price, and still use it.
    x = np.linspace(-1, 1, 64)
    made = boosted(make(x[:, None], x, prices=[1.0]), value=0.2, rounds=30, depth=1)
    assert made.ensemble.rounds == 30
    assert np.var(x) * 0.75 > 0.2 > np.var(x - scores_of(made, x[:, None], 29)[0][:, 0])


def test_used_features_only_grow_and_are_those_that_trees_test(make):
    X, y = data(6, 200, 8)
    made = boosted(make(X, y), value=0.01, rounds=30).ensemble
    for rounds in range(31):
        tested = made.trees.flat.column[: np.append(made.trees.flat.root, len(made.trees.flat.column))[rounds]]
        assert set(np.flatnonzero(made.used[rounds])) == set(tested[tested >= 0])


def test_no_round_is_kept_when_nothing_pays(make):
    X, y = data(7)
    made = boosted(make(X, y), value=1e6)
    assert (made.ensemble.rounds, len(made.losses), len(made.ensemble.trees.flat.column)) == (0, 1, 0)
    np.testing.assert_allclose(scores_of(made, X)[0][:, 0], y.mean())


def test_the_training_loss_falls(make):
    X, signal = data(8)
    for task, y in (
        ("regression", signal),
        ("binary", (signal > 0).astype(int)),
        ("multiclass", np.searchsorted([-0.5, 0.5], signal)),
    ):
        losses = boosted(make(X, y, task=task)).losses
        assert len(losses) == 21
        assert (np.diff(losses) < 0).all()


def test_classes_share_acquired_features(make):
    # Every class needs x0; the price is more than any one class gains on x1, which copies it.
    x = np.repeat([0.0, 1.0, 2.0], 30)
    y = np.repeat([0, 1, 2], 30)
    made = boosted(make(np.column_stack([x, x]), y, task="multiclass"), value=0.01, rounds=5)
    assert made.ensemble.used[-1].tolist() == [True, False]
    sizes = np.diff(made.ensemble.trees.flat.root, append=len(made.ensemble.trees.flat.column))
    assert (sizes > 1).all()


def test_residuals_are_negative_gradients():
    rng = np.random.default_rng(0)
    for loss, targets in (
        (Squared, rng.normal(size=(6, 1))),
        (Logistic, np.array([[0.0], [1], [1], [0], [1], [0]])),
        (Softmax, np.eye(3)[[0, 1, 2, 2, 1, 0]]),
    ):
        own = loss(targets)
        scores = rng.normal(size=targets.shape)
        for i in range(6):
            for k in range(targets.shape[1]):
                up, down = scores.copy(), scores.copy()
                up[i, k] += 1e-5
                down[i, k] -= 1e-5
                slope = (own.mean(up) - own.mean(down)) * 6 / 2e-5
                assert -slope == pytest.approx(own.residual(scores)[i, k], abs=1e-8)
                bend = -(own.residual(up)[i, k] - own.residual(down)[i, k]) / 2e-5
                assert bend == pytest.approx(own.curvature(scores)[i, k], abs=1e-8)


def test_a_learning_rate_that_diverges_is_named(make):
    X, y = data(9)
    with pytest.raises(ValueError, match=r"diverged in round \d+: learning_rate 100"):
        boosted(make(X, y), rate=100.0, rounds=300)


def test_the_logistic_loss_needs_classes(make):
    X, y = data(9)
    with pytest.raises(ValueError, match="needs classes"):
        boosted(make(X, y), loss="logistic")
