"""The contract kit on the methods."""

from bench_baselines.plugin import FullLightGBM, Majority, StumpMethod

from bench_core.testing import method_contract

test_majority = method_contract(Majority())
test_stump = method_contract(StumpMethod())
test_lightgbm = method_contract(FullLightGBM(n_estimators=5))
