"""The contract kit on every method, with linear features and with boosted trees."""

from bench_cstc.methods import CSCC, CSTC, Cronus, SingleCostSensitive

from bench_core.testing import method_contract

LINEAR = {"lambdas": (0.01, 0.2), "max_iter": 5}
BOOSTED = {"features": "boosted", "n_estimators": 8, "max_depth": 2, "evaluation": 0.05, **LINEAR}

test_contract = method_contract(
    CSTC(levels=3, **LINEAR),
    CSCC(stages=3, positive_weight=1.0, **LINEAR),
    Cronus(stages=3, **LINEAR),
    SingleCostSensitive(**LINEAR),
)
test_contract_with_boosted_trees = method_contract(
    CSTC(levels=3, structure="greedy", **BOOSTED),
    CSCC(stages=3, structure="full", **BOOSTED),
    Cronus(stages=2, structure="greedy", **BOOSTED),
    SingleCostSensitive(**BOOSTED),
    slow=True,
)
