"""EMSCO: evolve ordered feature set partitions towards the Pareto front (Algorithm 3, EMSCO §3.4).

    generation 0: mutations of the one-stage chromosome
    repeat: rank and sort; stop when converged; keep the elite; fill up with children of the whole generation

Settled where the paper is silent or its letter does not work:

- *Ties flood the elite.* Often hundreds of chromosomes share one objective point (one feature decides every row, say).
  The elite takes at most `max_per_point` chromosomes of a point. So Property 1 holds for *points*: every globally
  non-dominated objective point met is returned by at least one chromosome. With `max_per_point=None` it holds as in the
  paper for chromosomes: every globally non-dominated one that was met is returned.
- *The elite may not fill the population.* When it would, the generation grows until at least 1/20 of it are children.
- *Equal fitness*: the point with more conclusive rows first; within a point fewer stages, then the older chromosome.
- Roulette turns over the whole generation, repeated chromosomes included as often as they occur.
- `patience` (the paper's g) counts generations: the run stops once the fittest chromosome is the same as g generations ago
  and has not changed in between. `max_iter` counts bred generations, so at most max_iter + 1 are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bench_emsco import chromosome, evaluation, fitness, operators, pareto
from bench_emsco.chromosome import Chromosomes
from bench_emsco.evaluation import CostsOf, Outcome, SubsetSource

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Backend = Literal["compiled", "numpy"]
Point = tuple[int, int, float]
"""(conclusive rows, right rows, total cost over all rows)."""

ELITES_PER_CHILD = 19
"""At most this many elites to a child: 1/20 of a generation are children."""


@dataclass(frozen=True)
class EvolutionParams:
    """Parameters of a run; the defaults are the paper's for Heart (Table 2, §4.3.1). ValueError out of range."""

    population: int = 300
    """||G||, at least 2."""
    mutation_rate: float = 0.075
    """m, per feature, in [0, 1]."""
    recombination_rate: float = 0.75
    """r, in [0, 1]; otherwise a child starts as a copy of one parent."""
    elitism: float = 0.2
    """b, in (0, 1): share of the unique chromosomes that survives."""
    beta: float = 2.0
    """Stage count bias of the mutation, in [1, inf); greater means fewer stages."""
    mutation: operators.MutationKind = "beta-binomial"
    """How a mutated stage is drawn; "uniform" is what the authors' released program does."""
    max_iter: int = 150
    """Generations to breed, at least 0."""
    patience: int | None = 20
    """g, at least 1; None to run all of max_iter."""
    max_per_point: int | None = 8
    """Greatest number of elites that share an objective point, at least 1; None for no bound (the paper)."""
    epsilon: float = fitness.EPSILON
    """Of gamma, in (0, inf)."""

    def __post_init__(self) -> None:
        _require(self.population >= 2, "population", "at least 2", self.population)
        _require(0.0 <= self.mutation_rate <= 1.0, "mutation_rate", "in [0, 1]", self.mutation_rate)
        _require(0.0 <= self.recombination_rate <= 1.0, "recombination_rate", "in [0, 1]", self.recombination_rate)
        _require(0.0 < self.elitism < 1.0, "elitism", "in (0, 1)", self.elitism)
        _require(self.max_iter >= 0, "max_iter", "at least 0", self.max_iter)
        _require(self.patience is None or self.patience >= 1, "patience", "None or at least 1", self.patience)
        _require(
            self.max_per_point is None or self.max_per_point >= 1, "max_per_point", "None or at least 1", self.max_per_point
        )
        _require(0.0 < self.epsilon < math.inf, "epsilon", "in (0, inf)", self.epsilon)
        operators.mutation_pmf(1, self.beta, self.mutation)  # raises for beta and mutation


@dataclass
class History:
    """One entry per ranked generation, from generation 0 on."""

    elite_size: list[int] = field(default_factory=list)
    population_size: list[int] = field(default_factory=list)
    unique: list[int] = field(default_factory=list)
    non_dominated: list[int] = field(default_factory=list)
    """Unique non-dominated chromosomes, ||E0*||, before `max_per_point` is applied."""
    best_log_fitness: list[float] = field(default_factory=list)
    best_norm: list[float] = field(default_factory=list)
    best_chromosome: list[Chromosomes] = field(default_factory=list)
    front_chromosomes: list[int] = field(default_factory=list)
    """Elites on the given front; empty when none was given."""
    front_points: list[int] = field(default_factory=list)
    """Distinct points of the given front among the elite; empty when none was given."""


@dataclass(frozen=True)
class EvolutionResult:
    """The last generation's unique non-dominated chromosomes, fittest first; arrays of length F."""

    chromosomes: Chromosomes
    """(F, n) int8."""
    stages: Ints
    conclusive: Ints
    right: Ints
    cost: NDArray[Any]
    """Total over the rows, in the unit of `costs_of`; the paper's g3* is this divided by n_rows."""
    objectives: Floats
    """(F, 3): g1, g2, g3, the last relative to the cheapest chromosome of the last generation."""
    generations: int
    """How many were bred after generation 0."""
    stopped_by: Literal["max_iter", "patience"]
    history: History


@dataclass(frozen=True)
class _Backend:
    unique_rows: Callable[..., tuple[Ints, Ints]]
    evaluate: Callable[[Chromosomes], Outcome]
    fronts: Callable[..., Ints]
    mutate: Callable[..., Chromosomes]
    breed: Callable[..., Chromosomes]


@dataclass(frozen=True)
class _Ranked:
    """The unique chromosomes of a generation, fittest first, (U, ...)."""

    chromosomes: Chromosomes
    outcome: Outcome
    goals: Floats
    norm: Floats
    rank: Ints
    point: Ints
    weights: Floats
    base: float
    elite: Ints


def evolve(
    n_features: int,
    k: int | None,
    n_rows: int,
    cache: SubsetSource,
    costs_of: CostsOf,
    params: EvolutionParams | None = None,
    seed: int | np.random.SeedSequence = 0,
    *,
    front: Iterable[Point] | None = None,
    backend: Backend = "compiled",
) -> EvolutionResult:
    """Run EMSCO; the same arguments give the same result, with either backend, on every machine.

    `k` bounds the stage count (None: the paper's default; more than `n_features` is the same as `n_features`). `cache`
    and `costs_of` are described in `evaluation`. `front`, the exact global front's points if known, only adds counts to
    the history. Raises ValueError when `n_features` is not in 1..63, `k` < 1, `n_rows` not in 1..2^26, or `backend`
    is unknown.
    """
    params = params or EvolutionParams()
    limit = chromosome.default_stages(n_features)
    if k is not None:
        _require(k >= 1, "k", "at least 1", k)
        limit = min(k, n_features)
    _require(1 <= n_rows <= pareto.MAX_ROWS, "n_rows", f"in 1..{pareto.MAX_ROWS}", n_rows)
    run = _backend(backend, n_features, limit, n_rows, cache, costs_of)
    cdf = operators.mutation_cdf(limit, params.beta, params.mutation)
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    random_words = np.random.PCG64(sequence).random_raw
    held = None if front is None else set(map(tuple, front))

    words = random_words(params.population * n_features).reshape(-1, n_features)
    generation = run.mutate(np.zeros((params.population, n_features), np.int8), words, params.mutation_rate, cdf)
    known: Outcome | None = None
    history = History()
    unchanged = 0
    while True:
        ranked = _rank(generation, known, n_rows, run, params)
        elite = ranked.elite
        _record(history, generation, ranked, held)
        best = history.best_chromosome
        unchanged = unchanged + 1 if len(best) > 1 and np.array_equal(best[-1], best[-2]) else 0
        bred = len(best) - 1
        patience_over = params.patience is not None and unchanged >= params.patience
        if bred >= params.max_iter or patience_over:
            return _result(ranked, history, bred, "patience" if patience_over else "max_iter")
        children = max(params.population - elite.size, -(-elite.size // ELITES_PER_CHILD))
        size = operators.WORDS_BEFORE_MUTATION + n_features
        words = random_words(children * size).reshape(children, size)
        brood = run.breed(
            ranked.chromosomes, np.cumsum(ranked.weights), words, params.recombination_rate, params.mutation_rate, cdf
        )
        generation = np.concatenate((ranked.chromosomes[elite], brood))
        conclusive, right, cost = ranked.outcome
        known = conclusive[elite], right[elite], cost[elite]


def _backend(
    name: Backend, n_features: int, k: int, n_rows: int, cache: SubsetSource, costs_of: CostsOf
) -> _Backend:
    if name == "compiled":
        from bench_emsco import _kernels_evolution as kernels

        evaluate = evaluation.CompiledEvaluator(n_features, k, n_rows, cache, costs_of)
        return _Backend(kernels.unique_rows, evaluate, kernels.fronts, kernels.mutate, kernels.breed)
    if name == "numpy":
        return _Backend(
            chromosome.unique_rows,
            lambda chromosomes: evaluation.evaluate(chromosomes, k, n_rows, cache, costs_of),
            pareto.fronts,
            operators.mutate,
            operators.breed,
        )
    raise ValueError(f"backend must be one of {', '.join(get_args(Backend))}, not {name!r}")


def _rank(
    generation: Chromosomes, known: Outcome | None, n_rows: int, run: _Backend, params: EvolutionParams
) -> _Ranked:
    """Evaluate what is new (the elite comes first and is known), rank, sort by fitness, choose the elite."""
    first, counts = run.unique_rows(generation)
    unique = generation[first]
    if known is None:
        conclusive, right, cost = run.evaluate(unique)
    else:
        new = run.evaluate(unique[known[0].size :])
        conclusive, right, cost = (np.concatenate(pair) for pair in zip(known, new, strict=True))

    accuracy = pareto.conclusive_accuracy(conclusive, right)
    members, point = pareto.distinct_points(conclusive, accuracy, cost)
    front = run.fronts(accuracy[members], cost[members])
    goals = fitness.objectives(conclusive[members], accuracy[members], cost[members], n_rows)
    norm = fitness.norms(goals)
    base = fitness.gamma(norm, params.epsilon)
    rank = front.max() - front
    weights = fitness.selection_weights(rank, norm, base)

    by_fitness = np.lexsort((-norm, front))  # stable: points of equal fitness stay in order of descending conclusiveness
    place = np.empty_like(by_fitness)
    place[by_fitness] = np.arange(by_fitness.size)
    order = np.argsort(place[point] * 128 + unique.max(axis=1), kind="stable")
    point = point[order]
    elite = choose_elite(front[point], point, params.elitism, params.max_per_point)
    return _Ranked(
        unique[order],
        (conclusive[order], right[order], cost[order]),
        goals[point],
        norm[point],
        rank[point],
        point,
        weights[point] * counts[order],
        base,
        elite,
    )


def choose_elite(front: Ints, point: Ints, elitism: float, max_per_point: int | None) -> Ints:
    """Positions of the elite among the unique chromosomes sorted by fitness (§3.2.2).

    `front` (0 is the non-dominated) and `point` (any numbering of objective points) have shape (U,), with the
    chromosomes of a point next to each other. The elite are the first max(ceil(elitism * U), size of front 0), counting
    and taking at most `max_per_point` of a point.
    """
    kept = np.arange(point.size)
    if max_per_point is not None:
        starts = np.flatnonzero(np.concatenate(([True], point[1:] != point[:-1])))
        begin = np.repeat(starts, np.diff(np.append(starts, point.size)))
        kept = kept[kept - begin < max_per_point]
    non_dominated = int(np.count_nonzero(front[kept] == 0))
    return kept[: max(math.ceil(elitism * point.size), non_dominated)]


def _record(history: History, generation: Chromosomes, ranked: _Ranked, front: set[Any] | None) -> None:
    history.elite_size.append(ranked.elite.size)
    history.population_size.append(generation.shape[0])
    history.unique.append(ranked.point.size)
    history.non_dominated.append(int(np.count_nonzero(ranked.rank == ranked.rank[0])))
    history.best_log_fitness.append(float(fitness.log_fitness(ranked.rank[0], ranked.norm[0], ranked.base)))
    history.best_norm.append(float(ranked.norm[0]))
    history.best_chromosome.append(ranked.chromosomes[0].copy())
    if front is not None:
        points, firsts, counts = np.unique(ranked.point[ranked.elite], return_index=True, return_counts=True)
        triples = zip(*(part[ranked.elite][firsts].tolist() for part in ranked.outcome), strict=True)
        on_front = np.fromiter((triple in front for triple in triples), dtype=np.bool_, count=points.size)
        history.front_points.append(int(on_front.sum()))
        history.front_chromosomes.append(int(counts[on_front].sum()))


def _result(
    ranked: _Ranked, history: History, generations: int, stopped_by: Literal["max_iter", "patience"]
) -> EvolutionResult:
    best = ranked.rank == ranked.rank[0]
    chromosomes = ranked.chromosomes[best]
    conclusive, right, cost = (part[best] for part in ranked.outcome)
    return EvolutionResult(
        chromosomes,
        chromosome.stage_counts(chromosomes),
        conclusive,
        right,
        cost,
        ranked.goals[best],
        generations,
        stopped_by,
        history,
    )


def _require(holds: bool, name: str, allowed: str, given: object) -> None:
    if not holds:
        raise ValueError(f"{name} must be {allowed}, not {given!r}")
