"""Parameters of the genetic algorithm (EMSCO Tables 1-5, §4.3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bench_emsco import fitness, operators

SearchRows = Literal["validation", "training"]
"""Part whose rows a search decides (see `prepare`)."""

MAX_WORK = 2_000_000_000_000
"""Work of two to five minutes on one core: more than twice that of the longest run of the published suites that ended
in time (57 features, 1,500 rows)."""


@dataclass(frozen=True)
class EvolutionParams:
    """Parameters of a run; the defaults are the paper's for Heart (Table 2, §4.3.1).

    Raises:
        ValueError: a parameter is out of range; the message names it.
    """

    population: int = 300
    """Population size ||G||, at least 2."""
    mutation_rate: float = 0.075
    """Probability m that a feature mutates, in [0, 1]."""
    recombination_rate: float = 0.75
    """Probability r of recombination, in [0, 1]; otherwise a child starts as a copy of one parent."""
    elitism: float = 0.2
    """Share b of the unique chromosomes that survives, in (0, 1)."""
    beta: float = 2.0
    """Stage count bias of the mutation, in [1, inf); a greater value gives fewer stages."""
    mutation: operators.MutationKind = "beta-binomial"
    """Distribution of a mutated stage; the authors' released program draws it uniformly ("uniform")."""
    max_iter: int = 150
    """Maximum number of generations to breed, at least 0."""
    patience: int | None = 20
    """Generations g without a new fittest chromosome before a run stops, at least 1; None never stops early."""
    max_per_point: int | None = 4
    """Maximum number of elites that share an objective point, at least 1; None for no limit, as in the paper.

    On Credit (k = 4), limits from 1 to 8 find the same share of the exact front. From 16 on the search gets slower, and
    without a limit some runs grow to thousands of elites, nearly all of them ties. The default keeps a few per point.
    """
    epsilon: float = fitness.EPSILON
    """ε of γ = u / l + ε, in (0, inf)."""
    max_work: int = MAX_WORK
    """Work on classifiers (see `SubsetModels.work`) after which the run stops, at least 1.

    The limit includes the work that the cache has spent before this run. Chromosomes of the last generation that are
    not evaluated by then are left out.
    """

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
        require(self.max_work >= 1, "max_work", "at least 1", self.max_work)
        operators.mutation_pmf(1, self.beta, self.mutation)  # raises for beta and mutation


def require(holds: bool, name: str, allowed: str, given: object) -> None:
    """Raise ValueError, naming the parameter and its range, unless `holds`."""
    if not holds:
        raise ValueError(f"{name} must be {allowed}, not {given!r}")
