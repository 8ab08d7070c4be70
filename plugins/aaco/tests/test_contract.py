"""The contract kit on the methods."""

from bench_aaco.plugin import AACO, GreedyCMI

from bench_core.testing import method_contract

test_contract = method_contract(
    AACO(count=3, subsets=10, n_estimators=5, masked_copies=2, passes=1),
    AACO(lambdas=(0.0, 0.5), subsets=10, n_estimators=5, masked_copies=2, passes=0),
    AACO(count=3, spacing="cost", subsets=10, n_estimators=5, masked_copies=2, passes=0),
    GreedyCMI(count=3, n_estimators=5, masked_copies=2, passes=0),
)
