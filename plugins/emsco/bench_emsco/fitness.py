"""Objectives and fitness of a generation (EMSCO §2.2 and §3.3.2).

Fitness is f = gamma^rank * E, where E is the Euclidean norm of (g1, g2, g3). gamma^rank overflows, so it is never
computed: `log_fitness` is its logarithm, and roulette selection uses fitness divided by gamma^(greatest rank), which
is at most sqrt(3). These weights need only +, *, / and sqrt, which are exactly specified, so a seed gives the same run
on every machine.

Choices where the paper is silent:

- g3 = 1 for a chromosome that costs nothing, and 0 for any other when the cheapest of the generation costs
  nothing.
- A norm of zero (nothing conclusive, and free chromosomes exist) counts as half the smallest positive norm,
  so gamma is finite and Property 2 holds without exception.
- Weights that underflow float64 become 0, so chromosomes of far lower rank are never selected; `log_fitness` still
  distinguishes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EPSILON = 0.01
"""The paper's default of epsilon in gamma = u / l + epsilon."""


def objectives(conclusive: Ints, accuracy: Floats, cost: NDArray[Any], n_rows: int) -> Floats:
    """(g1, g2, g3) of each of P chromosomes, shape (P, 3) (Eq. 3-5); g3 relative to the cheapest of them.

    `accuracy` is g2 (see `pareto.conclusive_accuracy`), `cost` the total over rows.

    Raises:
        ValueError: `n_rows` < 1, a count of conclusive rows is not in 0..n_rows, or a cost is negative or not finite.
    """
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1, not {n_rows}")
    if np.any(conclusive < 0) or np.any(conclusive > n_rows):
        raise ValueError(f"conclusive must be in 0..{n_rows}")
    if cost.size and not (cost.min() >= 0 and cost.max() < np.inf):
        raise ValueError("cost must be in [0, inf)")
    goals = np.empty((conclusive.size, 3))
    goals[:, 0] = conclusive / n_rows
    goals[:, 1] = accuracy
    goals[:, 2] = np.divide(cost.min(), cost, out=np.ones(cost.size), where=cost > 0)
    return goals


def norms(goals: Floats) -> Floats:
    """E(Q) of each row of a (P, 3) array of objectives, shape (P,); zeros are replaced (see the module's docstring)."""
    squares = goals * goals
    size = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])
    zero = size == 0.0
    if zero.any():
        size[zero] = 0.5 * size[~zero].min(initial=2.0)
    return size


def gamma(norm: Floats, epsilon: float = EPSILON) -> float:
    """gamma = u / l + epsilon, where u and l are the greatest and the smallest norm.

    Raises:
        ValueError: `epsilon` is not in (0, inf).
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be in (0, inf), not {epsilon}")
    return float(norm.max() / norm.min() + epsilon)


def log_fitness(rank: Ints, norm: Floats, base: float) -> Floats:
    """log f(Q) = rank log gamma + log E (Eq. 9), shape (P,)."""
    return rank * np.log(base) + np.log(norm)


def selection_weights(rank: Ints, norm: Floats, base: float) -> Floats:
    """f(Q) / gamma^(greatest rank), shape (P,): proportional to the selection probability (§3.2.1)."""
    behind = rank.max() - rank
    powers = np.full(int(behind.max()) + 1, 1.0 / base)
    powers[0] = 1.0
    return np.multiply.accumulate(powers)[behind] * norm
