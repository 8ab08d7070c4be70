"""The contract kit on the method, with both penalties."""

from bench_cegb.plugin import CEGB

from bench_core.testing import method_contract

test_contract = method_contract(
    CEGB(n_estimators=12, lambdas=(0.0, 0.03, 1.0), min_samples_leaf=5),
    CEGB(n_estimators=4, lambdas=(0.03,), min_samples_leaf=3, penalty="lazy", shared="each", ranking="pointwise"),
)
