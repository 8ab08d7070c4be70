"""The contract kit on the method."""

from bench_single_stage.plugin import SingleStage

from bench_core.testing import method_contract

test_contract = method_contract(SingleStage())
