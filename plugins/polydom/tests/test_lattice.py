"""Lattice search, compared with brute force over all sets, sizes and budgets: no skipped set is needed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from bench_polydom.best_first import best_first_search
from bench_polydom.candidates import Candidates, features_of, mask_of, prune, set_curves
from bench_polydom.greedy import grow
from bench_polydom.index import PolyDomIndex
from bench_polydom.lattice import MAX_FEATURES, Expansion, expand_all, search
from bench_polydom.polynomials import AFFORDABLE
from bench_polydom.progressive import progressive_search
from bench_polydom.sweep import all_crossings
from hypothesis import given, settings
from hypothesis import strategies as st

Learner = Callable[[tuple[int, ...]], float]


def learner_of(table: list[float]) -> Learner:
    return lambda features: table[mask_of(features)]


def monotone(raw: list[float], e: float = 0.0) -> list[float]:
    """A monotone set function from any numbers, by the maximum over subsets; lowered by up to e if e > 0."""
    values = list(raw)
    for mask in range(len(values)):
        values[mask] = max(raw[sub] for sub in range(mask + 1) if sub & mask == sub)
    return [value - e * ((mask * 7919) % 5) / 4 for mask, value in enumerate(values)]


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, list[float], np.ndarray]:
    """d ≤ 6, any numbers for the sets (coarse ones tie), prices of degree ≤ 2."""
    d = draw(st.integers(0, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    steps = draw(st.sampled_from([3, 10, 1000]))
    raw = (rng.integers(0, steps + 1, 1 << d) / steps).tolist()
    integers, real = rng.integers(0, 4, (d, 3)).astype(float), rng.uniform(0, [100, 1, 0.001], (d, 3))
    return d, raw, integers if draw(st.booleans()) else real


def queries(d: int, prices: np.ndarray) -> list[tuple[float, float]]:
    every = Candidates(np.arange(1 << d), np.zeros(1 << d), set_curves(np.arange(1 << d), prices))
    cuts = [cut for cut in all_crossings(every).tolist() if cut < 1e9]
    cuts = cuts[:: max(1, len(cuts) // 8)]
    between = [(a + b) / 2 for a, b in zip([0.0, *cuts], [*cuts, 1000.0], strict=True)]
    asked = []
    for size in (0.0, 1.0, 500.0, *cuts, *between):
        costs = np.unique(np.polynomial.polynomial.polyval(size, every.curves.T))
        asked += [(size, float(cost)) for cost in costs[:: max(1, len(costs) // 12)]]
    return asked


def regret(d: int, table: list[float], prices: np.ndarray, expansion: Expansion) -> float:
    """The most accuracy lost to the brute-force optimum over sizes and budgets, crossings among them."""
    index = PolyDomIndex.build(prune(expansion.candidates(prices)))
    curves = set_curves(np.arange(1 << d), prices)
    values = np.array(table)
    worst = -math.inf
    for size, budget in queries(d, prices):
        cost = np.polynomial.polynomial.polyval(size, curves.T)
        found = index.lookup(size, budget)
        assert found >= 0
        assert np.polynomial.polynomial.polyval(size, index.candidates.curves[found]) <= budget * (1 + 1e-11)
        worst = max(worst, values[cost <= budget * AFFORDABLE].max() - index.candidates.accuracy[found])
    return worst


@given(problems())
@settings(max_examples=60, deadline=None)
def test_a_monotone_learner_loses_nothing_at_alpha_zero(problem: tuple[int, list[float], np.ndarray]) -> None:
    d, raw, prices = problem
    table = monotone(raw)
    assert regret(d, table, prices, search(learner_of(table), d)) == 0.0


@given(problems(), st.sampled_from([0.01, 0.1, 0.3, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_monotone_learner_loses_at_most_alpha(problem: tuple[int, list[float], np.ndarray], alpha: float) -> None:
    d, raw, prices = problem
    table = monotone(raw)
    assert regret(d, table, prices, search(learner_of(table), d, alpha)) <= alpha + 1e-12


@given(problems(), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.05, 0.2]))
@settings(max_examples=60, deadline=None)
def test_violations_up_to_e_cost_nothing_beyond_alpha(
    problem: tuple[int, list[float], np.ndarray], alpha: float, e: float
) -> None:
    d, raw, prices = problem
    table = monotone(raw, e)
    assert regret(d, table, prices, search(learner_of(table), d, alpha, e)) <= alpha + 1e-12


@given(problems())
@settings(max_examples=40, deadline=None)
def test_progressive_searches_expand_more_for_smaller_alphas(problem: tuple[int, list[float], np.ndarray]) -> None:
    """Property 3.9 holds if each search continues from the previous ones."""
    d, raw, _ = problem
    learner = learner_of(monotone(raw))
    alphas = (2.0, 0.5, 0.2, 0.05, 0.0)
    expanded = [set(progressive_search(learner, d, alphas[: k + 1]).accuracy) for k in range(len(alphas))]
    for fewer, more in itertools.pairwise(expanded):
        assert fewer <= more


@given(problems())
@settings(max_examples=40, deadline=None)
def test_a_search_that_begins_with_greedy_sets_has_those_of_greedyacc(
    problem: tuple[int, list[float], np.ndarray],
) -> None:
    """So a search that the budget stops has the most accurate greedy set of every size."""
    d, raw, prices = problem
    learner = learner_of(raw)
    greedy = grow(learner, d, lambda masks: set_curves(masks, prices), 0.0, (0.0,))
    most = greedy.expansion.n_expanded
    found = progressive_search(learner, d, greedy_first=True, max_sets=most)
    assert set(found.accuracy) == set(greedy.expansion.accuracy)
    assert {mask.bit_count() for mask in found.accuracy} == set(range(d + 1))


@given(problems(), st.booleans(), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_a_precomputation_budget_gives_the_smallest_alpha_it_completes(
    problem: tuple[int, list[float], np.ndarray], greedy_first: bool, most: int
) -> None:
    d, raw, prices = problem
    table = monotone(raw)
    found = progressive_search(learner_of(table), d, (2.0, 0.3, 0.1, 0.0), greedy_first=greedy_first, max_sets=most)
    assert found.n_expanded <= most
    if math.isfinite(found.alpha):
        assert regret(d, table, prices, found) <= found.alpha + 1e-12
    if not found.stopped:
        assert found.alpha == 0.0


@given(problems(), st.booleans(), st.sampled_from([0.0, 0.05]))
@settings(max_examples=80, deadline=None)
def test_separate_best_first_searches_expand_more_for_smaller_alphas(
    problem: tuple[int, list[float], np.ndarray], obeys: bool, e: float
) -> None:
    """Property 3.9 for separate searches and any learner: a smaller α first expands the sets of the larger α."""
    d, raw, _ = problem
    learner = learner_of(monotone(raw, e) if obeys else raw)
    alphas = (2.0, 0.5, 0.2, 0.07, 0.05, 0.0)
    expanded = [list(best_first_search(learner, d, alpha, e).accuracy) for alpha in alphas]
    for fewer, more in itertools.pairwise(expanded):
        assert fewer == more[: len(fewer)]


@given(problems(), st.sampled_from([0.0, 0.05, 0.3]), st.sampled_from([0.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_best_first_loses_at_most_alpha(problem: tuple[int, list[float], np.ndarray], alpha: float, e: float) -> None:
    d, raw, prices = problem
    table = monotone(raw, e)
    lost = regret(d, table, prices, best_first_search(learner_of(table), d, alpha, e))
    assert lost == 0.0 if alpha == e == 0.0 else lost <= alpha + 1e-12


@given(problems(), st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_a_best_first_search_that_is_stopped_says_which_alpha_it_is_complete_for(
    problem: tuple[int, list[float], np.ndarray], most: int
) -> None:
    d, raw, prices = problem
    table = monotone(raw)
    found = best_first_search(learner_of(table), d, max_sets=most)
    assert found.n_expanded <= most
    assert regret(d, table, prices, found) <= found.alpha + 1e-12
    assert found.stopped == (found.alpha > 0.0)
    if found.stopped:
        again = best_first_search(learner_of(table), d, found.alpha)
        assert again.accuracy == found.accuracy or len(again.accuracy) < most


def test_best_first_with_few_features_or_invalid_arguments() -> None:
    assert set(best_first_search(lambda s: 0.5, 0).accuracy) == {0}
    assert set(best_first_search(lambda s: 0.5 + 0.1 * len(s), 1).accuracy) == {0, 1}
    assert set(best_first_search(lambda s: 0.5, 3).accuracy) == {0, 7}
    assert best_first_search(lambda s: 0.1 * len(s), 3, max_seconds=-1.0).n_expanded == 0
    with pytest.raises(ValueError, match="choose at most 22 features"):
        best_first_search(lambda s: 0.5, MAX_FEATURES + 1)
    with pytest.raises(ValueError, match="alpha must be finite"):
        best_first_search(lambda s: 0.5, 2, -1.0)


SAVED = mask_of((0, 1))
LOST = mask_of((0, 1, 4))


def without_nesting() -> Learner:
    """A learner with {0, 1} sandwiched for the larger α; without its accuracy, {0, 1, 4} is not sandwiched."""
    raised = {SAVED: 0.6, mask_of((0, 1, 2, 4)): 0.65, mask_of(range(5)): 1.0}
    raw = [raised.get(mask, 0.5) for mask in range(32)]
    raw[mask_of((0, 1, 3, 4))] = 0.9
    table = monotone(raw)
    table[LOST] = 0.62
    return learner_of(monotone(table))


def test_property_39_fails_for_two_separate_searches_by_layers() -> None:
    """The larger α skips {0, 1}; the smaller one trains it, and thereby skips {0, 1, 4}, which the larger trains."""
    larger, smaller = (set(search(without_nesting(), 5, alpha).accuracy) for alpha in (0.1, 0.05))
    assert SAVED in smaller - larger
    assert LOST in larger - smaller


def by_frontiers(learner: Learner, d: int, alpha: float, top_first: bool) -> set[int]:
    """The paper's Algorithm 2 to the letter: a set is only reached from an expanded neighbour on its own side."""
    known: dict[int, float] = {}
    ends = {False: {0}, True: {(1 << d) - 1}}
    for _ in range(d // 2 + 1):
        for top in (top_first, not top_first):
            done = set()
            for mask in sorted(ends[top] - known.keys()):
                below = max((known[s] for s in known if s & mask == s), default=-math.inf)
                above = min((known[t] for t in known if t & mask == mask), default=math.inf)
                if not below >= above - alpha:
                    done.add(mask)
            for mask in done:
                known[mask] = learner(features_of(mask))
            ends[top] = {mask ^ (1 << f) for mask in done for f in range(d) if (mask >> f) & 1 == top}
    return set(known)


def test_property_39_fails_too_when_sets_are_only_reached_from_expanded_neighbours() -> None:
    larger, smaller = (by_frontiers(without_nesting(), 5, alpha, top_first=False) for alpha in (0.1, 0.05))
    assert SAVED in smaller - larger
    assert LOST in larger - smaller
    raised = {mask_of((0, 2)): 0.85, mask_of((2, 3)): 0.9, mask_of((4,)): 0.9, mask_of((2, 3, 4)): 0.95}
    learner = learner_of(monotone([raised.get(mask, 0.8) for mask in range(32)]))
    larger, smaller = (by_frontiers(learner, 5, alpha, top_first=True) for alpha in (0.1, 0.05))
    assert larger - smaller == {mask_of((2, 3, 4))}


@given(problems(), st.sampled_from([0.0, 0.05, 0.2]))
@settings(max_examples=60, deadline=None)
def test_every_order_expands_what_no_pair_of_sets_sandwiches(
    problem: tuple[int, list[float], np.ndarray], alpha: float
) -> None:
    """For those sets Property 3.9 is true: a larger α leaves fewer of them."""
    d, raw, _ = problem
    table = monotone(raw)

    def needed(tolerance: float) -> set[int]:
        found = set()
        for mask in range(1 << d):
            below = max((table[s] for s in range(mask) if s & mask == s), default=-math.inf)
            above = min((table[t] for t in range(mask + 1, 1 << d) if t & mask == mask), default=math.inf)
            if not below >= above - tolerance:
                found.add(mask)
        return found

    assert needed(alpha + 0.1) <= needed(alpha)
    assert needed(alpha) <= set(search(learner_of(table), d, alpha).accuracy)
    assert needed(alpha) <= set(best_first_search(learner_of(table), d, alpha).accuracy)


def test_covering_loses_two_features_that_only_help_together() -> None:
    """Their parity is the class: each alone is useless, so covering prunes the pair."""

    def parity(features: tuple[int, ...]) -> float:
        return 1.0 if {0, 1} <= set(features) else 0.5

    prices = np.ones((4, 1))
    safe = PolyDomIndex.build(prune(search(parity, 4).candidates(prices)))
    covered = PolyDomIndex.build(prune(search(parity, 4, covering="below").candidates(prices)))
    assert safe.candidates.accuracy[safe.lookup(0.0, 2.0)] == 1.0
    assert covered.candidates.accuracy[covered.lookup(0.0, 2.0)] == 0.5


def test_covering_from_above_loses_cheap_pairs_that_nothing_affordable_replaces() -> None:
    """Any two of four features are as good as all; no triple is worse than all four, so the inverse prunes pairs."""

    def two_suffice(features: tuple[int, ...]) -> float:
        return 0.5 + 0.2 * min(len(features), 2)

    prices = np.ones((4, 1))
    for covering, expected in (("none", 0.9), ("below", 0.9), ("both", 0.7)):
        index = PolyDomIndex.build(prune(search(two_suffice, 4, covering=covering).candidates(prices)))
        assert index.candidates.accuracy[index.lookup(0.0, 2.0)] == pytest.approx(expected), covering


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.0, 0.02]))
@settings(max_examples=60, deadline=None)
def test_covering_from_below_loses_at_most_alpha_a_feature_where_returns_diminish(
    seed: int, d: int, alpha: float
) -> None:
    """Coverage of weighted points: what a feature adds to a set only shrinks as the set grows."""
    rng = np.random.default_rng(seed)
    weight = rng.dirichlet(np.ones(9)) * 0.5
    covers = rng.random((d, 9)) < 0.4
    table = [0.5 + float(weight[covers[list(features_of(m))].any(axis=0)].sum()) for m in range(1 << d)]
    prices = rng.uniform(0, [100, 1, 0.001], (d, 3))
    found = search(learner_of(table), d, alpha, covering="below")
    assert regret(d, table, prices, found) <= alpha * d + 1e-12


def test_covering_is_sound_where_a_set_is_as_good_as_its_best_feature() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        single, prices = rng.random(7), rng.uniform(0, [100, 1, 0.001], (7, 3))

        def best(features: tuple[int, ...], single: np.ndarray = single) -> float:
            return max((float(single[f]) for f in features), default=0.0)

        table = [best(features_of(mask)) for mask in range(128)]
        covered = search(best, 7, covering="below")
        assert covered.n_expanded <= search(best, 7).n_expanded
        assert regret(7, table, prices, covered) == 0.0


def test_sandwiched_sets_are_skipped_as_worked_out_by_hand() -> None:
    """Feature 0 alone is as good as all three: every other set with it lies between the two."""
    found = search(lambda s: 0.9 if 0 in s else 0.5 + 0.1 * len(s), 3)
    skipped = {0b011, 0b101}
    assert set(found.accuracy) == set(range(8)) - skipped
    assert set(search(lambda s: 0.5, 3).accuracy) == {0, 7}
    assert set(search(lambda s: 0.1 * len(s), 3, alpha=2.0).accuracy) == {0, 7}


def test_no_feature_and_one_feature() -> None:
    assert set(search(lambda s: 0.5, 0).accuracy) == {0}
    assert set(search(lambda s: 0.5 + 0.1 * len(s), 1).accuracy) == {0, 1}
    assert expand_all(lambda s: 0.5, 0).n_expanded == 1


def test_a_learner_that_fails_on_some_sets_is_recorded_skipped_and_counted() -> None:
    def fragile(features: tuple[int, ...]) -> float:
        if features == (1,):
            raise ArithmeticError("singular")
        return math.nan if features == (0, 2) else 0.5 + 0.1 * len(features)

    found = search(fragile, 3)
    assert found.failures == {0b010: "ArithmeticError: singular", 0b101: "its accuracy is nan"}
    assert found.n_expanded == 8
    assert not {0b010, 0b101} & set(found.candidates(np.ones((3, 1))).masks.tolist())


@pytest.mark.parametrize("wrong", [{"alpha": -0.1}, {"alpha": math.nan}, {"e": -1.0}, {"e": math.inf}])
def test_negative_or_infinite_tolerances_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be finite and not negative"):
        search(lambda s: 0.5, 2, **wrong)


def test_too_many_features_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="choose at most 22 features"):
        search(lambda s: 0.5, MAX_FEATURES + 1)


def test_masks_and_features_are_each_others_inverse() -> None:
    for mask in (0, 1, 6, 1 << 21, 0b101101):
        assert mask_of(features_of(mask)) == mask
