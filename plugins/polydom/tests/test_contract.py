"""The contract kit on every method: of those that train models, the fast tests have PolyDom and Greedy only."""

import pytest
from bench_polydom.methods import (
    Greedy,
    GreedyAcc,
    GreedyCost,
    NaiveExpandAll,
    NaiveLookup,
    PolyDom,
    PolyDomBestFirst,
    PolyDomIndexAll,
)
from bench_polydom.simulation import Simulation

from bench_core.testing import method_contract

test_polydom = method_contract(
    PolyDom(learner="tree"), PolyDom(alpha=0.02, e=0.01, covering="below", learner="linear-sgd", max_models=20)
)
test_polydom_as_it_comes = pytest.mark.weekly(method_contract(PolyDom()))
test_comparison_points = pytest.mark.slow(
    method_contract(PolyDomBestFirst(alpha=0.02, e=0.01, learner="tree", max_models=20), NaiveExpandAll(learner="tree"))
)
test_other_indexes = pytest.mark.weekly(method_contract(PolyDomIndexAll(learner="tree"), NaiveLookup(learner="tree")))
test_greedy = method_contract(Greedy(learner="tree"))
test_greedy_by_one_criterion = pytest.mark.slow(
    method_contract(GreedyAcc(learner="tree"), GreedyCost(learner="tree", strength=3.0))
)
test_simulation = method_contract(Simulation(features=4, most_features=5, sizes=3))
