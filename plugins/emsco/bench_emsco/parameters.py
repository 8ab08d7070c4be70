"""Parameters of the genetic algorithm (EMSCO Tables 1-5, §4.3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bench_emsco import fitness, operators


@dataclass(frozen=True)
class EvolutionParams:
    """Parameters of a run, checked when made; the defaults are the paper's for Heart (Table 2, §4.3.1)."""

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
    max_per_point: int | None = 4
    """Greatest number of elites that share an objective point, at least 1; None for no bound (the paper).

    On Credit (k = 4) bounds from 1 to 8 find the same share of the exact front; from 16 on the search gets
    slower, and without a bound some runs grow to thousands of elites, nearly all of them ties. The default
    keeps a few of each.
    """
    epsilon: float = fitness.EPSILON
    """Of gamma, in (0, inf)."""

    def __post_init__(self) -> None:
        require(self.population >= 2, "population", "at least 2", self.population)
        require(0.0 <= self.mutation_rate <= 1.0, "mutation_rate", "in [0, 1]", self.mutation_rate)
        require(0.0 <= self.recombination_rate <= 1.0, "recombination_rate", "in [0, 1]", self.recombination_rate)
        require(0.0 < self.elitism < 1.0, "elitism", "in (0, 1)", self.elitism)
        require(self.max_iter >= 0, "max_iter", "at least 0", self.max_iter)
        require(self.patience is None or self.patience >= 1, "patience", "None or at least 1", self.patience)
        require(
            self.max_per_point is None or self.max_per_point >= 1,
            "max_per_point",
            "None or at least 1",
            self.max_per_point,
        )
        require(0.0 < self.epsilon < math.inf, "epsilon", "in (0, inf)", self.epsilon)
        operators.mutation_pmf(1, self.beta, self.mutation)  # raises for beta and mutation


def require(holds: bool, name: str, allowed: str, given: object) -> None:
    """Raise ValueError, naming the parameter and its range, unless `holds`."""
    if not holds:
        raise ValueError(f"{name} must be {allowed}, not {given!r}")
