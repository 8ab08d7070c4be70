"""The contract kit on every baseline, in its variants."""

import pytest
from bench_cstc.baselines.adaboost_rs import AdaBoostRS
from bench_cstc.baselines.and_or import AndOrCascade
from bench_cstc.baselines.early_exit import EarlyExit
from bench_cstc.baselines.rbf_svm import RbfSvm
from bench_cstc.baselines.stagewise import Stagewise

from bench_core.testing import make_case, method_contract

test_stagewise = method_contract(
    Stagewise(n_estimators=12),
    Stagewise(n_estimators=5, max_depth=2, prefixes="all", evaluation=0.5, include_empty_policy=False),
)
test_early_exit = method_contract(
    EarlyExit(n_estimators=12, exits=4, prefixes=(6, 12)),
    EarlyExit(n_estimators=6, s=(0.0, 0.1), k=2, removed="as-scored", positive_weight="balanced"),
)
test_and_or = method_contract(
    AndOrCascade(lambdas=(0.01, 0.1), max_iter=60),
    AndOrCascade(lambdas=(0.05,), features="boosted", n_estimators=8, max_iter=40, limits=(1.0, 4.0), evaluation=0.1),
)
test_adaboost_rs = method_contract(
    AdaBoostRS(n_estimators=10, max_depth=2, draws=50),
    AdaBoostRS(
        n_estimators=4, budgets=(0.5, 1.0), votes="equal", positive_weight="balanced", include_empty_policy=True
    ),
)
test_rbf_svm = method_contract(
    RbfSvm(C=(1.0, 10.0), gamma=(1.0,)), RbfSvm(C=(0.5, 5.0), gamma=(0.1, 1.0), rounds=2, search_rows=40)
)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "ranking"])
@pytest.mark.parametrize(
    "method",
    [
        Stagewise(n_estimators=3),
        EarlyExit(n_estimators=3, include_empty_policy=True),
        AndOrCascade(lambdas=(0.1,), max_iter=5, include_empty_policy=True),
        AdaBoostRS(n_estimators=3, include_empty_policy=True),
        RbfSvm(C=(1.0,), gamma=(1.0,)),
    ],
    ids=lambda method: type(method).__name__,
)
def test_policies_of_a_family_fill_the_same_fields(method, task):
    if task not in method.tasks:
        pytest.skip(f"no method for a {task} task")
    case = make_case(task)
    filled = set()
    for policy in method.fit(case.problem).policies:
        decisions = policy.decide(case.rows)
        names = ("probabilities", "score", "stage", "evaluations")
        filled.add(tuple(name for name in names if getattr(decisions, name) is not None))
    assert len(filled) == 1
