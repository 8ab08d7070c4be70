"""The simulation: the combiners, the sets that each algorithm trains, and one draw for all algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from bench_polydom.simulation import Draw, Simulation, draw_features, simulate

from bench_core import Family
from bench_core.testing.problems import make_problem


def test_combiners_worked_by_hand() -> None:
    single = np.array([0.5, 0.8, 0.6])
    assert Draw(np.ones((3, 3)), single, "best").accuracy((0, 1, 2)) == 0.8
    assert Draw(np.ones((3, 3)), single, "all").accuracy((0, 1)) == pytest.approx(0.9)
    assert Draw(np.ones((3, 3)), single, "all").accuracy(()) == 0.5


def test_draws_are_within_the_papers_ranges() -> None:
    draw = draw_features(2000, "best", np.random.default_rng(0), 0.5)
    assert (draw.prices <= [100, 1, 0.001]).all()
    helps = draw.single >= 0.7
    assert 0.45 < helps.mean() < 0.55
    assert (draw.single[helps] <= 0.9).all()
    assert ((draw.single[~helps] >= 0.5) & (draw.single[~helps] <= 0.6)).all()


def run(**parameters: object) -> Family:
    method = Simulation(features=7, most_features=9, sizes=4, **parameters)  # type: ignore[arg-type]
    found = method.fit(make_problem("binary"))
    assert isinstance(found, Family)
    return found


def test_expansions_by_number_of_features() -> None:
    everything = run(algorithm="naive-expand-all").history["sets_expanded"]
    assert list(everything) == [2**d for d in range(10)]
    assert list(run(combiner="all").history["sets_expanded"])[3:] == list(everything)[3:]
    best = np.array(run(covering="both").history["sets_expanded"])
    assert (best[6:] < 0.7 * np.array(everything)[6:]).all()
    assert list(run(algorithm="greedy-cost").history["sets_expanded"]) == [d + 1 for d in range(10)]


def test_all_algorithms_see_the_same_draw_and_none_beats_polydom() -> None:
    for combiner in ("best", "all"):
        best = np.array(run(combiner=combiner).history["accuracy"])
        for algorithm in ("naive-expand-all", "naive-lookup", "polydom-index-all", "polydom-index-expanded"):
            np.testing.assert_array_equal(run(combiner=combiner, algorithm=algorithm).history["accuracy"], best)
        for algorithm in ("greedy", "greedy-acc", "greedy-cost"):
            other = np.array(run(combiner=combiner, algorithm=algorithm).history["accuracy"])
            assert (other <= best + 1e-12).all()
        loose = np.array(run(combiner=combiner, alpha=0.1).history["accuracy"])
        assert ((best - loose) <= 0.1 + 1e-12).all()


def test_index_sizes_stand_in_the_papers_order() -> None:
    sizes = {
        name: run(combiner="all", algorithm=name).diagnostics["index_entries"]
        for name in ("naive-lookup", "polydom", "polydom-index-all", "polydom-index-expanded")
    }
    assert sizes["naive-lookup"] <= sizes["polydom"] <= sizes["polydom-index-all"] < sizes["polydom-index-expanded"]


def test_times_are_recorded_only_on_request() -> None:
    assert "lookup_microseconds" not in run().diagnostics
    assert run(time_lookups=True).diagnostics["lookup_microseconds"] > 0


def test_a_draw_without_features_is_the_empty_set() -> None:
    expansion, index = simulate(draw_features(0, "best", np.random.default_rng(0)), "polydom")
    assert expansion.n_expanded == 1
    assert index is not None
    assert index.lookup(10.0, 0.0) == 0


@pytest.mark.parametrize(
    "wrong", [{"features": 16}, {"most_features": 30}, {"helpful": 2.0}, {"budgets": ()}, {"sizes": 0}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"need|must|probability"):
        Simulation(**wrong)  # type: ignore[arg-type]
