"""The library: building an index, look-ups, refused input, and saving without pickle."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_polydom import Feature, ModelIndex, build_index
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FEATURES = [
    Feature("size", [0], 1.0),
    Feature("histogram", [1, 2, 3], [20.0, 0.01]),
    Feature("texture", [4, 5], [5.0, 0.1]),
    Feature("edges", (6, 7), [2.0, 0.0, 0.001]),
]


def table(rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, 8, n_informative=5, n_redundant=0, shuffle=False, random_state=seed)


@pytest.fixture(scope="module")
def index() -> ModelIndex:
    X, y = table()
    return build_index(LogisticRegression(), X, np.array(["no", "yes"])[y], FEATURES, validation=None, folds=3)


def test_a_look_up_gives_a_model_within_the_budget_that_predicts(index: ModelIndex) -> None:
    X, _ = table(seed=0)
    for size in (0.0, 10.0, 5000.0):
        for budget in (0.5, 1.0, 30.0, 1e6):
            choice = index.lookup(size, budget)
            assert choice.cost(size) <= budget * (1 + 1e-9)
            labels = choice.predict(X[:5][:, list(choice.columns)])
            assert set(labels) <= {"no", "yes"}
    rich = index.lookup(10.0, 1e6)
    truth = np.array(["no", "yes"])[table()[1]]
    assert np.mean(rich.predict(X[:, list(rich.columns)]) == truth) > 0.8
    assert rich.predict(X[0, list(rich.columns)]).shape == (1,)


def test_without_a_fitting_set_the_majority_class_is_returned_at_no_cost(index: ModelIndex) -> None:
    choice = index.lookup(100.0, 0.5)
    assert choice.is_majority
    assert choice.features == ()
    assert choice.cost(100.0) == 0.0
    assert len(set(choice.predict(np.zeros((3, 0))))) == 1


def test_the_best_model_is_found_for_every_budget_as_by_training_all_sets() -> None:
    """The black box against brute force: accuracies of all sixteen sets by hand."""
    from itertools import combinations

    X, y = table(seed=4)
    V, w = table(seed=5)
    learner = LogisticRegression(C=0.5)
    made = build_index(learner, X, y, FEATURES, validation=(V, w), e=1.0)  # e: prune nothing
    sets: list[tuple[float, list[Feature]]] = [(float(np.mean(w == np.bincount(y).argmax())), [])]
    for k in range(1, 5):
        for some in combinations(FEATURES, k):
            columns = sorted(c for f in some for c in f.columns)
            score = LogisticRegression(C=0.5).fit(X[:, columns], y).score(V[:, columns], w)
            sets.append((float(score), list(some)))
    for size in (0.0, 3.0, 40.0, 300.0):
        for budget in (0.0, 1.0, 4.0, 25.0, 60.0, 200.0):

            def cost(some: list[Feature], size: float = size) -> float:
                return sum(np.polynomial.polynomial.polyval(size, np.atleast_1d(f.price)) for f in some)

            best = max(score for score, some in sets if cost(some) <= budget * (1 + 1e-12))
            assert made.lookup(size, budget).accuracy == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
def test_a_saved_index_loads_without_pickle_and_returns_the_same_models(index: ModelIndex, tmp_path: Path) -> None:
    pytest.importorskip("skops")
    X, _ = table()
    index.save(tmp_path / "models.polydom")
    with zipfile.ZipFile(tmp_path / "models.polydom") as archive:
        assert all(n.endswith((".json", ".npz", ".skops")) for n in archive.namelist())
    again = ModelIndex.load(tmp_path / "models.polydom")
    for size in (0.0, 7.0, 400.0):
        for budget in (0.0, 2.0, 40.0, 1e5):
            a, b = index.lookup(size, budget), again.lookup(size, budget)
            assert (a.features, a.columns, a.accuracy, a.price) == (b.features, b.columns, b.accuracy, b.price)
            rows = X[:20][:, list(a.columns)]
            assert (a.predict(rows) == b.predict(rows)).all()
    assert again.expansion.accuracy == index.expansion.accuracy


class ForeignLearner(ClassifierMixin, BaseEstimator):
    """A classifier from outside scikit-learn, which skops must not trust by default."""

    def fit(self, X: Any, y: Any) -> ForeignLearner:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.slow
def test_types_that_are_not_trusted_are_named_and_loaded_only_when_trusted(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    X, y = table()
    made = build_index(ForeignLearner(), X, y, FEATURES[:2])
    assert not all(choice.is_majority for choice in made.choices)
    made.save(tmp_path / "foreign")
    with pytest.raises(ValueError, match=r"not trusted: .*ForeignLearner") as said:
        ModelIndex.load(tmp_path / "foreign")
    name = str(said.value).split("not trusted: ")[1].split(";")[0]
    assert ModelIndex.load(tmp_path / "foreign", trusted=[name]).lookup(1.0, 1e9).features


def test_a_file_that_is_no_index_is_refused_by_name(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    (tmp_path / "x").write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="x is not a saved index"):
        ModelIndex.load(tmp_path / "x")


def test_without_skops_saving_says_how_to_get_it(index: ModelIndex, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(RuntimeError, match=r"budgetbench-polydom\[save\]"):
        index.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_precomputation_budget_bounds_the_models_trained() -> None:
    X, y = table()
    made = build_index(LogisticRegression(), X, y, FEATURES, max_sets=6, folds=2)
    assert made.expansion.n_expanded <= 6
    assert made.lookup(1.0, 1e6).features


def test_best_first_a_smaller_alpha_trains_all_that_a_larger_one_does() -> None:
    X, y = table()
    made = [
        build_index(LogisticRegression(), X, y, FEATURES, alpha=alpha, folds=2, order="best-first")
        for alpha in (0.2, 0.02, 0.0)
    ]
    sets = [list(one.expansion.accuracy) for one in made]
    assert sets[0] == sets[1][: len(sets[0])]
    assert sets[1] == sets[2][: len(sets[1])]
    few = build_index(LogisticRegression(), X, y, FEATURES, folds=2, order="best-first", max_sets=5)
    assert list(few.expansion.accuracy) == sets[2][:5]
    for wrong in ({"order": "random"}, {"order": "best-first", "covering": "below"}):
        with pytest.raises(ValueError, match="order must be"):
            build_index(LogisticRegression(), X, y, FEATURES, **wrong)


def test_a_learner_that_fails_on_some_sets_is_recorded_and_on_all_is_an_error() -> None:
    class Fragile(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            if X.shape[1] <= self.max_iter:
                raise ArithmeticError("too few columns")
            return LogisticRegression().fit(X, y)

    X, y = table()
    made = build_index(Fragile(max_iter=2), X, y, FEATURES, folds=2)
    assert made.expansion.failures
    assert all("too few columns" in why for why in made.expansion.failures.values())
    with pytest.raises(ValueError, match=r"failed on every set of features, first on \{size"):
        build_index(Fragile(max_iter=99), X, y, FEATURES, folds=2)


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ([Feature("a", [0], -1.0)], "'a': price 0 must have finite coefficients"),
        ([Feature("a", [0], [1.0, float("nan")])], "'a': price 0 must have finite"),
        ([Feature("a", [0], 1.0), Feature("a", [1], 1.0)], "two features are called 'a'"),
        ([Feature("a", [8], 1.0)], "X has no column 8, it has 8"),
        ([Feature("a", [0, 1], 1.0), Feature("b", [1], 1.0)], "column 1 is given by 'a' and by 'b'"),
        ([Feature("a", [], 1.0)], "'a' gives no column"),
    ],
)
def test_malformed_features_are_refused_by_name(features: list[Feature], said: str) -> None:
    X, y = table(40)
    with pytest.raises(ValueError, match=said):
        build_index(LogisticRegression(), X, y, features)


@pytest.mark.parametrize("question", [(-1.0, 5.0), (1.0, -5.0), (float("nan"), 1.0)])
def test_a_look_up_out_of_range_is_refused(index: ModelIndex, question: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        index.lookup(*question)


def test_no_features_at_all_is_the_majority_class() -> None:
    X, y = table(40)
    assert build_index(LogisticRegression(), X, y, []).lookup(5.0, 5.0).is_majority


def test_one_feature_is_taken_when_it_fits() -> None:
    X, y = table()
    one = build_index(LogisticRegression(), X, y, [Feature("all", range(8), [2.0, 1.0])], folds=2)
    assert one.lookup(3.0, 5.0).features == ("all",)
    assert one.lookup(3.0, 4.99).is_majority


def test_rows_of_the_wrong_width_are_refused(index: ModelIndex) -> None:
    choice = index.lookup(1.0, 1e6)
    with pytest.raises(ValueError, match="columns are needed, not 1"):
        choice.predict([[1.0]])


def test_the_papers_learner_works_as_a_black_box() -> None:
    X, y = table()
    learner = make_pipeline(StandardScaler(), SGDClassifier(loss="hinge", penalty="l1", random_state=0))
    made = build_index(learner, X, y, FEATURES, alpha=0.01, e=0.02, folds=2)
    assert made.lookup(1.0, 1e9).accuracy > 0.7


def test_the_readmes_example_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the one given there: the texture of an item of this size is beyond the budget."""
    pytest.importorskip("skops")
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(0, 1, (400, 30))
    for columns, help in ((slice(0, 2), 0.8), (slice(2, 18), 0.3), (slice(18, 30), 0.6)):
        X[:, columns] += help * (2 * y[:, None] - 1)
    monkeypatch.chdir(tmp_path)
    seen: dict[str, Any] = {"X": X, "y": y, "row": X[3, :18]}
    exec(compile(code, "README.md", "exec"), seen)
    choice, again = seen["choice"], seen["ModelIndex"].load("models.polydom").lookup(250_000, 3_000.0)
    assert choice.features == again.features == ("header", "histogram")
    assert choice.columns == tuple(range(18))
    assert not choice.is_majority
    assert choice.cost(250_000) == 2522.0
    assert np.mean(choice.predict(X[:, :18]) == y) > 0.9
    assert (again.predict(X[:, :18]) == choice.predict(X[:, :18])).all()


def test_importing_the_plugin_stays_light() -> None:
    heavy = ("sklearn", "scipy", "pandas", "skimage", "skops")
    code = f"import bench_polydom.plugin, sys; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
