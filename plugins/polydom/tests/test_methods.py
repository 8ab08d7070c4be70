"""The methods: one policy per budget, no row above the budget, and equal decisions of the comparison points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_polydom.learners import LearnerName, class_probabilities, make_learner
from bench_polydom.methods import (
    Greedy,
    GreedyAcc,
    GreedyCost,
    NaiveExpandAll,
    NaiveLookup,
    PolyDom,
    PolyDomBestFirst,
    PolyDomIndexAll,
)

from bench_core import Costs, DataError, Method, as_family
from bench_core.testing.problems import make_case

BUDGETS = (0.0, 3.0, 8.0, 20.0, 60.0)
ALL = (PolyDom, PolyDomBestFirst, PolyDomIndexAll, NaiveLookup, NaiveExpandAll, Greedy, GreedyAcc, GreedyCost)


@pytest.mark.parametrize("method", ALL)
def test_no_row_pays_more_than_the_budget_and_nothing_is_the_majority(method: type[Method]) -> None:
    case = make_case("multiclass", "item-sizes")
    family = as_family(method(budgets=BUDGETS, learner="tree", strength=3.0).fit(case.problem), "x")  # type: ignore[call-arg]
    assert [policy.budget for policy in family.policies] == list(BUDGETS)
    for policy in family.policies:
        decisions = policy.decide(case.rows)
        bill = case.problem.costs.bill(decisions.acquired, case.rows.sizes)
        assert policy.budget is not None
        assert (bill <= policy.budget * (1 + 1e-9)).all()
    nothing = family.policies[0].decide(case.rows)
    assert not nothing.acquired.any()
    shares = np.bincount(case.problem.train.y, minlength=3) / len(case.problem.train)
    assert nothing.probabilities is not None
    np.testing.assert_allclose(nothing.probabilities, np.tile(shares, (len(case.rows), 1)))
    richest = family.policies[-1].decide(case.rows)
    assert richest.acquired.any()


def test_the_comparison_points_decide_as_polydom_does() -> None:
    case = make_case("binary", "item-sizes")
    made = [
        as_family(kind(budgets=BUDGETS, learner="tree", strength=3.0).fit(case.problem), "x")
        for kind in (PolyDom, PolyDomIndexAll, NaiveLookup)
    ]
    for policies in zip(*(family.policies for family in made), strict=True):
        acquired = [policy.decide(case.rows).acquired for policy in policies]
        assert (acquired[0] == acquired[1]).all()
        assert (acquired[0] == acquired[2]).all()
    counts = [family.diagnostics for family in made]
    assert counts[0]["index_entries"] <= counts[1]["index_entries"]
    assert counts[2]["index_entries"] == counts[2]["candidates"]


def test_estimated_accuracy_is_never_below_that_of_expanding_everything_by_more_than_alpha_and_e() -> None:
    case = make_case("multiclass", "item-sizes")
    full = as_family(NaiveExpandAll(budgets=BUDGETS, learner="tree").fit(case.problem), "x")
    worst = float(full.diagnostics["violation_max"])
    for alpha in (0.0, 0.05):
        method = PolyDom(budgets=BUDGETS, alpha=alpha, e=worst, learner="tree")
        found = as_family(method.fit(case.problem), "x")
        lost = np.array(full.history["estimated_accuracy"]) - np.array(found.history["estimated_accuracy"])
        assert lost.max() <= alpha + 1e-12
        assert found.diagnostics["sets_expanded"] <= full.diagnostics["sets_expanded"] == 64


def test_shared_accuracies_change_no_result_and_train_less(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench_polydom.learning import Trainer

    case = make_case("binary", "item-sizes")
    measured: list[tuple[int, ...]] = []
    measure = Trainer._measure
    monkeypatch.setattr(Trainer, "_measure", lambda self, f: (measured.append(f), measure(self, f))[1])
    alone = as_family(PolyDom(budgets=BUDGETS, learner="tree").fit(case.problem), "x")
    NaiveExpandAll(budgets=BUDGETS, learner="tree", share_accuracies=True).fit(case.problem)
    measured.clear()
    shared = as_family(PolyDom(budgets=BUDGETS, learner="tree", share_accuracies=True).fit(case.problem), "x")
    assert measured == []
    assert shared.diagnostics == alone.diagnostics
    for a, b in zip(shared.policies, alone.policies, strict=True):
        assert (a.decide(case.rows).acquired == b.decide(case.rows).acquired).all()
        np.testing.assert_array_equal(a.decide(case.rows).probabilities, b.decide(case.rows).probabilities)
    other = make_case("binary", "item-sizes", seed=1)
    PolyDom(budgets=BUDGETS, learner="tree", share_accuracies=True).fit(other.problem)
    assert measured


@pytest.mark.parametrize("method", [PolyDom, Greedy])
def test_accuracies_are_not_shared_between_different_units(method: type) -> None:
    case = make_case("binary", "groups")
    plain = replace(case.problem, costs=Costs(np.ones(case.problem.n_features)))
    alone = as_family(method(budgets=BUDGETS, learner="tree").fit(case.problem), "x")
    method(budgets=BUDGETS, learner="tree", share_accuracies=True).fit(plain)
    shared = as_family(method(budgets=BUDGETS, learner="tree", share_accuracies=True).fit(case.problem), "x")
    for a, b in zip(shared.policies, alone.policies, strict=True):
        assert (a.decide(case.rows).acquired == b.decide(case.rows).acquired).all()


def test_best_first_is_within_alpha_and_reports_the_alpha_a_budget_reached() -> None:
    case = make_case("multiclass", "item-sizes")
    full = as_family(NaiveExpandAll(budgets=BUDGETS, learner="tree").fit(case.problem), "x")
    worst, best = float(full.diagnostics["violation_max"]), np.array(full.history["estimated_accuracy"])
    counts = []
    for alpha in (0.1, 0.02, 0.0):
        method = PolyDomBestFirst(budgets=BUDGETS, alpha=alpha, e=worst, learner="tree")
        found = as_family(method.fit(case.problem), "x")
        assert (best - np.array(found.history["estimated_accuracy"])).max() <= alpha + 1e-12
        assert found.diagnostics["alpha_completed"] == alpha
        counts.append(found.diagnostics["sets_expanded"])
    assert counts == sorted(counts)
    method = PolyDomBestFirst(budgets=BUDGETS, e=worst, max_models=9, learner="tree")
    found = as_family(method.fit(case.problem), "x")
    assert found.diagnostics["sets_expanded"] == 9
    reached = found.diagnostics["alpha_completed"]
    assert (best - np.array(found.history["estimated_accuracy"])).max() <= reached + 1e-12


def test_a_group_is_one_unit_and_its_price_is_paid_once() -> None:
    case = make_case("binary", "groups")
    family = as_family(NaiveExpandAll(budgets=(4.0,), learner="tree").fit(case.problem), "x")
    assert family.diagnostics["sets_expanded"] == 2**4  # two groups of two, two single features
    single = as_family(NaiveExpandAll(budgets=(4.0,), learner="tree", units="features").fit(case.problem), "x")
    assert single.diagnostics["sets_expanded"] == 2**6
    for one in (family, single):
        bill = case.problem.costs.bill(one.policies[0].decide(case.rows).acquired)
        assert (bill <= 4.0 * (1 + 1e-9)).all()


def test_prices_without_size_are_one_skyline() -> None:
    family = as_family(PolyDom(learner="tree").fit(make_case().problem), "x")
    assert family.diagnostics["index_points"] == 1
    assert family.policies[-1].budget == pytest.approx(12.0)


def test_prices_that_grow_need_sizes() -> None:
    problem = make_case().problem
    grows = replace(problem, costs=Costs(np.ones((problem.n_features, 2))))
    with pytest.raises(DataError, match="the rows have none"):
        PolyDom().fit(grows)


def test_too_many_features_are_refused_with_advice() -> None:
    problem = make_case().problem
    X = np.tile(problem.train.X, (1, 4))
    wide = replace(
        problem,
        train=replace(problem.train, X=X),
        validation=replace(problem.validation, X=np.tile(problem.validation.X, (1, 4))),
        costs=Costs(np.ones(24)),
        feature_names=tuple(f"f{i}" for i in range(24)),
        feature_of_column=np.arange(24),
    )
    with pytest.raises(ValueError, match="24 units would make a lattice"):
        PolyDom().fit(wide)
    assert GreedyCost(learner="tree").fit(wide)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (PolyDom, {"budgets": (-1.0,)}), (PolyDom, {"budgets": (float("nan"),)}), (PolyDom, {"alpha": -0.1}),
        (PolyDom, {"e": float("nan")}), (PolyDom, {"max_models": -1}), (PolyDom, {"strength": 0.0}),
        (PolyDomBestFirst, {"covering": "below"}), (PolyDomBestFirst, {"max_models": 9, "greedy_first": True}),
        (Greedy, {"lambdas": ()}), (Greedy, {"lambdas": (-1.0,)}),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(kind: type, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must"):
        kind(**wrong)


def test_greedy_sets_first_need_a_bound_on_models() -> None:
    with pytest.raises(ValueError, match="greedy_first needs max_models"):
        PolyDom(greedy_first=True)


@pytest.mark.parametrize("learner", ["logistic", "linear-sgd"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_answer_is_the_same_to_the_last_bit_in_any_batch(learner: LearnerName, n_classes: int) -> None:
    """Ranking metrics distinguish scores by the last bit, and BLAS sums in another order at the end of a batch."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(75, 11))
    y = np.arange(75) % n_classes
    model = make_learner(learner, 1.0, 0).fit(X, y)
    together = class_probabilities(model, X, n_classes)
    alone = np.vstack([class_probabilities(model, X[[row]], n_classes) for row in range(len(X))])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[::-1], class_probabilities(model, X[::-1].copy(), n_classes))
    theirs = model.predict_proba(X) if learner == "logistic" else None
    if theirs is not None:
        assert np.allclose(together, theirs, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_series_over_e_equal_those_of_separate_fits() -> None:
    case = make_case("multiclass", "item-sizes")
    alphas, es = (0.0, 0.05), (0.0, 0.02, 0.3)
    method = NaiveExpandAll(budgets=BUDGETS, learner="tree", compare_alphas=alphas, compare_es=es)
    series = as_family(method.fit(case.problem), "x").history
    assert series["tolerances"] == list(es)
    for alpha in alphas:
        for prefix, kind in {"": PolyDom, "all_": PolyDomIndexAll, "naive_": NaiveLookup}.items():
            entries = []
            for e in es:
                fitted = as_family(kind(budgets=BUDGETS, alpha=alpha, e=e, learner="tree").fit(case.problem), "x")
                entries.append(fitted.diagnostics["index_entries"])
                if not prefix:
                    place = es.index(e)
                    assert series[f"expanded_alpha_{alpha:g}"][place] == fitted.diagnostics["sets_expanded"]
            assert series[f"{prefix}entries_alpha_{alpha:g}"] == entries
    assert series["expanded_alpha_0"][-1] == 64


@pytest.mark.parametrize(
    "wrong",
    [
        {"compare_alphas": (0.0,)},
        {"compare_es": (0.0,)},
        {"compare_alphas": (0.1, 0.0), "compare_es": (0.0,)},
        {"compare_alphas": (0.0,), "compare_es": (-0.1,)},
        {"compare_alphas": (0.0,), "compare_es": (float("nan"),)},
    ],
)
def test_values_that_cannot_be_compared_are_refused(wrong: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="compare_"):
        NaiveExpandAll(**wrong)


def test_the_validation_part_does_not_influence_the_sets() -> None:
    case = make_case()
    part = case.problem.validation
    other = replace(case.problem, validation=replace(part, X=part.X[::-1]))
    for method in (PolyDom(learner="tree"), Greedy(learner="tree")):
        mine, theirs = (as_family(method.fit(given), "x").policies for given in (case.problem, other))
        assert [policy.label for policy in mine] == [policy.label for policy in theirs]
        for one, another in zip(mine, theirs, strict=True):
            a, b = one.decide(case.rows), another.decide(case.rows)
            assert (a.acquired == b.acquired).all()
            assert a.probabilities is not None
            assert b.probabilities is not None
            assert (a.probabilities == b.probabilities).all()
