"""Complete runs: evaluation, the paper's Property 1, convergence, growth, determinism, kernels compared with NumPy."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from collections.abc import Sequence
from functools import cache as memoised
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_emsco import chromosome, evolution
from bench_emsco.evaluation import CompiledEvaluator, evaluate
from bench_emsco.evolution import EvolutionParams, EvolutionResult, Point, evolve
from hypothesis import given, settings
from hypothesis import strategies as st

BACKENDS: list[Any] = ["compiled", "numpy"]
EACH_BACKEND = pytest.mark.parametrize("backend", [pytest.param("compiled", marks=pytest.mark.slow), "numpy"])
QUICK = EvolutionParams(population=40, max_iter=12, mutation_rate=0.3, patience=None)


class RandomTable:
    """A subset cache of random bits that creates its rows on request, as a cache that fits models does."""

    def __init__(self, n_features: int, n_rows: int, seed: int = 0, confidence: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        subsets = 1 << n_features
        words = -(-n_rows // 64)
        confident = np.zeros((subsets, words * 64), dtype=bool)
        confident[:, :n_rows] = rng.random((subsets, n_rows)) < confidence * rng.random((subsets, 1))
        right = confident & (rng.random(confident.shape) < 0.5 + 0.5 * rng.random((subsets, 1)))
        self._all = [np.packbits(bits, axis=1, bitorder="little").view(np.uint64) for bits in (confident, right)]
        self._row: dict[int, int] = {}
        self.requested: list[int] = []
        self.confident, self.right = np.zeros((2, 0, words), dtype=np.uint64)

    most_work = 1

    @property
    def work(self) -> int:
        return len(self._row)

    def indices(self, masks: np.ndarray) -> np.ndarray:
        self.requested += masks.tolist()
        for mask in masks.tolist():
            self._row.setdefault(mask, len(self._row))
        held = np.array(list(self._row), dtype=np.int64)
        self.confident, self.right = (part[held] for part in self._all)
        return np.array([self._row[mask] for mask in masks.tolist()], dtype=np.int64)


class Prices:
    def __init__(self, prices: Sequence[float]) -> None:
        subsets = np.arange(1 << len(prices))
        self._of = ((subsets[:, None] >> np.arange(len(prices))) & 1) @ np.array(prices)

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        return self._of[masks.astype(np.int64)]


def problem(n: int, rows: int, seed: int, confidence: float = 0.5, top: int = 3) -> tuple[RandomTable, Prices]:
    prices = np.random.default_rng(seed + 1).integers(0 if top < 3 else 1, top + 1, n)
    return RandomTable(n, rows, seed, confidence), Prices(prices.tolist())


@memoised
def all_solutions(n: int, k: int) -> np.ndarray:
    vectors = np.array(list(itertools.product(range(k), repeat=n)), dtype=np.int8)
    return vectors[~chromosome.gaps(vectors)]


def objectives_by_definition(stages: list[int], table: RandomTable, prices: Prices, rows: int) -> tuple[int, int, int]:
    """Row by row, from the definitions of §2.2."""
    conclusive = right = cost = 0
    for row in range(rows):
        word, bit = divmod(row, 64)
        for stage in range(max(stages) + 1):
            mask = np.array([sum(1 << f for f, s in enumerate(stages) if s <= stage)], dtype=np.uint64)
            at = table.indices(mask)[0]
            paid = prices(mask)[0]
            if int(table.confident[at, word]) >> bit & 1:
                conclusive += 1
                right += int(table.right[at, word]) >> bit & 1
                break
        cost += paid
    return conclusive, right, cost


def points_of(result: EvolutionResult) -> list[Point]:
    return list(zip(result.conclusive.tolist(), result.right.tolist(), result.cost.tolist(), strict=True))


def global_front(points: list[Point]) -> set[Point]:
    """The non-dominated among the distinct points, compared by cross-multiplication."""

    def dominates(a: Point, b: Point) -> bool:
        accurate = a[1] * max(b[0], 1) >= b[1] * max(a[0], 1)
        return a != b and a[0] >= b[0] and accurate and a[2] <= b[2]

    distinct = set(points)
    return {p for p in distinct if not any(dominates(q, p) for q in distinct)}


def assert_same(one: EvolutionResult, other: EvolutionResult) -> None:
    for field in dataclasses.fields(EvolutionResult):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "history":
            for part in dataclasses.fields(a):
                assert np.array_equal(getattr(a, part.name), getattr(b, part.name)), part.name
        else:
            assert np.array_equal(a, b), field.name
            assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([1, 30, 64, 70]), st.floats(0.0, 2.0))
def test_evaluation_follows_the_definitions_row_by_row(seed: int, rows: int, confidence: float) -> None:
    table, prices = problem(4, rows, seed, confidence)
    population = all_solutions(4, 3)[np.random.default_rng(seed).integers(0, 51, 6)]
    expected = [objectives_by_definition(row.tolist(), table, prices, rows) for row in population]
    for outcome in (
        evaluate(population, 3, rows, table, prices),
        CompiledEvaluator(4, 3, rows, table, prices)(population),
    ):
        assert list(zip(*(part.tolist() for part in outcome), strict=True)) == expected


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.floats(0.5, 3.0))
def test_only_subsets_that_some_row_still_needs_are_requested(seed: int, confidence: float) -> None:
    population = all_solutions(5, 5)
    asked = []
    for method in (CompiledEvaluator, None):
        table, prices = problem(5, 20, seed, confidence)
        if method is None:
            evaluate(population, 5, 20, table, prices)
        else:
            CompiledEvaluator(5, 5, 20, table, prices)(population)
            assert len(set(table.requested)) == len(table.requested)
        asked.append(set(table.requested))
    assert asked[0] == asked[1]


def test_later_stages_are_not_evaluated_once_every_row_has_left() -> None:
    table = RandomTable(3, 10)
    table._all[0][0b001] = (1 << 10) - 1  # feature 0 alone decides every row
    CompiledEvaluator(3, 3, 10, table, Prices([1, 2, 4]))(np.array([[0, 1, 2]], np.int8))
    assert table.requested == [0b001]


def test_the_evaluator_remembers_more_subsets_than_its_first_table_holds() -> None:
    table, prices = problem(11, 40, 3)
    population = np.stack([mask >> np.arange(11) & 1 for mask in range(1, 2047)]).astype(np.int8)
    evaluator = CompiledEvaluator(11, 2, 40, table, prices)
    for part in np.array_split(population, 7):
        evaluator(part)
    asked = len(table.requested)
    for mine, reference in zip(evaluator(population), evaluate(population, 2, 40, table, prices), strict=True):
        assert np.array_equal(mine, reference)
    assert asked == 2047


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([3, 25]),
    st.sampled_from([0, 3, 30]),
)
def test_globally_non_dominated_solutions_are_kept_and_returned(
    seed: int, n: int, k: int, bound: int | None, rows: int, top: int
) -> None:
    """Property 1, by points when `max_per_point` bounds the elite, by chromosomes when it does not."""
    k = min(n, k, 4 if n == 6 else 6)
    table, prices = problem(n, rows, seed, 1.5, top)
    solutions = all_solutions(n, k)
    outcome = CompiledEvaluator(n, k, rows, table, prices)(solutions)
    point = dict(zip(chromosome.keys(solutions), zip(*map(np.ndarray.tolist, outcome), strict=True), strict=True))
    front = global_front(list(point.values()))
    params = EvolutionParams(population=12, max_iter=8, mutation_rate=0.4, patience=None, max_per_point=bound)
    met: list[set[bytes]] = []
    for generations in range(params.max_iter + 1):  # a shorter run is the beginning of a longer one
        result = evolve(n, k, rows, table, prices, dataclasses.replace(params, max_iter=generations), seed, front=front)
        met.append({key for key in chromosome.keys(result.chromosomes) if point[key] in front})
        found = {p for p in points_of(result) if p in front}
        assert result.history.front_points[-1] == len(found)
        if bound is None:
            assert result.history.front_chromosomes[-1] == len(met[-1])
            assert not met[:-1] or met[-2] <= met[-1]
        assert np.all(np.diff(result.history.front_points) >= 0)
    assert {point[key] for keys in met for key in keys} == found


def test_a_long_run_finds_every_point_of_a_small_problems_front() -> None:
    table, prices = problem(5, 40, 11)
    outcome = evaluate(all_solutions(5, 3), 3, 40, table, prices)
    front = global_front(list(zip(*(part.tolist() for part in outcome), strict=True)))
    params = EvolutionParams(population=100, max_iter=150, mutation_rate=0.2, patience=None)
    result = evolve(5, 3, 40, table, prices, params, seed=1, front=front)
    assert set(points_of(result)) == front
    assert result.history.front_points[-1] == len(front) > 3


@EACH_BACKEND
def test_the_result_is_the_non_dominated_set_fittest_first(backend: Any) -> None:
    table, prices = problem(6, 50, 4)
    result = evolve(6, 4, 50, table, prices, QUICK, 3, backend=backend)
    norm = np.sqrt((result.objectives**2).sum(axis=1))
    assert np.all(np.diff(norm) <= 1e-15)
    assert len(set(chromosome.keys(result.chromosomes))) == len(result.stages) > 1
    assert set(points_of(result)) == global_front(points_of(result))
    assert np.array_equal(result.objectives[:, 0], result.conclusive / 50)
    assert np.array_equal(result.stages, result.chromosomes.max(axis=1) + 1)
    assert np.array_equal(result.history.best_chromosome[-1], result.chromosomes[0])
    for mine, reference in zip(
        (result.conclusive, result.right, result.cost), evaluate(result.chromosomes, 4, 50, table, prices), strict=True
    ):
        assert np.array_equal(mine, reference)


@pytest.mark.slow
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("mutation", ["beta-binomial", "uniform"])
@pytest.mark.parametrize(
    ("n", "k", "bound", "patience"), [(12, None, 8, None), (8, 3, None, 6), (30, 15, 2, None), (1, 1, 1, 2)]
)
def test_kernels_and_numpy_give_the_same_run_bit_for_bit(
    n: int, k: int | None, bound: int | None, patience: int | None, mutation: Any, real: bool
) -> None:
    width = min(n, 12)
    table, _prices = problem(width, 75, n)

    class Folded:  # many features, few distinct tables: a subset stands for its hash
        confident, right = table._all
        work = most_work = 0
        indices = staticmethod(lambda masks: (masks % np.uint64((1 << width) - 1)).astype(np.int64) + 1)

    def costs_of(masks: np.ndarray) -> np.ndarray:
        count = np.bitwise_count(masks).astype(np.int64) * 3 + (masks & np.uint64(1)).astype(np.int64)
        return count / 7.0 if real else count

    params = EvolutionParams(
        population=60, max_iter=30, patience=patience, max_per_point=bound, mutation=mutation, mutation_rate=0.15
    )
    runs = [evolve(n, k, 75, Folded(), costs_of, params, 9, backend=backend) for backend in BACKENDS]
    assert_same(*runs)
    assert runs[0].cost.dtype == (np.float64 if real else np.int64)


def test_a_seed_gives_one_run_and_another_seed_another() -> None:
    table, prices = problem(8, 50, 2)
    assert_same(evolve(8, 4, 50, table, prices, QUICK, 5), evolve(8, 4, 50, table, prices, QUICK, 5))
    sequence = np.random.SeedSequence(5)
    assert_same(evolve(8, 4, 50, table, prices, QUICK, 5), evolve(8, 4, 50, table, prices, QUICK, sequence))
    one, other = (evolve(8, 4, 50, table, prices, QUICK, seed).history for seed in (5, 6))
    assert one.unique != other.unique


@pytest.mark.slow
def test_a_short_run_does_not_compile_and_equals_a_compiled_one() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_evolution as t;"
        "table, prices = t.problem(8, 50, 2);"
        "run = t.evolve(8, 4, 50, table, prices, t.QUICK, 5);"
        "assert not {'bench_emsco._kernels_evolution', 'bench_emsco._kernels_ranking'} & set(sys.modules);"
        "t.assert_same(run, t.evolve(8, 4, 50, table, prices, t.QUICK, 5, backend='compiled'))"
    )
    here = Path(__file__).parent
    subprocess.run([sys.executable, "-c", code, str(here), str(here.parent)], check=True, timeout=300)


def test_a_run_stops_at_max_iter_generations() -> None:
    table, prices = problem(6, 50, 2)
    for generations in (0, 3):
        params = dataclasses.replace(QUICK, max_iter=generations)
        result = evolve(6, 3, 50, table, prices, params)
        assert (result.generations, result.stopped_by) == (generations, "max_iter")
        assert len(result.history.unique) == generations + 1


@pytest.mark.parametrize("patience", [1, 4])
def test_a_run_stops_when_the_fittest_has_not_changed_for_so_many_generations(patience: int) -> None:
    table, prices = problem(10, 60, 8)
    long = evolve(10, 4, 60, table, prices, dataclasses.replace(QUICK, max_iter=200))
    best = chromosome.keys(np.array(long.history.best_chromosome))
    stop = next(h for h in range(patience, 201) if len(set(best[h - patience : h + 1])) == 1)
    short = evolve(10, 4, 60, table, prices, dataclasses.replace(QUICK, max_iter=200, patience=patience))
    assert (short.generations, short.stopped_by) == (stop, "patience")
    assert stop > patience or patience == 1


def test_the_first_generation_is_mutations_of_the_one_stage_chromosome() -> None:
    table, prices = problem(12, 50, 2)
    start = evolve(12, 4, 50, table, prices, EvolutionParams(max_iter=0, mutation_rate=0.0))
    assert start.chromosomes.tolist() == [[0] * 12]
    assert evolve(1, 5, 50, table, prices, EvolutionParams(max_iter=3)).chromosomes.tolist() == [[0]]


def test_the_generation_grows_when_ties_would_fill_it_with_elites() -> None:
    class Nothing(RandomTable):  # no row is ever decided: every chromosome pays for all, all tie
        def __init__(self) -> None:
            super().__init__(7, 30, 0, 0.0)

    params = EvolutionParams(population=30, max_iter=25, patience=None, mutation_rate=0.4, max_per_point=None)
    history = evolve(7, 4, 30, Nothing(), Prices([1] * 7), params).history
    sizes = list(zip(history.elite_size, history.population_size[1:], strict=False))
    assert history.unique == history.elite_size == history.non_dominated
    assert all(size == max(30, elite + -(-elite // 19)) for elite, size in sizes)
    assert all(20 * (size - elite) >= size for elite, size in sizes)
    assert sizes[-1][1] > 30
    bounded = evolve(7, 4, 30, Nothing(), Prices([1] * 7), dataclasses.replace(params, max_per_point=3)).history
    assert max(bounded.elite_size) == 3
    assert set(bounded.population_size) == {30}


def test_the_elite_is_a_share_of_the_unique_rounded_up_or_the_non_dominated_if_more() -> None:
    table, prices = problem(9, 60, 5)
    params = dataclasses.replace(QUICK, elitism=0.25, max_per_point=None)
    history = evolve(9, 4, 60, table, prices, params, 2).history
    counts = list(zip(history.unique, history.non_dominated, history.elite_size, strict=True))
    assert [elite for _, _, elite in counts] == [max((unique + 3) // 4, best) for unique, best, _ in counts]
    assert any(unique % 4 and elite > best for unique, best, elite in counts)


@EACH_BACKEND
def test_a_chromosome_that_occurs_three_times_is_three_times_on_the_wheel(backend: Any) -> None:
    table, prices = problem(4, 40, 6)
    run = evolution._backend(backend, 4, 3, 40, table, prices)
    repeated, single = [0, 1, 0, 2], [0, 0, 1, 1]
    generation = np.array([repeated, single, repeated, repeated], np.int8)
    ranked = evolution._rank(generation, None, 40, run, QUICK)
    wheel = dict(zip(chromosome.keys(ranked.chromosomes), ranked.weights.tolist(), strict=True))
    fitness = dict(zip(chromosome.keys(ranked.chromosomes), ranked.standing.weight[ranked.point].tolist(), strict=True))
    for row, times in ((repeated, 3), (single, 1)):
        key = np.array(row, np.int8).tobytes()
        assert wheel[key] == times * fitness[key] > 0


@pytest.mark.slow
def test_free_features_and_undecided_rows_do_not_break_a_run() -> None:
    for prices in ([0] * 6, [0, 0, 0, 1, 1, 1]):
        table = RandomTable(6, 20, 3, 2.0)
        runs = [evolve(6, 4, 20, table, Prices(prices), QUICK, 1, backend=backend) for backend in BACKENDS]
        assert_same(*runs)
        assert np.all(np.isfinite(runs[0].history.best_log_fitness))
    assert runs[0].objectives.max() <= 1.0


def test_importing_the_algorithm_does_not_import_numba() -> None:
    code = "import sys, bench_emsco.evolution; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("population", 1), ("mutation_rate", 1.5), ("mutation_rate", float("nan")),
        ("recombination_rate", -0.1), ("elitism", 0.0), ("elitism", 1.0),
        ("beta", 0.9), ("mutation", "none"), ("max_iter", -1),
        ("patience", 0), ("max_per_point", 0), ("epsilon", 0.0),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        EvolutionParams(**{name: value})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n_features", {"n_features": 0}),
        ("k must", {"k": 0}),
        ("n_rows", {"n_rows": 0}),
        ("n_rows", {"n_rows": 3}),  # fewer than the table has
        ("backend", {"backend": "other"}),
        ("costs_of", {"costs_of": Prices([-1, 1, 1])}),
        ("costs_of", {"costs_of": lambda masks: np.full(masks.size, np.inf)}),
        ("costs_of", {"costs_of": lambda masks: np.zeros(masks.size + 1)}),
    ],
)
def test_a_bad_argument_of_a_run_is_refused_by_name(name: str, change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"n_features": 3, "k": 2, "n_rows": 40, "costs_of": Prices([1, 1, 1])} | change
    with pytest.raises(ValueError, match=name):
        evolve(cache=RandomTable(3, 40, 0, 2.0), params=QUICK, **arguments)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 200), st.integers(1, 6))
def test_a_run_stops_when_its_work_is_done_and_has_the_best_of_what_it_evaluated(
    seed: int, max_work: int, k: int
) -> None:
    params = EvolutionParams(population=30, max_iter=6, patience=None)
    short = dataclasses.replace(params, max_work=max_work)
    (table, prices), other = problem(7, 60, seed), problem(7, 60, seed)
    runs = [
        evolve(7, k, 60, table, prices, short, seed, backend="numpy"),
        evolve(7, k, 60, *other, short, seed, backend="compiled"),
    ]
    for field in dataclasses.fields(EvolutionResult):
        if field.name != "history":
            assert np.array_equal(getattr(runs[0], field.name), getattr(runs[1], field.name)), field.name
    complete = evolve(7, k, 60, *problem(7, 60, seed), params, seed, backend="numpy")
    assert table.work < max_work + evolution.AT_ONCE * k
    assert (runs[0].stopped_by == "max_work") == (table.work >= max_work and runs[0].generations < params.max_iter)
    if table.work < max_work:
        assert np.array_equal(runs[0].chromosomes, complete.chromosomes)
    elif runs[0].generations:
        count = runs[0].generations
        assert runs[0].history.best_norm[:count] == complete.history.best_norm[:count]
    points = np.stack([runs[0].conclusive, runs[0].right, runs[0].cost])
    assert points.shape[1] > 0
    for chromosome_, point in zip(runs[0].chromosomes, points.T, strict=True):
        assert objectives_by_definition(chromosome_.tolist(), table, prices, 60) == tuple(point.tolist())
