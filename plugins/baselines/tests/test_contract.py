"""The contract kit on the methods."""

from bench_baselines.affordable.method import AffordableSubset
from bench_baselines.forward_selection.method import ForwardSelection
from bench_baselines.plugin import FullLightGBM, Majority, StumpMethod

from bench_core.testing import method_contract

test_majority = method_contract(Majority())
test_stump = method_contract(StumpMethod())
test_lightgbm = method_contract(FullLightGBM(n_estimators=5))
test_forward_selection = method_contract(
    ForwardSelection(budgets=(0.3, 1.0)), ForwardSelection(model="lightgbm", budgets=(0.3, 1.0), n_estimators=3)
)
test_affordable_subset = method_contract(
    AffordableSubset(budgets=(0.3, 1.0), n_estimators=5), AffordableSubset(model="logistic", budgets=(0.3, 1.0))
)
