"""The exact front, compared with brute force, including multiplicities."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from bench_emsco.exhaustive import chromosome_count, exact_front, exact_front_reference
from bench_emsco.prices import SubsetPrices
from bench_emsco.subset_cache import SubsetCache
from bench_models.subsets.sets import pack_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression


def random_table(seed, n, rows, spread=30):
    rng = np.random.default_rng(seed)
    confident = rng.random((1 << n, rows)) < rng.random()
    right = confident & (rng.random((1 << n, rows)) < 0.7)
    costs = SubsetPrices(rng.integers(0, spread, size=n), [range(n // 2)], [3]).subset_cost_table()
    return pack_rows(confident), pack_rows(right), costs


def rows_of(front):
    return [(*point, int(times)) for point, times in zip(front.points, front.multiplicity, strict=True)]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 5),
    rows=st.integers(1, 200),
    stages=st.integers(1, 6),
    spread=st.sampled_from([1, 3, 1000]),
)
def test_kernel_and_scalar_reference_agree_exactly(seed, n, rows, stages, spread):
    confident, right, costs = random_table(seed, n, rows, spread)
    front = exact_front(confident, right, costs, rows, stages)
    assert rows_of(front) == exact_front_reference(confident, right, costs, rows, min(stages, n))
    assert front.n_chromosomes == chromosome_count(n, stages)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "stages"), [(6, 4), (6, 6), (7, 3)])
def test_kernel_and_scalar_reference_agree_on_longer_chains(n, stages):
    confident, right, costs = random_table(n, n, 70)
    front = exact_front(confident, right, costs, 70, stages)
    assert rows_of(front) == exact_front_reference(confident, right, costs, 70, stages)


def test_chromosome_counts_equal_the_papers():
    assert chromosome_count(14, 4) == 254_152_083
    assert round(chromosome_count(12, 4), -6) == 15_000_000  # 'nearly 15 million'
    assert [chromosome_count(3, k) for k in (1, 2, 3, 9)] == [1, 7, 13, 13]


@pytest.mark.slow
def test_result_does_not_depend_on_threads():
    confident, right, costs = random_table(5, 9, 130)
    one = exact_front(confident, right, costs, 130, 4, threads=1)
    two = exact_front(confident, right, costs, 130, 4, threads=2)
    assert rows_of(one) == rows_of(two)
    assert (one.chromosomes(50, threads=1) == two.chromosomes(50, threads=2)).all()


@pytest.mark.slow
def test_float_costs_give_the_same_front_when_they_are_exact():
    confident, right, costs = random_table(6, 6, 90)
    exact = exact_front(confident, right, costs, 90, 4)
    floats = exact_front(confident, right, costs.astype(float), 90, 4)
    assert rows_of(exact) == rows_of(floats)


def evaluate(chromosome, confident, right, costs, rows):
    """Objectives of one chromosome, row by row."""
    chain = [sum(1 << f for f, s in enumerate(chromosome) if s <= j) for j in range(max(chromosome) + 1)]

    def bit(words, row):
        return int(words[row // 64]) >> (row % 64) & 1

    decided = hits = total = 0
    for row in range(rows):
        leaves = next((s for s in chain if bit(confident[s], row)), None)
        decided += leaves is not None
        hits += leaves is not None and bit(right[leaves], row)
        total += int(costs[chain[-1] if leaves is None else leaves])
    return decided, hits, total


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_listed_chromosomes_and_membership_are_those_of_brute_force(stages):
    n, rows = 5, 66
    confident, right, costs = random_table(8, n, rows, spread=3)
    front = exact_front(confident, right, costs, rows, stages)
    points = set(front.points)
    optimal = set()
    for chromosome in product(range(stages), repeat=n):
        if len(set(chromosome)) != max(chromosome) + 1:
            continue
        objectives = evaluate(chromosome, confident, right, costs, rows)
        inside = bool(front.membership(*objectives)[0])
        assert inside == (objectives in points)
        if inside:
            optimal.add(chromosome)
    listed = front.chromosomes(10**6)
    assert {tuple(row) for row in listed.tolist()} == optimal
    assert len(listed) == front.n_optimal
    assert len(front.chromosomes(3)) == min(3, front.n_optimal)


@pytest.mark.slow
def test_without_conclusive_rows_the_front_has_one_point():
    none = np.zeros((8, 1), dtype=np.uint64)
    front = exact_front(none, none, np.arange(8), 10, 3)
    assert rows_of(front) == [(0, 0, 70, 13)]


def test_accuracy_is_compared_as_a_rational():
    """1/3 and 2/6 are equal, so the cheaper point with more conclusive rows wins alone."""
    confident = np.array([[0], [0b111], [0], [0b111111]], dtype=np.uint64)
    right = np.array([[0], [0b001], [0], [0b000011]], dtype=np.uint64)
    front = exact_front(confident, right, np.array([0, 1, 1, 1]), 6, 1)
    assert front.points == [(6, 2, 6)]


@pytest.mark.parametrize(("n", "stages"), [(4, 4), (5, 3), (6, 4), pytest.param(7, 4, marks=pytest.mark.weekly)])
def test_front_of_fitted_models_equals_row_by_row_scikit_learn(n, stages):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(110, n))
    y = (X @ rng.normal(size=n) + rng.normal(size=110) > 0).astype(int)
    prices = SubsetPrices([round(float(p), 1) for p in rng.uniform(0.5, 3, size=n)], rows=50)
    cache = SubsetCache(X[:60], y[:60], X[60:], y[60:], 2, 0.75)
    cache.fill_all()
    costs = prices.subset_cost_table()
    front = exact_front(cache.confident, cache.right, costs, 50, stages)

    decisions = {}
    for mask in range(1, 1 << n):
        columns = [f for f in range(n) if mask >> f & 1]
        model = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(X[:60][:, columns], y[:60])
        probabilities = model.predict_proba(X[60:][:, columns])
        decisions[mask] = (probabilities.max(axis=1) >= 0.75, probabilities.argmax(axis=1) == y[60:])
    tally: dict = {}
    for chromosome in product(range(stages), repeat=n):
        if len(set(chromosome)) != max(chromosome) + 1:
            continue
        stage_of = np.array(chromosome)
        waiting = np.ones(50, dtype=bool)
        decided = hits = total = 0
        for stage in range(stage_of.max() + 1):
            mask = int((1 << np.flatnonzero(stage_of <= stage)).sum())
            confident, correct = decisions[mask]
            leaving = waiting & confident
            decided += int(leaving.sum())
            hits += int((leaving & correct).sum())
            total += int(leaving.sum()) * int(costs[mask])
            waiting &= ~confident
        total += int(waiting.sum()) * int(costs[-1])
        tally[decided, hits, total] = tally.get((decided, hits, total), 0) + 1

    def better(a, b):
        accuracy = [Fraction(p[1], p[0]) if p[0] else Fraction(0) for p in (a, b)]
        return a != b and a[0] >= b[0] and accuracy[0] >= accuracy[1] and a[2] <= b[2]

    expected = sorted((*p, m) for p, m in tally.items() if not any(better(other, p) for other in tally))
    assert sorted(rows_of(front)) == expected


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"costs": np.arange(4)}, "match"),
        ({"n_rows": 65}, "n_rows"),
        ({"max_stages": 0}, "max_stages"),
        ({"costs": -np.arange(8)}, "non-negative"),
        ({"costs": np.arange(8) << 55}, "2\\*\\*53"),
    ],
)
def test_wrong_input_is_named(change, word):
    table = np.zeros((8, 1), dtype=np.uint64)
    arguments = {"confident": table, "right": table, "costs": np.arange(8), "n_rows": 9, "max_stages": 3, **change}
    with pytest.raises(ValueError, match=word):
        exact_front(**arguments)


def test_membership_and_listing_refuse_impossible_arguments():
    table = np.zeros((8, 1), dtype=np.uint64)
    front = exact_front(table, table, np.arange(8), 9, 3)
    with pytest.raises(ValueError, match="counts"):
        front.membership([3], [4], [0])
    with pytest.raises(ValueError, match="limit"):
        front.chromosomes(0)


@pytest.mark.weekly
@pytest.mark.parametrize(("name", "stages", "chromosomes"), [("heart", 4, None), ("credit", 4, 254_152_083)])
def test_real_fronts_evaluate_every_chromosome(real_split, name, stages, chromosomes):
    split = real_split(name, 0)
    cache = SubsetCache(split.X_train, split.y_train, split.X_valid, split.y_valid, 2, split.threshold)
    cache.fill_all()
    costs = SubsetPrices(split.prices, rows=cache.n_rows).subset_cost_table()
    front = exact_front(cache.confident, cache.right, costs, cache.n_rows, stages)
    assert front.n_chromosomes == (chromosomes or chromosome_count(cache.n_features, stages))
    listed = front.chromosomes(200)
    for chromosome in listed:
        objectives = evaluate(chromosome.tolist(), cache.confident, cache.right, costs, cache.n_rows)
        assert front.membership(*objectives)[0]
