"""The contract kit on the method."""

from bench_aaco.plugin import AACO

from bench_core.testing import method_contract

test_contract = method_contract(
    AACO(count=3, subsets=10, n_estimators=5, masked_copies=2),
    AACO(lambdas=(0.0, 0.5), subsets=10, answer="naive-bayes"),
)
