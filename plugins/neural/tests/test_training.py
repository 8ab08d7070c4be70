"""Training: the same bits from the same seed, and what the methods learn where the best policy is known."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import requires

import numpy as np
import pytest
from bench_neural.plugin import CAE, DIME, EDDI, GDFS, OL, CwCF, MaskStatic

from bench_core import Costs, DataFacts, Part, Problem

SHORT = {"hidden": 32, "batch_size": 64, "pretraining": 300}


def switch(rows=1200, seed=0):
    """A problem in which the first, cheap feature shows which of the next two holds the label; the last is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    side = np.where(rng.random(rows) < 0.7, y, 1 - y)
    coin = rng.integers(0, 2, (rows, 3))
    X = np.column_stack([side, np.where(side == 0, y, coin[:, 0]), np.where(side == 1, y, coin[:, 1]), coin[:, 2]])
    X = X + rng.normal(0, 0.05, X.shape)
    cut = rows * 2 // 3
    train, validation, costs = Part(X[:cut], y[:cut]), Part(X[cut:], y[cut:]), Costs(np.array([0.1, 1.0, 1.0, 1.0]))
    return Problem(train, validation, costs, "binary", 2, tuple("sabn"), np.arange(4), seed=seed)


def required(name, seen):
    """Add the distributions that an installation of a distribution brings, without its extras."""
    if name not in seen:
        seen.add(name)
        for line in requires(name) or ():
            if "extra" not in line.partition(";")[2]:
                required(re.match(r"[\w.-]+", line)[0].lower(), seen)
    return seen


def test_only_this_plugin_and_everything_bring_jax():
    assert "jax" not in required("budgetbench", set())
    assert "jax" in required("budgetbench-neural", set())
    assert any(line.startswith("budgetbench-neural") and "all" in line for line in requires("budgetbench") or ())


def test_importing_the_plugin_does_not_import_jax():
    code = "import sys, bench_neural.plugin as p; p.bench_policy_types(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.weekly
@pytest.mark.parametrize("method", [
    GDFS(**SHORT, budgets=(1.1,), updates=300, purchases=4),
    DIME(**SHORT, stop="budget", values=(1.1,), updates=300, purchases=4),
    EDDI(**SHORT, budgets=(1.1,), updates=1000),
    OL(**SHORT, stop="budget", values=(1.1,), updates=1000, purchases=4),
    CwCF(**SHORT, lambdas=(0.05,), updates=1500),
], ids=lambda method: type(method).__name__)  # fmt: skip
def test_the_second_purchase_depends_on_the_value_of_the_first(method):
    """A static order that costs no more is right on 85 % of the rows; the best policy on all."""
    problem = switch()
    rows = problem.validation.rows()
    decisions = method.fit(problem).policies[0].decide(rows)
    assert (decisions.probabilities.argmax(axis=1) == problem.validation.y).mean() > 0.95
    assert problem.costs.bill(decisions.acquired).mean() < 1.3
    side = rows.X[:, 0] > 0.5
    assert decisions.acquired[:, 0].all()
    assert decisions.acquired[side, 2].mean() > 0.95
    assert decisions.acquired[~side, 1].mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("method", [GDFS(**SHORT, updates=50, stages=2), DIME(**SHORT, updates=50, stages=2)])
def test_the_shared_predictor_answers_for_what_a_method_buys(method):
    problem = switch(300)
    rows = problem.validation.rows()
    own, shared = (replace(method, answers=answers).fit(problem) for answers in ("own", "shared"))
    static = MaskStatic(**SHORT).fit(problem).policies[0]
    by_label = {policy.label: policy for policy in own.policies}
    for policy in shared.policies:
        decided = policy.decide(rows)
        np.testing.assert_array_equal(decided.acquired, by_label[policy.label].decide(rows).acquired)
        expected = static.decide_known(rows, decided.acquired).probabilities
        np.testing.assert_array_equal(decided.probabilities, expected)


@pytest.mark.weekly
def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    problem = switch(300)
    for method in (GDFS(**SHORT, updates=50, stages=2), CwCF(**SHORT, updates=50), CAE(**SHORT, updates=50)):
        first, again, other = (
            method.fit(p).policies[0].predictor.layers[0][0]
            for p in (problem, replace(switch(300), seed=0), replace(switch(300), seed=1))
        )
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)


@pytest.mark.weekly
def test_class_weights_raise_the_share_of_rare_classes():
    rng = np.random.default_rng(0)
    y = (rng.random(900) < 0.1).astype(np.int64)
    X = (y + rng.normal(0, 1.2, 900))[:, None]
    problem = Problem(
        Part(X[:600], y[:600]), Part(X[600:], y[600:]), Costs(np.ones(1)), "binary", 2, ("x",), np.arange(1)
    )
    rare = []
    for weights in (False, True):
        policy = MaskStatic(**SHORT, class_weights=weights).fit(problem).policies[0]
        rare.append(policy.decide(problem.validation.rows()).probabilities.argmax(axis=1).mean())
    assert rare[1] > rare[0] + 0.1


def test_confidence_is_not_applicable_to_regression():
    data = DataFacts("d", "regression", 0, ("a",), 1, False, False, True)
    assert "regression" in (DIME(stop="confidence").inapplicable(data) or "")
    assert DIME().inapplicable(data) is None
    assert "regression" in (GDFS().inapplicable(data) or "")


@pytest.mark.parametrize("wrong", [{"dropout": 1.0}, {"hidden": 0}, {"count": 1}, {"budgets": (2.0, 2.0)}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GDFS(**wrong)
