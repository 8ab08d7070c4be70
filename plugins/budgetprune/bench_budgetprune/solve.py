"""(IP) of BUDGETPRUNE for one λ after another, by one of two solvers, with a certified gap at every iteration.

``flow`` (`bench_budgetprune.ascent`) is fast and ends at the optimum; ``subgradient`` (`bench_budgetprune.subgradient`)
is the paper's Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance
from bench_budgetprune.pruning import Between, Kind, Pruning
from bench_budgetprune.search import Duals

__all__ = ["Solver"]


class Solver:
    """Solves (IP) for one λ after another, each starting from the duals of the previous one.

    Args:
        instance: (IP).
        threads: number of threads; does not influence the result.
        kind: ``flow`` or ``subgradient``.

    Raises:
        ValueError: the kind is unknown.
    """

    def __init__(self, instance: Instance, threads: int = 1, kind: Kind = "flow") -> None:
        if kind not in get_args(Kind):
            raise ValueError(f"solver must be one of {', '.join(get_args(Kind))}, not {kind!r}")
        self.instance, self.threads, self.kind = instance, max(1, threads), kind
        self._duals = Duals(instance)

    def solve(
        self,
        lambda_: float,
        gap: float = 1e-4,
        max_iter: int = 1000,
        starts: Iterable[NDArray[np.bool_]] = (),
        between: Between | None = None,
    ) -> Pruning:
        """Minimise (IP).

        Args:
            lambda_: λ.
            gap: the relative duality gap to stop at.
            max_iter: stop after this many iterations, whatever the gap.
            starts: prunings (bool (nodes,)) to try first, besides the unpruned and the fully pruned forest.
            between: the region to search; everything if None.

        Raises:
            ValueError: λ is negative, NaN or infinite.
        """
        if not 0 <= lambda_ < np.inf:
            raise ValueError(f"lambda must be finite and not negative, not {lambda_}")
        from bench_budgetprune.ascent import Ascent
        from bench_budgetprune.subgradient import Subgradient

        run = Ascent if self.kind == "flow" else Subgradient
        with ThreadPoolExecutor(self.threads) as pool:
            return run(self._duals, float(lambda_), gap, pool, between).go(max_iter, starts)
