"""The contract kit on BUDGETPRUNE."""

from bench_budgetprune.method import BudgetPrune

from bench_core.testing import method_contract

test_contract = method_contract(
    BudgetPrune(trees=5, count=4), BudgetPrune(trees=4, criterion="pairs", cost_weighted=True, count=3)
)
