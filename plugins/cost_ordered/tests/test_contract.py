"""The contract kit on the method."""

from bench_cost_ordered.plugin import CostOrdered

from bench_core.testing import method_contract

test_contract = method_contract(CostOrdered())
