"""The contract kit on greedyprune."""

from bench_greedyprune.method import GreedyPrune

from bench_core.testing import method_contract

test_contract = method_contract(
    GreedyPrune(n_estimators=5), GreedyPrune(n_estimators=4, criterion="pairs", cost_weighted=True)
)
