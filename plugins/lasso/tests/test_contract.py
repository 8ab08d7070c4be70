"""The contract kit on both methods."""

from bench_lasso.plugin import CaCTLasso, Lasso

from bench_core.testing import method_contract

test_cact_lasso = method_contract(CaCTLasso(step=1.0), CaCTLasso(scale="sum", highest=20.0, step=2.0))
test_lasso = method_contract(Lasso(count=8))
