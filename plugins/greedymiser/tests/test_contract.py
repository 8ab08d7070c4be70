"""The contract kit on the method, with both values of ``acquire``."""

from bench_greedymiser.plugin import GreedyMiser

from bench_core.testing import method_contract

test_contract = method_contract(
    GreedyMiser(n_estimators=12, lambdas=(0.0, 0.1, 1.0), min_samples_leaf=3),
    GreedyMiser(n_estimators=4, lambdas=(0.03,), acquire="ensemble", loss="squared", prefixes=(0, 3), leaf="newton"),
)
