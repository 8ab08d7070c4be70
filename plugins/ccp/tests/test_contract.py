"""The contract kit on the method ``ccp``."""

from bench_ccp.method import CostComplexityPruning

from bench_core.testing import method_contract

test_contract = method_contract(
    CostComplexityPruning(n_estimators=5), CostComplexityPruning(n_estimators=4, criterion="pairs", cost_weighted=True)
)
