"""The contract kit on BUDGETPRUNE, its baselines and its prices."""

from bench_budgetprune.budgetrf import BudgetRF
from bench_budgetprune.costs import SvmWeights
from bench_budgetprune.greedyprune import GreedyPrune
from bench_budgetprune.method import BudgetPrune

from bench_core.testing import cost_scheme_contract, method_contract

test_budgetprune = method_contract(
    BudgetPrune(n_estimators=5, count=4),
    BudgetPrune(n_estimators=5, count=3, solver="subgradient"),
    BudgetPrune(n_estimators=4, criterion="pairs", cost_weighted=True, count=3),
)

test_budgetrf = method_contract(
    BudgetRF(n_estimators=5), BudgetRF(n_estimators=4, criterion="pairs", cost_weighted=True)
)

test_greedyprune = method_contract(
    GreedyPrune(n_estimators=5), GreedyPrune(n_estimators=4, criterion="pairs", cost_weighted=True)
)

test_prices = cost_scheme_contract(SvmWeights())
