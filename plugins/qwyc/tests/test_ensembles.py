"""Adapters: the base models add up to the decision function, and exactly the features read are marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_qwyc.adapters import adapt
from bench_qwyc.policy import StoppingPolicy
from bench_qwyc.subsets import fit_subsets
from bench_qwyc.training import full_scores
from sklearn import ensemble
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from bench_core import Rows

FEATURES = np.array([0, 0, 1, 2, 3, 3])


def data(classes: int = 2, missing: bool = False) -> tuple[Any, Any]:
    X, y = make_classification(400, 6, n_informative=5, n_redundant=0, n_classes=classes, random_state=1)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def adapted(model: Any, X: Any, y: Any, **options: Any) -> Any:
    model.fit(X, y)
    return adapt(model, X, FEATURES, n_features=4, n_classes=len(np.unique(y)), **options)


def lightgbm(**options: Any) -> Any:
    return pytest.importorskip("lightgbm").LGBMClassifier(verbosity=-1, n_jobs=1, **options)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["hist", "gradient", "forest", "extra", "lightgbm"])
def test_the_sum_of_base_models_is_the_decision_function(kind: str, classes: int) -> None:
    X, y = data(classes, missing=kind in ("hist", "lightgbm"))
    model = {
        "hist": lambda: ensemble.HistGradientBoostingClassifier(max_iter=12, early_stopping=False),
        "gradient": lambda: ensemble.GradientBoostingClassifier(n_estimators=12),
        "forest": lambda: ensemble.RandomForestClassifier(12, max_depth=4, random_state=0),
        "extra": lambda: ensemble.ExtraTreesClassifier(12, max_depth=4, random_state=0),
        "lightgbm": lambda: lightgbm(n_estimators=12),
    }[kind]()
    made = adapted(model, X, y)
    assert made.models == 12
    scores = made.scores(X)
    total = full_scores(made, scores)
    shares = model.predict_proba(X)
    if made.link == "mean":
        expected = (2 * shares[:, 1] - 1) * 12 if classes == 2 else shares * 12
    elif kind == "lightgbm":
        expected = model.predict(X, raw_score=True)
    else:
        expected = model.decision_function(X)
    np.testing.assert_allclose(total, expected, atol=1e-9)
    full = StoppingPolicy(made).decide(Rows(X))
    np.testing.assert_allclose(full.probabilities, shares, atol=1e-9)
    assert full.evaluations is not None
    assert (full.evaluations == 12).all()
    np.testing.assert_array_equal(scores, made.scores(X, threads=2))


def test_histogram_boosting_is_added_up_bit_for_bit() -> None:
    X, y = data(missing=True)
    model = ensemble.HistGradientBoostingClassifier(max_iter=60, early_stopping=False)
    made = adapted(model, X, y)
    np.testing.assert_array_equal(full_scores(made, made.scores(X)), model.decision_function(X))


def test_the_features_of_the_nodes_walked_are_acquired_and_no_others() -> None:
    X, y = data()
    model = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0)
    made = adapted(model, X, y)
    acquired = StoppingPolicy(made).decide(Rows(X)).acquired
    for i in range(0, 400, 37):
        read = set()
        for tree in model.estimators_:
            path = tree.decision_path(X[[i]].astype(np.float32)).indices
            read |= {int(FEATURES[c]) for c in tree.tree_.feature[path] if c >= 0}
        assert set(np.flatnonzero(acquired[i])) == read
    uses = np.array([[f in FEATURES[t.tree_.feature[t.tree_.feature >= 0]] for f in range(4)] for t in model])
    np.testing.assert_array_equal(made.uses, uses)


def test_path_lengths_are_mean_numbers_of_tests() -> None:
    X, y = data()
    model = ensemble.RandomForestClassifier(4, max_depth=3, random_state=0)
    made = adapted(model, X, y)
    expected = [tree.decision_path(X.astype(np.float32)).sum() / len(X) - 1 for tree in model.estimators_]
    np.testing.assert_allclose(made.path_lengths(X), expected)


def test_columns_of_a_model_fitted_on_some_are_those_of_the_problem() -> None:
    X, y = data()
    columns = np.array([2, 4, 5])
    model = ensemble.HistGradientBoostingClassifier(max_iter=5).fit(X[:, columns], y)
    made = adapt(model, X, FEATURES, n_features=4, n_classes=2, columns=columns)
    np.testing.assert_array_equal(full_scores(made, made.scores(X)), model.decision_function(X[:, columns]))
    assert not made.uses[:, 0].any()


def test_an_ensemble_whose_sum_is_not_its_decision_function_is_refused() -> None:
    X, y = data()
    start = LogisticRegression().fit(X, y)
    model = ensemble.GradientBoostingClassifier(n_estimators=3, init=start)
    with pytest.raises(ValueError, match=r"do not add up|one number"):
        adapted(model, X, y)


def test_unknown_ensembles_and_category_splits_are_refused() -> None:
    X, y = data()
    with pytest.raises(TypeError, match="AdaBoostClassifier is not a supported additive ensemble"):
        adapted(ensemble.AdaBoostClassifier(n_estimators=3), X, y)
    X[:, 0] = np.random.default_rng(0).integers(0, 4, len(X))
    y = np.isin(X[:, 0], [0, 3]).astype(int)
    model = ensemble.HistGradientBoostingClassifier(categorical_features=[0], max_iter=3)
    with pytest.raises(ValueError, match="categorical_features"):
        adapted(model, X, y)


@pytest.mark.parametrize("joint", [True, False])
def test_subset_ensembles_learn_and_read_only_their_features(joint: bool) -> None:
    X, y = data()
    options: dict[str, Any] = {"columns": np.arange(6), "feature_of_column": FEATURES, "n_features": 4}
    made = fit_subsets(
        X, y, models=30, subset=2, hidden=8, joint=joint, rng=np.random.default_rng(0), **options
    )  # fmt: skip
    assert (made.uses.sum(axis=1) == 2).all()
    scores = made.scores(X)
    assert ((full_scores(made, scores) >= 0) == y).mean() > 0.7
    hidden = made.packed.subsets
    for t in (0, 17):
        part = slice(hidden.start[t], hidden.start[t + 1])
        z = X[:, hidden.columns[part]]
        u = np.clip(z @ hidden.inner[:, part].T + hidden.offset[t], -3, 3)
        np.testing.assert_allclose(scores[t], u * (27 + u**2) / (27 + 9 * u**2) @ hidden.outer[t])


def test_jointly_fitted_weights_beat_independent_ones_on_the_squared_error_they_minimise() -> None:
    X, y = data()
    options: dict[str, Any] = {"columns": np.arange(6), "feature_of_column": FEATURES, "n_features": 4}
    errors = []
    for joint in (True, False):
        made = fit_subsets(
            X, y, models=10, subset=2, hidden=6, joint=joint, rng=np.random.default_rng(0), **options
        )  # fmt: skip
        f = made.scores(X).sum(axis=0) / (1 if joint else 10)
        errors.append(np.mean((f - (2 * y - 1)) ** 2))
    assert errors[0] < errors[1]
