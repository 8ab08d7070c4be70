"""The contract kit on the four methods."""

from bench_qwyc.methods import EarlyStopping, Fan, Qwyc, SmallerEnsemble

from bench_core.testing import method_contract

test_qwyc = method_contract(Qwyc(size=12, max_depth=3, alphas=(0.05, 0.0)))
test_early_stopping = method_contract(EarlyStopping(size=12, max_depth=3, ordering="greedy-mse", alphas=(0.05,)))
test_fan = method_contract(Fan(size=12, max_depth=3, widths=(0.1,), gammas=(1.0, 3.0)))
test_smaller_ensemble = method_contract(SmallerEnsemble(size=12, max_depth=3, sizes=(3, 6)))
