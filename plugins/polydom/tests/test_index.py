"""Every index returns the model that a scan of all candidates finds, at the crossings and between them."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from bench_polydom.candidates import Candidates, prune
from bench_polydom.envelope import presence_by_envelope
from bench_polydom.index import FullIndex, Index, NaiveScan, PolyDomIndex
from bench_polydom.polynomials import AFFORDABLE, MAX_SIZE, evaluate
from bench_polydom.sweep import all_crossings, presence_by_sweep
from hypothesis import given, settings
from hypothesis import strategies as st

price = st.one_of(st.integers(0, 4).map(float), st.floats(1e-9, 100), st.sampled_from([1e-9, 0.1, 0.3, 1e6]))


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    """Curves of any kind: many equal, parallel or touching, with equal accuracies among them."""
    count = draw(st.integers(1, 12))
    width = draw(st.integers(1, 5))
    curves = draw(st.lists(st.lists(price, min_size=width, max_size=width), min_size=count, max_size=count))
    accuracy = draw(st.lists(st.integers(0, 5).map(lambda k: k / 5), min_size=count, max_size=count))
    return Candidates(np.arange(count), np.array(accuracy), np.array(curves))


def best(among: Candidates, size: float, budget: float) -> float:
    """The highest accuracy within a budget, by a loop; −1 if no candidate fits."""
    found = -1.0
    for curve, accuracy in zip(among.curves.tolist(), among.accuracy.tolist(), strict=True):
        cost = 0.0
        for coefficient in reversed(curve):
            cost = cost * size + coefficient
        if cost <= budget * AFFORDABLE:
            found = max(found, accuracy)
    return found


def exact(curve: list[float], size: float) -> Fraction:
    """The exact value of a curve at a size."""
    return sum((Fraction(c) * Fraction(size) ** power for power, c in enumerate(curve)), Fraction(0))


def answer(index: Index, size: float, budget: float) -> float:
    found = index.lookup(size, budget)
    return -1.0 if found < 0 else float(index.candidates.accuracy[found])


def queries(among: Candidates, more: list[float]) -> list[tuple[float, float]]:
    """Sizes at all crossings, between them and 0; budgets at and around every cost at these sizes."""
    cuts = all_crossings(among).tolist()
    between = [(a + b) / 2 for a, b in zip([0.0, *cuts], [*cuts, 2 * max([1.0, *cuts])], strict=True)]
    asked = []
    for size in [0.0, *cuts[:12], *between[:12], *more]:
        if size <= 1e12:
            costs = set(np.polynomial.polynomial.polyval(size, among.curves.T).tolist())
            asked += [(size, budget) for cost in costs for budget in (cost, cost * 0.999, cost * 1.001)]
            asked += [(size, 0.0), (size, math.inf)]
    return asked


class ByNumpy(NaiveScan):
    """`NaiveScan` that always scans by NumPy."""

    LOOP_BELOW = 0


# Below that a cost can be subnormal, where a relative tolerance means nothing.
@given(candidates(), st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e4)), max_size=3))
@settings(max_examples=60)
@pytest.mark.weekly
def test_every_index_finds_the_best_within_the_budget(among: Candidates, sizes: list[float]) -> None:
    pruned = prune(among)
    indexes: list[Index] = [
        *(scan(each) for scan in (NaiveScan, ByNumpy) for each in (among, pruned)),
        *(PolyDomIndex.build(each, by) for by in ("envelope", "sweep") for each in (among, pruned)),
        FullIndex(among),
    ]
    for size, budget in queries(among, sizes):
        expected = best(among, size, budget)
        for index in indexes:
            assert answer(index, size, budget) == expected, (type(index).__name__, size, budget)


@pytest.mark.slow
@given(candidates())
@settings(max_examples=100, deadline=None)
def test_skylines_only_change_at_interesting_points(among: Candidates) -> None:
    """Theorem 3.13: the stored skyline of a point is the skyline at every crossing up to the next point."""
    full, index = FullIndex(among), PolyDomIndex.build(among)
    assert set(index.starts) <= set(full.starts)
    for here, there in zip(index.offsets[:-2], index.offsets[1:-1], strict=True):
        following = index.offsets[np.searchsorted(index.offsets, there) + 1]
        assert index.members[here:there].tolist() != index.members[there:following].tolist()
    edges = [*full.starts.tolist(), 2 * full.starts[-1] + 1]
    for low, high in itertools.pairwise(edges):
        middle = (low + high) / 2
        if high - low <= 1e-6 * high or middle > 1e12:
            continue
        cost = [exact(curve, middle) for curve in among.curves.tolist()]
        skyline, top = [], -1.0
        for one in sorted(range(len(among)), key=lambda one: (cost[one], -among.accuracy[one])):
            if among.accuracy[one] > top:
                skyline.append(one)
                top = among.accuracy[one]
        stored = index.skyline(middle).tolist()
        assert [among.accuracy[one] for one in stored] == [among.accuracy[one] for one in skyline]
        assert [cost[one] for one in stored] == [cost[one] for one in skyline]


def test_sweep_and_envelopes_find_the_same_intervals() -> None:
    rng = np.random.default_rng(3)
    among = Candidates(np.arange(60), rng.random(60), rng.uniform(0, [100, 1, 0.001], (60, 3)))
    (who, since, until), swaps = presence_by_sweep(among)
    other = presence_by_envelope(among)
    assert swaps == len(all_crossings(among))
    for a, b in zip(sorted(zip(who, since, until, strict=True)), sorted(zip(*other, strict=True)), strict=True):
        assert a[0] == b[0]
        np.testing.assert_allclose(a[1:], b[1:], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_curves_that_all_but_meet_in_one_point_do_not_break_the_sweep(degree: int) -> None:
    """A bundle through (1, 1): all crossings coincide up to rounding, and every curve turns over."""
    count = 40
    slopes = np.linspace(0.0, 1.0, count) * (1 + np.random.default_rng(0).normal(0, 1e-15, count))
    curves = np.zeros((count, degree + 1))
    curves[:, 0], curves[:, degree] = 1.0 - slopes, slopes
    among = Candidates(np.arange(count), np.random.default_rng(1).permutation(count) / count, np.abs(curves))
    swept, enveloped = PolyDomIndex.build(among, "sweep"), PolyDomIndex.build(among)
    for size in (0.0, 0.5, 0.999, 1.0, 1.001, 2.0, 1e6):
        for budget in np.polynomial.polynomial.polyval(size, among.curves.T):
            assert answer(swept, size, budget) == answer(enveloped, size, budget) == best(among, size, budget)


@pytest.mark.parametrize(
    "curves",
    [
        [[1.0, 1.0, 0.0], [1.0 + 1e-12, 1.0 - 1e-15, 0.0], [1.0 - 1e-12, 1.0 + 1e-15, 0.0]],  # nearly parallel
        [[4.0, 0.0, 1.0], [0.0, 4.0, 0.0], [3.0, 1.0, 0.0]],  # the first two touch at 2
        [[2.0, 3.0, 1.0]] * 3,  # identical
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]],  # zero, twice
        [[1.0, 2.0, 0.0], [1.0, 0.0, 3.0], [1.0, 1.0, 1.0]],  # all meet at size 0
        [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.5]],  # at 0 and again, all three, at 2
        [[1e18, 0.0, 0.0], [0.0, 1e-18, 0.0], [0.0, 0.0, 1e-36]],  # very different scales
    ],
)
@pytest.mark.parametrize("accuracy", [[0.5, 0.6, 0.7], [0.7, 0.6, 0.5], [0.6, 0.7, 0.5], [0.6, 0.6, 0.6]])
def test_curves_that_touch_coincide_or_all_but_do(curves: list[list[float]], accuracy: list[float]) -> None:
    among = Candidates(np.arange(3), np.array(accuracy), np.array(curves))
    indexes = [PolyDomIndex.build(among, "sweep"), PolyDomIndex.build(among), FullIndex(among)]
    for size, budget in queries(among, [1e-9, 1.0, 2.0, 3.0, 1e6]):
        for index in indexes:
            assert answer(index, size, budget) == best(among, size, budget)


@pytest.mark.slow
@given(candidates(), st.floats(1.0, 1e6))
@settings(max_examples=100, deadline=None)
def test_least_costs_are_no_more_than_any_cost_in_the_range(among: Candidates, far: float) -> None:
    """Look-ups rely on it: no model that fits a size is rejected for its cost at the start of the range."""
    index = PolyDomIndex.build(among)
    least = np.array(index._least)
    for low, high, start in zip(index.offsets[:-1], index.offsets[1:], index.starts.tolist(), strict=True):
        assert (np.diff(least[low:high]) >= 0).all()
        for size in (start, start * (1 + 1e-12), start + far):
            if bisect_right(index.starts.tolist(), size) - 1 == np.searchsorted(index.offsets, low):
                assert (least[low:high] <= evaluate(among.curves[index.members[low:high]], size)).all()


def test_the_papers_example_of_a_skyline_that_must_change() -> None:
    """Two curves that cross at n = 2: the more accurate is more expensive before and cheaper after."""
    among = Candidates(np.array([1, 2]), np.array([0.8, 0.65]), np.array([[4.0, 0.0], [0.0, 2.0]]))
    index = PolyDomIndex.build(among)
    assert index.starts.tolist() == [0.0, 2.0]
    assert index.skyline(1.9).tolist() == [1, 0]
    assert index.skyline(2.0).tolist() == [0]
    assert index.entries == 3
    assert index.lookup(1.0, 3.0) == 1
    assert index.lookup(1.0, 1.0) == -1
    assert index.lookup(3.0, 5.0) == 0


def test_an_index_without_candidates_returns_none() -> None:
    nothing = Candidates(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3)))
    for index in (PolyDomIndex.build(nothing), PolyDomIndex.build(nothing, "sweep"), NaiveScan(nothing)):
        assert index.lookup(5.0, 100.0) == -1


@pytest.mark.parametrize(
    ("size", "budget", "said"),
    [(-1.0, 1.0, "size"), (math.nan, 1.0, "size"), (MAX_SIZE * 2, 1.0, "size"), (math.inf, 1.0, "size"),
     (1.0, -0.1, "budget"), (1.0, math.nan, "budget")],
)  # fmt: skip
@pytest.mark.parametrize("kind", [PolyDomIndex.build, NaiveScan, FullIndex])
def test_a_look_up_out_of_range_is_refused(kind: type, size: float, budget: float, said: str) -> None:
    index = kind(Candidates(np.array([0]), np.array([0.5]), np.array([[1.0]])))
    with pytest.raises(ValueError, match=said):
        index.lookup(size, budget)


def test_pruning_keeps_the_smaller_of_equals_and_models_that_are_best_somewhere() -> None:
    masks = np.array([0b011, 0b001, 0b100, 0b110])
    curves = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 3.0], [0.5, 3.0]])
    kept = prune(Candidates(masks, np.array([0.7, 0.7, 0.7, 0.7]), curves))
    assert set(kept.masks.tolist()) == {0b001, 0b100}


def test_full_index_counts_a_skyline_for_every_crossing() -> None:
    among = Candidates(np.arange(3), np.array([0.9, 0.5, 0.4]), np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.5]]))
    full, compact = FullIndex(among), PolyDomIndex.build(among)
    assert all_crossings(among).tolist() == [2.0]
    assert (compact.points, compact.entries) == (1, 1)
    assert (full.points, full.entries) == (2, 2)
    assert bisect_right(full.starts.tolist(), 2.0) == 2


@pytest.mark.parametrize(
    "wrong",
    [(np.arange(2), np.array([0.5]), np.ones((2, 1))), (np.arange(1), np.array([np.nan]), np.ones((1, 1))),
     (np.arange(1), np.array([0.5]), -np.ones((1, 1))), (np.arange(1), np.array([0.5]), np.full((1, 1), np.inf))],
)  # fmt: skip
def test_malformed_candidates_are_refused(wrong: tuple[np.ndarray, ...]) -> None:
    with pytest.raises(ValueError, match=r"candidates|finite"):
        Candidates(*wrong)
