"""The contract kit on ccp."""

from bench_ccp.method import CostComplexityPruning

from bench_core.testing import method_contract

test_contract = method_contract(
    CostComplexityPruning(trees=5), CostComplexityPruning(trees=4, criterion="pairs", cost_weighted=True)
)
