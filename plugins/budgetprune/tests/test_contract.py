"""The contract kit on BUDGETPRUNE."""

from bench_budgetprune.costs import SvmWeights
from bench_budgetprune.method import BudgetPrune

from bench_core.testing import cost_scheme_contract, method_contract

test_contract = method_contract(
    BudgetPrune(n_estimators=5, count=4),
    BudgetPrune(n_estimators=5, count=3, solver="subgradient"),
    BudgetPrune(n_estimators=4, criterion="pairs", cost_weighted=True, count=3),
)

test_prices = cost_scheme_contract(SvmWeights())
