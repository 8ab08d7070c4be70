"""The contract kit on early exits that compare a document with its query's others."""

from bench_cstc.baselines.early_exit import EarlyExit

from bench_core.testing import method_contract

test_contract = method_contract(
    EarlyExit(n_estimators=12, exits=4, s=(0.02, 0.1), k=2, prefixes=(6, 12), against="query"), tasks=("ranking",)
)
