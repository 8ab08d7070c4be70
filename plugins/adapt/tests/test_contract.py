"""The contract kit on the methods."""

from bench_adapt.plugin import AdaptGBRT, AdaptLin

from bench_core.testing import method_contract

SMALL = {"gammas": (0.0, 0.1), "p_full": (0.3,), "rounds": 2, "accurate_estimators": 5}
test_contract = method_contract(AdaptLin(**SMALL), AdaptGBRT(**SMALL, n_estimators=5))
