"""The contract kit on the method."""

from bench_feature_selection.plugin import ForwardSelection

from bench_core.testing import method_contract

test_forward_selection = method_contract(
    ForwardSelection(budgets=(0.3, 1.0)), ForwardSelection(model="lightgbm", budgets=(0.3, 1.0), n_estimators=3)
)
