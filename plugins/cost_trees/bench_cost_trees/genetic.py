"""A genetic algorithm on bit strings: GENESIS with the settings of Turney 1995, §3.5.

A string's fitness is the worst cost of the last five generations minus its own cost. Parents are drawn in proportion
to fitness by stochastic universal sampling; neighbours in the pool cross over at two points; bits mutate; the best
string of a generation survives into the next. Every string is evaluated in every generation, because its cost is
random.

Source: Grefenstette 1986 (GENESIS); Baker 1987 (sampling).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evolution", "Settings", "evolve", "from_gray", "to_gray"]

_WINDOW = 5

Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Settings:
    """Settings of the search.

    Attributes:
        population: number of strings in a generation.
        trials: total number of evaluations; the last generation may be incomplete.
        crossover_rate: share of the pool that crosses over.
        mutation_rate: probability that a bit flips.
    """

    population: int = 50
    trials: int = 1000
    crossover_rate: float = 0.6
    mutation_rate: float = 0.001


@dataclass(frozen=True)
class Evolution:
    """The result of a search.

    Attributes:
        best: bool (bits,): the string of least cost over all generations, the first among equals.
        cost: the cost of `best` at that evaluation.
        lowest: the lowest cost of each generation.
        mean: the mean cost of each generation.
    """

    best: Bits
    cost: float
    lowest: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)


def evolve(
    cost: Callable[[Bits], float], bits: int, settings: Settings, rng: np.random.Generator, known: Sequence[Bits] = ()
) -> Evolution:
    """Search for a string of low cost.

    Args:
        cost: returns the cost of a string, bool (bits,); called ``trials`` times, also for repeated strings.
        bits: length of a string.
        settings: settings of the search.
        rng: source of all randomness, except that of `cost`.
        known: strings put into the first generation; the others are drawn at random.
    """
    size = settings.population
    strings = rng.random((size, bits)) < 0.5
    for place, string in enumerate(known):
        strings[place] = string
    best, least = strings[0], np.inf
    lowest: list[float] = []
    means: list[float] = []
    worst: list[float] = []
    left = settings.trials
    while True:
        now = min(size, left)
        costs = np.array([cost(string) for string in strings[:now]])
        left -= now
        if costs.min() < least:
            best, least = strings[int(costs.argmin())].copy(), float(costs.min())
        lowest.append(float(costs.min()))
        means.append(float(costs.sum() / now))
        if left <= 0:
            return Evolution(best, least, lowest, means)
        worst.append(float(costs.max()))
        strings = _next(strings, max(worst[-_WINDOW:]) - costs, settings, rng)


def _next(strings: Bits, fitness: NDArray[np.float64], settings: Settings, rng: np.random.Generator) -> Bits:
    """The next generation by selection, crossover and mutation; it includes the fittest string unchanged."""
    elite = strings[int(fitness.argmax())].copy()
    pool = strings[_sampled(fitness, rng)]
    pairs = int(settings.crossover_rate * len(pool)) // 2
    for pair in range(pairs):
        low, high = np.sort(rng.integers(0, pool.shape[1] + 1, size=2)).tolist()
        first, second = pool[2 * pair].copy(), pool[2 * pair + 1].copy()
        pool[2 * pair, low:high], pool[2 * pair + 1, low:high] = second[low:high], first[low:high]
    pool ^= rng.random(pool.shape) < settings.mutation_rate
    if not (pool == elite).all(axis=1).any():
        pool[-1] = elite
    return pool


def _sampled(fitness: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices of the parents by stochastic universal sampling, in random order; int64 (population,)."""
    size = len(fitness)
    ends = np.cumsum(fitness)
    if not ends[-1] > 0:
        return rng.permutation(size)
    pointers = (np.arange(size) + rng.random()) / size * ends[-1]
    chosen = np.minimum(np.searchsorted(ends, pointers, side="right"), size - 1)
    return rng.permutation(chosen)


def from_gray(bits: Bits, low: float, high: float) -> NDArray[np.float64]:
    """Decode Gray-coded strings as numbers in [low, high], in equal steps.

    Args:
        bits: bool (numbers, length), the highest bit first.
        low: the number of the first code word, all zeros.
        high: the number of the last code word.

    Returns:
        float64 (numbers,).
    """
    binary = np.bitwise_xor.accumulate(bits, axis=1)
    steps = binary @ (2 ** np.arange(bits.shape[1] - 1, -1, -1))
    return np.asarray(low + (high - low) * steps / (2 ** bits.shape[1] - 1))


def to_gray(values: NDArray[np.float64], low: float, high: float, length: int) -> Bits:
    """Gray-code numbers, clipped to [low, high] and rounded to the nearest step; bool (numbers, length)."""
    steps = np.rint((np.clip(values, low, high) - low) / (high - low) * (2**length - 1)).astype(np.int64)
    return np.asarray((steps ^ (steps >> 1))[:, None] >> np.arange(length - 1, -1, -1) & 1, dtype=bool)
