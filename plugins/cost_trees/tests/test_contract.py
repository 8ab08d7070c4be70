"""The contract kit on the methods."""

from bench_cost_trees.icet import ICET
from bench_cost_trees.trees import C45, CSID3, EG2, IDX

from bench_core.testing import method_contract

test_contract = method_contract(
    EG2(omegas=(1.0, 0.0), confidence_factors=(0.25, 0.01)),
    IDX(prices="first", fit_on="both"),
    CSID3(max_depth=3),
    C45(min_samples_leaf=1),
    ICET(population=4, trials=10, error_costs=(1.0, 5.0)),
    ICET(population=4, trials=6, error_costs=(1.0,), search="subsets", unit="price", fit_on="both"),
)
