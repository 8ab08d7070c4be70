"""The contract kit on budgetrf."""

from bench_budgetrf.method import BudgetRF

from bench_core.testing import method_contract

test_contract = method_contract(
    BudgetRF(n_estimators=5), BudgetRF(n_estimators=4, criterion="pairs", cost_weighted=True)
)
