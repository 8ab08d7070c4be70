"""More than 63 features: the same search, on sets of several words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bench_emsco import chromosome, sets
from bench_emsco.evaluation import CompiledEvaluator, evaluate
from bench_emsco.evolution import EvolutionParams, EvolutionResult, evolve
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco
from bench_emsco.prices import SubsetPrices
from bench_emsco.subset_cache import SubsetCache
from bench_emsco.table_cache import TableCache
from bench_models.subsets.sets import all_features, check_sets, from_flags, members, pack_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Policy, Problem


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 9))
def test_sets_hold_what_they_are_made_of(seed: int, n: int, count: int) -> None:
    flags = np.random.default_rng(seed).random((count, n)) < 0.5
    made = check_sets(from_flags(flags), n)
    integers = [sum(1 << f for f in np.flatnonzero(row).tolist()) for row in flags]
    assert [sets.as_integer(one) for one in made] == integers
    assert all((sets.has(made, f) == flags[:, f]).all() for f in range(n))
    assert (members(made, np.arange(n)) == flags).all()
    distinct, place = sets.unique_sets(made)
    assert (distinct[place] == made).all()
    assert len(distinct) == len(set(integers))
    assert sets.as_integer(all_features(n)[0]) == (1 << n) - 1


@pytest.mark.parametrize(("n", "shape"), [(64, (2,)), (64, (2, 2)), (100, (3, 1)), (130, (1, 2, 3))])
def test_sets_of_another_shape_are_refused(n: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="masks"):
        check_sets(np.zeros(shape, np.uint64), n)


@pytest.mark.parametrize("n", [65, 100, 191])
def test_a_feature_out_of_range_is_refused(n: int) -> None:
    beyond = from_flags(np.arange(n + 1)[None, :] == n)
    with pytest.raises(ValueError, match=f"above {n - 1}"):
        check_sets(beyond, n)


class HighBits:
    """Random decisions that depend only on a few features beyond the first word."""

    def __init__(self, n: int, rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.rows = n, rows
        self.informative = np.sort(rng.choice(np.arange(64, n), 4, replace=False))
        confident = rng.random((16, rows)) < rng.random((16, 1))
        right = confident & (rng.random((16, rows)) < 0.7)
        self.table = TableCache(pack_rows(confident), pack_rows(right), n_rows=rows)
        self.confident, self.right = self.table.confident, self.table.right
        self.price = rng.integers(1, 5, 4)

    work = most_work = 0

    def indices(self, masks: np.ndarray) -> np.ndarray:
        return sum(sets.has(masks, f).astype(np.int64) << place for place, f in enumerate(self.informative))

    def costs_of(self, masks: np.ndarray) -> np.ndarray:
        return sum(
            sets.has(masks, f).astype(np.int64) * price for f, price in zip(self.informative, self.price, strict=True)
        )

    def narrow_costs(self, masks: np.ndarray) -> np.ndarray:
        return (masks[:, None] >> np.arange(4, dtype=np.uint64) & np.uint64(1)).astype(np.int64) @ self.price


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([68, 100, 130, 200]))
def test_wide_chromosomes_have_the_objectives_of_their_informative_features(seed: int, n: int) -> None:
    wide = HighBits(n, 70, seed)
    rng = np.random.default_rng(seed)
    population = chromosome.compress(rng.integers(0, 5, (40, n)).astype(np.int8))
    narrow = chromosome.compress(population[:, wide.informative])
    expected = evaluate(narrow, 5, 70, wide.table, wide.narrow_costs)
    # A set without an informative feature is set 0 of the table; the narrow chromosome starts with a feature.
    wide.confident[0] = wide.right[0] = 0
    for found in (
        evaluate(population, 5, 70, wide, wide.costs_of),
        CompiledEvaluator(n, 5, 70, wide, wide.costs_of)(population),
    ):
        for mine, reference in zip(found, expected, strict=True):
            assert np.array_equal(mine, reference)


def assert_same(one: EvolutionResult, other: EvolutionResult) -> None:
    for field in dataclasses.fields(EvolutionResult):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "history":
            assert all(np.array_equal(getattr(a, part.name), getattr(b, part.name)) for part in dataclasses.fields(a))
        else:
            assert np.array_equal(a, b), field.name


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(64, None), (100, None), (300, None), (300, 4)])
def test_kernels_and_numpy_give_the_same_wide_run_bit_for_bit(n: int, k: int | None) -> None:
    rng = np.random.default_rng(n)
    confident = rng.random((97, 75)) < rng.random((97, 1))
    right = confident & (rng.random((97, 75)) < 0.7)

    class Folded:  # few distinct decisions: a set stands for its remainder
        def __init__(self) -> None:
            self.confident, self.right = pack_rows(confident), pack_rows(right)

        work = most_work = 0

        def indices(self, masks: np.ndarray) -> np.ndarray:
            return np.array([sets.as_integer(one) % 97 for one in masks])

    prices = SubsetPrices(rng.integers(1, 9, n) / 10, [range(60, 64), range(n - 9, n)], [3.5, 0.5], rows=75)
    params = EvolutionParams(population=40, max_iter=12, patience=None)
    runs: list[Any] = [
        evolve(n, k, 75, Folded(), prices.costs_of, params, 9, backend=backend)  # type: ignore[arg-type]
        for backend in ("compiled", "numpy")
    ]
    assert_same(*runs)
    assert runs[0].chromosomes.dtype == (np.int16 if k is None and n == 300 else np.int8)
    assert len(set(runs[0].history.best_norm)) > 1


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_the_classifier_of_high_features_is_that_of_the_same_columns_alone(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(160, 4))
    y = np.argmax(X @ rng.normal(size=(4, classes)) + rng.normal(size=(160, classes)), axis=1)
    y[:classes] = np.arange(classes)
    high = np.array([3, 63, 64, 99])
    filled = np.zeros((160, 100))
    filled[:, high] = X
    wide, narrow = (SubsetCache(data[:80], y[:80], data[80:], y[80:], classes, 0.7, threads=1) for data in (filled, X))
    flags = rng.random((6, 4)) < 0.5
    spread = np.zeros((6, 100), dtype=bool)
    spread[:, high] = flags
    at, reference = wide.indices(from_flags(spread)), narrow.indices(from_flags(flags))
    assert (wide.confident[at] == narrow.confident[reference]).all()
    assert (wide.right[at] == narrow.right[reference]).all()
    assert (wide.indices(from_flags(spread)) == at).all()
    assert wide.n_fitted == len(np.unique(at))
    for one, other in zip(from_flags(spread), from_flags(flags), strict=True):
        assert (wide.columns(one) == high[narrow.columns(other)]).all()
        assert wide.coefficients(one) == pytest.approx(narrow.coefficients(other), abs=1e-8)


def test_many_wide_subsets_survive_growth() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 70)), np.arange(40) % 2
    cache = SubsetCache(X, y, X, y, 2, 0.7)
    asked = from_flags(rng.random((400, 70)) < 0.1)
    first = cache.indices(asked[:50])
    bits = cache.confident[first].copy()
    index = cache.indices(asked)
    assert (cache.masks[index] == asked).all()
    assert (cache.indices(asked[:50]) == first).all()
    assert (cache.confident[first] == bits).all()


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(64, 150))
def test_wide_sets_cost_the_sum_of_prices_and_of_groups_once(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    flags = rng.random((5, n)) < 0.3
    price, group = rng.integers(0, 9, n), rng.choice(n, 7, replace=False).tolist()
    costs = SubsetPrices(price.tolist(), [group], [20])
    expected = [price[row].sum() + 20 * bool(row[group].any()) for row in flags]
    assert costs.in_price(costs.costs_of(from_flags(flags))) == pytest.approx(expected)


def wide_problem(n: int, informative: list[int]) -> Problem:
    """A problem in which only the informative features vary and cost; the others are constant and free."""
    rng = np.random.default_rng(3)
    X = np.zeros((180, n))
    X[:, informative] = rng.normal(size=(180, len(informative)))
    y = (X[:, informative] @ rng.normal(size=len(informative)) + 0.5 * rng.normal(size=180) > 0).astype(np.int64)
    price = np.zeros(n)
    price[informative] = np.arange(1, len(informative) + 1)
    return Problem(
        train=Part(X[:90], y[:90]),
        validation=Part(X[90:], y[90:]),
        costs=Costs(price),
        task="binary",
        n_classes=2,
        feature_names=tuple(f"f{i}" for i in range(n)),
        feature_of_column=np.arange(n),
        threshold=0.7,
        seed=0,
    )


def better(a: tuple[int, int, float], b: tuple[int, int, float]) -> bool:
    """Whether a dominates b."""
    return a != b and a[0] >= b[0] and a[1] * max(b[0], 1) >= b[1] * max(a[0], 1) and a[2] <= b[2]


@pytest.mark.slow
def test_the_informative_ones_of_a_hundred_features_are_found(
    outcome: Callable[[Policy, Problem], tuple[int, int, float]],
) -> None:
    informative = [70, 71, 85, 99]
    wide, narrow = wide_problem(100, informative), wide_problem(4, [0, 1, 2, 3])
    assert (wide.train.X[:, informative] == narrow.train.X).all()
    exact = {outcome(policy, narrow) for policy in Exhaustive(k=4).fit(narrow).policies}
    family = Emsco(k=4, population=80, max_iter=40, patience=0, mutation_rate=0.1).fit(wide)
    found = {outcome(policy, wide) for policy in family.policies}
    assert len(found & exact) > len(exact) / 2
    assert not any(better(point, best) for point in found for best in exact)
    for policy in family.policies:
        conclusive, right, bill = outcome(policy, wide)
        assert policy.details["g1"] == pytest.approx(conclusive / 90)
        assert policy.details["g2"] == pytest.approx(right / max(conclusive, 1))
        assert policy.details["cost"] == pytest.approx(bill / 90)
