"""A solution of (IP), the names of the solvers, and bounds of the region in which an optimum is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Between", "Kind", "Pruning"]

Kind = Literal["flow", "subgradient"]


@dataclass(frozen=True)
class Pruning:
    """A solution of (IP) for one λ.

    Attributes:
        lambda_: λ.
        opened: bool (nodes,): the nodes that remain tests.
        objective: its objective, an upper bound of the optimum.
        bound: a lower bound of the optimum.
        bounds, objectives: the best bound and the best objective after every iteration.
    """

    lambda_: float
    opened: NDArray[np.bool_]
    objective: float
    bound: float
    bounds: tuple[float, ...] = ()
    objectives: tuple[float, ...] = ()

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.bounds)

    @property
    def gap(self) -> float:
        """Relative duality gap: the largest possible distance from the optimum, as a share of the objective."""
        return max(self.objective - self.bound, 0.0) / self.objective if self.objective > 0 else 0.0


@dataclass(frozen=True)
class Between:
    """A region that contains an optimum, up to a known loss.

    Attributes:
        core: bool (nodes,): the nodes that are open in every pruning of the region.
        within: bool (nodes,): the nodes that may be open.
        loss: the best pruning of the region is worse than the optimum by at most this.
    """

    core: NDArray[np.bool_]
    within: NDArray[np.bool_]
    loss: float = 0.0
