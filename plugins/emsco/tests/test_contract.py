"""Both methods of the plugin under the contract kit."""

from __future__ import annotations

from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco

from bench_core.testing import method_contract

test_emsco_contract = method_contract(Emsco(population=30, max_iter=8, patience=4))
test_exhaustive_contract = method_contract(Exhaustive(k=2))
