"""EMSCO: evolve ordered feature set partitions towards the Pareto front (Algorithm 3, EMSCO §3.4).

    generation 0: mutations of the one-stage chromosome
    repeat: rank and sort; stop when converged; keep the elite; fill up with children of all chromosomes

Choices where the paper is silent or its rule does not work:

- *Ties can flood the elite.* Often hundreds of chromosomes share one objective point, for example if one feature
  decides every row. The elite takes at most `max_per_point` chromosomes of a point. So Property 1 holds for *points*:
  every globally non-dominated objective point that was met is returned with at least one chromosome. With
  `max_per_point=None`, it holds for chromosomes, as in the paper: every globally non-dominated chromosome that was
  met is returned.
- *The elite must not fill the population.* If it would, the generation grows until at least 1/20 of it are children.
- Roulette selection draws from all chromosomes of the generation, with repeats.
- *Classifiers may take too long* (hundreds of features, ten classes). A run stops when its count of work on them
  reaches `max_work`, if need be within a generation, and returns what it has found. It does not use the clock: the same
  arguments give the same result.
- `patience` (the paper's g) counts generations: the run stops if the fittest chromosome has been the same for g
  generations. `max_iter` counts bred generations, so at most max_iter + 1 generations are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bench_emsco import chromosome, evaluation, fitness, operators, pareto, ranking
from bench_emsco.chromosome import Chromosomes
from bench_emsco.evaluation import CostsOf, Outcome, SubsetSource
from bench_emsco.parameters import EvolutionParams, require
from bench_emsco.pareto import Floats, Ints
from bench_emsco.ranking import UNBOUNDED, Standing

__all__ = ["EvolutionParams", "EvolutionResult", "History", "evolve"]

Backend = Literal["auto", "compiled", "numpy"]
StoppedBy = Literal["max_iter", "patience", "max_work"]
Point = tuple[int, int, float]
"""(conclusive rows, right rows, total cost over all rows)."""

WORTH_COMPILING = 20_000
"""Minimum number of chromosomes of a run for compiled kernels to be used; compiling takes seconds, and both backends
give the same result."""

AT_ONCE = 4
"""Number of chromosomes evaluated between two checks of the count of work, if the limit may be reached in this
generation."""

ELITES_PER_CHILD = 19
"""Maximum number of elites per child, so that at least 1/20 of a generation are children."""


@dataclass
class History:
    """One entry per ranked generation, from generation 0 on."""

    elite_size: list[int] = field(default_factory=list)
    population_size: list[int] = field(default_factory=list)
    unique: list[int] = field(default_factory=list)
    non_dominated: list[int] = field(default_factory=list)
    """Number of unique non-dominated chromosomes, ||E0*||, before `max_per_point` is applied."""
    mean_stages: list[float] = field(default_factory=list)
    """Mean stage count over the population."""
    best_log_fitness: list[float] = field(default_factory=list)
    best_norm: list[float] = field(default_factory=list)
    best_chromosome: list[Chromosomes] = field(default_factory=list)
    front_chromosomes: list[int] = field(default_factory=list)
    """Number of elites on the given front; empty if no front was given."""
    front_points: list[int] = field(default_factory=list)
    """Number of distinct points of the given front among the elite; empty if no front was given."""


@dataclass(frozen=True)
class EvolutionResult:
    """The last generation's unique non-dominated chromosomes, fittest first; arrays of length F."""

    chromosomes: Chromosomes
    """(F, n)."""
    stages: Ints
    conclusive: Ints
    right: Ints
    cost: NDArray[Any]
    """Total over the rows, in the unit of `costs_of`; the paper's g3* is this divided by n_rows."""
    objectives: Floats
    """(F, 3): g1, g2, g3, the last relative to the cheapest chromosome of the last generation."""
    generations: int
    """Number of generations bred after generation 0."""
    stopped_by: StoppedBy
    history: History


@dataclass(frozen=True)
class _Backend:
    cache: SubsetSource
    unique_rows: Callable[..., tuple[Ints, Ints]]
    evaluate: Callable[[Chromosomes], Outcome]
    rank_points: Callable[..., tuple[Any, ...]]
    sort_chromosomes: Callable[..., tuple[Ints, Ints]]
    mutate: Callable[..., Chromosomes]
    breed: Callable[..., Chromosomes]


@dataclass(frozen=True)
class _Ranked:
    """The unique chromosomes of a generation, fittest first, (U, ...)."""

    chromosomes: Chromosomes
    outcome: Outcome
    point: Ints
    """(U,): each chromosome's point, as an index into `standing`."""
    standing: Standing
    weights: Floats
    """(U,): relative selection probability, counting repeats of a chromosome."""
    elite: Ints
    """Positions of the elite among the unique chromosomes."""
    mean_stages: float


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
    backend: Backend = "auto",
) -> EvolutionResult:
    """Run EMSCO; the same arguments give the same result, with either backend, on every machine.

    Args:
        n_features: number n of features.
        k: maximum number of stages; None for the paper's default. A number above n means n.
        n_rows: number of evaluation rows.
        cache: see `evaluation`.
        costs_of: see `evaluation`.
        params: parameters of the genetic algorithm; None for the defaults.
        seed: seed of all randomness.
        front: points of the exact global front, if known; they only add counts to the history.
        backend: compiled kernels, NumPy, or ``auto``, whichever finishes first including compilation.

    Raises:
        ValueError: `n_features` or `k` is below 1, there may be more than 32767 stages, `n_rows` is not in 1..2^26, or
            `backend` is unknown.
    """
    params = params or EvolutionParams()
    limit = chromosome.default_stages(n_features)
    if k is not None:
        require(k >= 1, "k", "at least 1", k)
        limit = min(k, n_features)
    require(1 <= n_rows <= pareto.MAX_ROWS, "n_rows", f"in 1..{pareto.MAX_ROWS}", n_rows)
    if backend == "auto":
        backend = "compiled" if params.population * params.max_iter >= WORTH_COMPILING else "numpy"
    run = _backend(backend, n_features, limit, n_rows, cache, costs_of)
    cdf = operators.mutation_cdf(limit, params.beta, params.mutation)
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    random_words = np.random.PCG64(sequence).random_raw
    held = None if front is None else set(map(tuple, front))

    words = random_words(params.population * n_features).reshape(-1, n_features)
    generation = run.mutate(
        np.zeros((params.population, n_features), chromosome.stage_type(limit)), words, params.mutation_rate, cdf
    )
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
        if cache.work >= params.max_work:
            return _result(ranked, history, bred, "max_work")
        children = max(params.population - elite.size, -(-elite.size // ELITES_PER_CHILD))
        size = operators.words_before_mutation(n_features) + n_features
        words = random_words(children * size).reshape(children, size)
        brood = run.breed(
            ranked.chromosomes, np.cumsum(ranked.weights), words, params.recombination_rate, params.mutation_rate, cdf
        )
        generation = cast(Chromosomes, np.concatenate((ranked.chromosomes[elite], brood)))
        conclusive, right, cost = ranked.outcome
        known = conclusive[elite], right[elite], cost[elite]


def _backend(name: Backend, n_features: int, k: int, n_rows: int, cache: SubsetSource, costs_of: CostsOf) -> _Backend:
    if name == "compiled":
        from bench_emsco import _kernels_evolution as kernels
        from bench_emsco import _kernels_ranking as sorting

        evaluate = evaluation.CompiledEvaluator(n_features, k, n_rows, cache, costs_of)
        return _Backend(
            cache, kernels.unique_rows, evaluate, sorting.rank_points, sorting.sort_chromosomes, kernels.mutate,
            kernels.breed,
        )  # fmt: skip
    if name == "numpy":
        return _Backend(
            cache,
            chromosome.unique_rows,
            lambda chromosomes: evaluation.evaluate(chromosomes, k, n_rows, cache, costs_of),
            ranking.rank_points,
            ranking.sort_chromosomes,
            operators.mutate,
            operators.breed,
        )
    raise ValueError(f"backend must be one of {', '.join(get_args(Backend))}, not {name!r}")


def _rank(
    generation: Chromosomes, known: Outcome | None, n_rows: int, run: _Backend, params: EvolutionParams
) -> _Ranked:
    """Evaluate new chromosomes (the elite comes first and is known), rank, sort by fitness, and choose the elite."""
    first, counts = run.unique_rows(generation)
    unique = generation[first]
    conclusive, right, cost = _evaluated(unique if known is None else unique[known[0].size :], run, params.max_work)
    if known is not None:
        conclusive = np.concatenate((known[0], conclusive))
        right = np.concatenate((known[1], right))
        cost = np.concatenate((known[2], cost))
    unique, counts = unique[: cost.size], counts[: cost.size]
    if conclusive.max() > n_rows:
        raise ValueError(f"n_rows must be the number of rows in cache: {conclusive.max()} rows left, of {n_rows}")
    accuracy = pareto.conclusive_accuracy(conclusive, right)
    members, point = pareto.distinct_points(conclusive, accuracy, cost)
    standing = Standing(*run.rank_points(conclusive[members], accuracy[members], cost[members], n_rows, params.epsilon))
    at_least = math.ceil(params.elitism * cost.size)
    bound = UNBOUNDED if params.max_per_point is None else params.max_per_point
    stages = chromosome.stage_counts(unique)
    order, elite = run.sort_chromosomes(standing.place, point, standing.front, stages, at_least, bound)
    point = point[order]
    weights = standing.weight[point] * counts[order]
    mean_stages = float(np.dot(stages, counts)) / int(counts.sum())
    outcome = conclusive[order], right[order], cost[order]
    return _Ranked(unique[order], outcome, point, standing, weights, elite, mean_stages)


def _evaluated(new: Chromosomes, run: _Backend, max_work: int) -> Outcome:
    """Evaluate new chromosomes, in order, until `max_work` is reached: (conclusive, right, cost) of those evaluated."""
    most = int(chromosome.stage_counts(new).sum()) * run.cache.most_work
    if run.cache.work + most < max_work or len(new) <= AT_ONCE:
        return run.evaluate(new)
    parts = [run.evaluate(new[:AT_ONCE])]
    for start in range(AT_ONCE, len(new), AT_ONCE):
        if run.cache.work >= max_work:
            break
        parts.append(run.evaluate(new[start : start + AT_ONCE]))
    conclusive, right, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
    return conclusive, right, cost


def _record(history: History, generation: Chromosomes, ranked: _Ranked, front: set[Any] | None) -> None:
    history.elite_size.append(ranked.elite.size)
    history.population_size.append(generation.shape[0])
    history.unique.append(ranked.point.size)
    history.mean_stages.append(ranked.mean_stages)
    best = ranked.point[0]
    norm, front_of = ranked.standing.norm, ranked.standing.front
    history.non_dominated.append(int(np.count_nonzero(front_of[ranked.point] == 0)))
    history.best_norm.append(float(norm[best]))
    history.best_log_fitness.append(float(fitness.log_fitness(front_of.max(), norm[best], ranked.standing.base)))
    history.best_chromosome.append(ranked.chromosomes[0].copy())
    if front is not None:
        points, firsts, counts = np.unique(ranked.point[ranked.elite], return_index=True, return_counts=True)
        triples = zip(*(part[ranked.elite][firsts].tolist() for part in ranked.outcome), strict=True)
        on_front = np.fromiter((triple in front for triple in triples), dtype=np.bool_, count=points.size)
        history.front_points.append(int(on_front.sum()))
        history.front_chromosomes.append(int(counts[on_front].sum()))


def _result(ranked: _Ranked, history: History, generations: int, stopped_by: StoppedBy) -> EvolutionResult:
    best = ranked.standing.front[ranked.point] == 0
    chromosomes = ranked.chromosomes[best]
    conclusive, right, cost = (part[best] for part in ranked.outcome)
    return EvolutionResult(
        chromosomes,
        chromosome.stage_counts(chromosomes),
        conclusive,
        right,
        cost,
        ranked.standing.goals[ranked.point[best]],
        generations,
        stopped_by,
        history,
    )
