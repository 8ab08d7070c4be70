"""The four methods on synthetic problems, and the metrics of their tables."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench_qwyc.methods import EarlyStopping, EnsembleMethod, Fan, Qwyc, SmallerEnsemble
from bench_qwyc.metrics import METRICS, base_model_share, base_models_within, error_within, speed_up
from bench_qwyc.policy import StoppingPolicy
from sklearn.ensemble import HistGradientBoostingClassifier

from bench_core import Costs, DataFacts, Decisions, Outcome, Problem, RequestError, Rows, build
from bench_core.testing import make_problem


def problem(task: Any = "binary", **options: Any) -> Problem:
    return make_problem(task, rows=2000, **options)


def labels(decisions: Decisions) -> Any:
    assert decisions.probabilities is not None
    return decisions.probabilities.argmax(axis=1)


FORMS = [
    Qwyc(n_estimators=20, max_depth=3, alphas=(0.02, 0.0, 0.1)),
    Qwyc(n_estimators=20, max_depth=3, alphas=(0.02, 0.0, 0.1), precision="float32"),
    Qwyc(n_estimators=15, max_depth=4, alphas=(0.02, 0.0, 0.1), ensemble="random-forest", prices="path"),
    EarlyStopping(n_estimators=20, max_depth=3, alphas=(0.02, 0.0, 0.1), ordering="random"),
    EarlyStopping(n_estimators=20, max_depth=3, alphas=(0.02, 0.0), ordering="greedy-mse", optimise_on="both"),
]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("method", FORMS, ids=range(len(FORMS)))
def test_compiled_decisions_differ_from_the_full_ensemble_on_at_most_alpha_of_the_training_rows(
    method: EnsembleMethod, task: str
) -> None:
    given = problem(task)
    family = method.fit(given)
    assert family.reference is not None
    rows = given.train.X
    if method.optimise_on == "both":
        rows = np.concatenate([rows, given.validation.X])
    reference = family.reference.decide(Rows(rows))
    for policy in family.policies:
        found = policy.decide(Rows(rows))
        share = (labels(found) != labels(reference)).mean()
        assert share <= policy.details["alpha"]
        assert share == policy.details["optimised_disagreement"]
        assert found.evaluations is not None
        assert found.evaluations.mean() == pytest.approx(policy.details["optimised_mean_base_models"])
        assert found.evaluations.mean() < method.n_estimators
        assert not (found.acquired & ~reference.acquired).any()


def test_qwyc_needs_no_more_base_models_than_given_orders_here() -> None:
    given = problem()
    shared: dict[str, Any] = {"n_estimators": 30, "max_depth": 3, "alphas": (0.01,)}
    qwyc = Qwyc(**shared).fit(given).policies[0].details["optimised_mean_base_models"]
    for ordering in ("natural", "random", "individual-mse", "greedy-mse"):
        other = EarlyStopping(ordering=ordering, **shared).fit(given)  # type: ignore[arg-type]
        assert qwyc <= other.policies[0].details["optimised_mean_base_models"]


def test_filter_and_score_rejects_early_and_scores_the_rest_in_full() -> None:
    given = problem()
    for method in (
        Qwyc(n_estimators=20, alphas=(0.05,), stop="filter-and-score"),
        Fan(n_estimators=20, gammas=(1.0,), widths=(0.2,), stop="filter-and-score"),
    ):
        found = method.fit(given).policies[0].decide(Rows(given.validation.X))
        assert found.evaluations is not None
        early = found.evaluations < 20
        assert early.any()
        assert (labels(found)[early] == 0).all()
    with pytest.raises(RequestError, match="filter-and-score"):
        Qwyc(n_estimators=5, stop="filter-and-score").fit(problem("multiclass"))


def test_a_smaller_ensemble_is_a_prefix_of_the_full_one_and_equals_scikit_learns() -> None:
    given = problem()
    family = SmallerEnsemble(n_estimators=40, max_depth=3, sizes=(7, 25, 99)).fit(given)
    assert [policy.details["size"] for policy in family.policies] == [7, 25]
    alone = HistGradientBoostingClassifier(
        max_iter=7, max_depth=3, max_leaf_nodes=None, early_stopping=False, random_state=0
    ).fit(given.train.X, given.train.y)
    found = family.policies[0].decide(Rows(given.validation.X))
    assert found.probabilities is not None
    np.testing.assert_allclose(found.probabilities, alone.predict_proba(given.validation.X), atol=1e-12)


def test_a_joint_ensemble_is_trained_again_at_every_size() -> None:
    given = problem()
    method = SmallerEnsemble(ensemble="subsets-joint", n_estimators=20, subset=2, sizes=(5,))
    small = method.fit(given).policies[0]
    assert isinstance(small, StoppingPolicy)
    alone = Qwyc(ensemble="subsets-joint", n_estimators=5, subset=2).fit(given).reference
    assert isinstance(alone, StoppingPolicy)
    np.testing.assert_array_equal(small.ensemble.packed.subsets.outer, alone.ensemble.packed.subsets.outer)


def test_the_learning_rate_is_chosen_on_validation() -> None:
    given = problem()
    family = Qwyc(n_estimators=10, learning_rates=(1e-4, 0.3), alphas=(0.0,)).fit(given)
    assert family.diagnostics["learning_rate"] == 0.3
    assert len(family.diagnostics["order"]) == 10


def test_methods_of_one_problem_share_the_ensemble() -> None:
    given = problem(seed=1)
    anew = Fan(n_estimators=20, max_depth=3, widths=(0.1,)).fit(given)
    assert given.work.reused == 0.0
    Qwyc(n_estimators=20, max_depth=3, alphas=(0.02,)).fit(given)
    once = given.work.reused
    assert once > 0.0
    again = Fan(n_estimators=20, max_depth=3, widths=(0.1,)).fit(given)
    assert given.work.reused == 2 * once
    for one, two in zip(anew.policies, again.policies, strict=True):
        a, b = (policy.decide(Rows(given.validation.X)) for policy in (one, two))
        np.testing.assert_array_equal(a.probabilities, b.probabilities)  # type: ignore[arg-type]
        np.testing.assert_array_equal(a.acquired, b.acquired)
    assert anew.diagnostics == again.diagnostics
    # Another depth is another ensemble.
    Qwyc(n_estimators=20, max_depth=2, alphas=(0.02,)).fit(given)
    assert given.work.reused == 2 * once


@pytest.mark.parametrize("method", [Qwyc, EarlyStopping, Fan, SmallerEnsemble])
def test_an_ensemble_of_one_base_model_is_run_in_full(method: Any) -> None:
    given = problem()
    family = method(n_estimators=1, max_depth=3).fit(given)
    assert family.reference is not None
    reference = family.reference.decide(Rows(given.validation.X))
    for policy in family.policies:
        found = policy.decide(Rows(given.validation.X))
        np.testing.assert_array_equal(found.probabilities, reference.probabilities)
        assert found.evaluations is not None
        assert (found.evaluations == 1).all()


@pytest.mark.parametrize("kind", ["hist-gradient-boosting", "subsets-independent"])
def test_a_rows_decision_does_not_depend_on_its_block(kind: Any) -> None:
    """Rows leave a block at different times and the remaining ones move; a row decided alone has its own block."""
    given = problem()
    for method in (
        Qwyc(ensemble=kind, n_estimators=40, subset=2, alphas=(0.02,)),
        Fan(ensemble=kind, n_estimators=40, subset=2, gammas=(1.0,), widths=(0.05,)),
    ):
        policy = method.fit(given).policies[0]
        X = given.validation.X[:150]
        together = policy.decide(Rows(X))
        assert together.evaluations is not None
        assert len(np.unique(together.evaluations)) > 5
        for i in range(0, 150, 7):
            alone = policy.decide(Rows(X[[i]]))
            for name in ("acquired", "probabilities", "evaluations", "stage"):
                np.testing.assert_array_equal(getattr(alone, name)[0], getattr(together, name)[i])


def test_only_the_strongest_features_are_used() -> None:
    given = problem()
    family = Qwyc(n_estimators=15, strongest=2, alphas=(0.0,)).fit(given)
    assert family.reference is not None
    used = family.reference.decide(Rows(given.validation.X)).acquired.any(axis=0)
    assert used.sum() == 2
    assert used[given.feature_names.index("strong")]


def test_prices_by_path_are_billed_as_evaluation_cost_and_prices_by_features_as_features() -> None:
    given = problem()
    given = replace(given, costs=Costs(given.costs.prices, evaluation=0.5))
    family = Qwyc(ensemble="random-forest", n_estimators=9, max_depth=4, alphas=(0.05,), prices="path").fit(given)
    policy = family.policies[0]
    assert isinstance(policy, StoppingPolicy)
    found = policy.decide(Rows(given.train.X))
    assert found.evaluation_cost is not None
    assert found.evaluation_cost.mean() == pytest.approx(0.5 * policy.details["optimised_mean_cost"])
    other = Qwyc(n_estimators=9, alphas=(0.05,), prices="features").fit(given).policies[0]
    assert other.decide(Rows(given.train.X)).evaluation_cost is None
    assert other.details["optimised_mean_cost"] > 0.5


def test_a_smaller_ensemble_is_billed_its_own_paths() -> None:
    given = problem()
    given = replace(given, costs=Costs(np.ones(given.n_features), evaluation=1.0))
    method = SmallerEnsemble(n_estimators=30, max_depth=0, sizes=(2, 30), learning_rates=(0.02, 1.0), prices="path")
    small = method.fit(given).policies[0]
    own = small.ensemble.path_lengths(given.train.X).sum()
    assert small.decide(given.validation.rows()).evaluation_cost == pytest.approx(own)


@pytest.mark.parametrize("method", [Qwyc, EarlyStopping, Fan, SmallerEnsemble])
def test_a_column_without_values_in_training_is_not_read(method: Any) -> None:
    given = problem()
    X = np.array(given.train.X)
    X[:, 1] = np.nan
    family = method(n_estimators=5).fit(replace(given, train=replace(given.train, X=X)))
    assert not family.policies[0].decide(given.validation.rows()).acquired[:, 1].any()


@pytest.mark.parametrize("kind", ["subsets-joint", "subsets-independent"])
def test_networks_on_several_classes_are_not_applicable(kind: Any) -> None:
    facts = DataFacts("d", "multiclass", 3, ("a", "b"), 2, missing=False, queries=False, priced=True)
    assert "needs two classes; there are 3" in str(Qwyc(ensemble=kind).inapplicable(facts))


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        (Qwyc, {"alphas": [1.0]}, "alphas.* must be a number of at least 0 and below 1, not 1.0"),
        (Qwyc, {"alphas": []}, "alphas must be a list of at least 1 item"),
        (Qwyc, {"n_estimators": 0}, "at least 1"),
        (EarlyStopping, {"ordering": "greedy"}, "greedy-mse"),
        (Fan, {"widths": [0.0]}, "above 0"),
        (Fan, {"gammas": [-1.0]}, "gammas.* must be a number of at least 0, not -1.0"),
        (SmallerEnsemble, {"sizes": [0]}, "sizes.* must be a whole number of at least 1, not 0"),
        (Qwyc, {"learning_rates": [0.0]}, "above 0"),
    ],
)
def test_parameters_out_of_range_are_refused(method: Any, parameters: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(method, parameters, "here")


def outcome(runs: list[int], said: list[int], full: list[int], y: list[int]) -> Outcome:
    def decided(labels: list[int], evaluations: list[int]) -> Decisions:
        return Decisions(
            np.zeros((len(labels), 1), dtype=bool),
            probabilities=np.eye(2)[labels],
            evaluations=np.array(evaluations, dtype=float),
        )

    bill = np.zeros(len(y))
    return Outcome("binary", np.array(y), decided(said, runs), bill, bill, bill, reference=decided(full, [10] * len(y)))


def test_metrics_of_the_tables() -> None:
    one = outcome([1, 2, 3, 2], [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0])
    assert speed_up(one) == 5.0
    assert base_models_within(one, 250) == 2.0
    assert base_models_within(one, 249) == 1_250_000.0
    assert error_within(one, 2) == 0.25
    assert error_within(one, 1) == 2.0
    missed = {metric.name: metric.missed for metric in METRICS if metric.missed is not None}
    assert [missed["base-models-within@k"](base_models_within(one, k)) for k in (250, 249)] == [False, True]
    assert [missed["error-within@k"](error_within(one, k)) for k in (2, 1)] == [False, True]
    assert not missed["error-within@k"](1.0)
    assert base_model_share(one) == 0.2


def test_importing_the_plugin_stays_light() -> None:
    heavy = "('sklearn', 'pandas', 'numba', 'scipy', 'lightgbm')"
    code = f"import bench_qwyc.plugin, sys; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("method", [Qwyc, EarlyStopping, Fan])
def test_a_family_with_the_full_ensemble_ends_with_it(method: type[EnsembleMethod]) -> None:
    given = make_problem("binary", rows=400)
    small = method(n_estimators=15, max_depth=3)
    with_full, without = replace(small, full=True).fit(given), small.fit(given)
    assert [p.label for p in with_full.policies] == [*(p.label for p in without.policies), "full ensemble"]
    rows = given.validation.rows()
    last, reference = with_full.policies[-1].decide(rows), without.reference.decide(rows)
    assert (last.evaluations == 15).all()
    np.testing.assert_array_equal(last.probabilities, reference.probabilities)
    np.testing.assert_array_equal(last.acquired, reference.acquired)
