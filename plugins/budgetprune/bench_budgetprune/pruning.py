"""What a solution of (IP) is, which solvers there are, and where an optimum may be looked for."""

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
        opened: bool (nodes,): the nodes that stay tests.
        objective: its value, an upper bound of the optimum.
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
        """Iterations done."""
        return len(self.bounds)

    @property
    def gap(self) -> float:
        """Relative duality gap: how far, at most, the solution is from the optimum, as a share of its value."""
        return max(self.objective - self.bound, 0.0) / self.objective if self.objective > 0 else 0.0


@dataclass(frozen=True)
class Between:
    """Where an optimum may be looked for, at a known loss.

    Attributes:
        core: bool (nodes,): a pruning whose nodes are all open.
        within: bool (nodes,): a pruning whose closed nodes are all closed.
        loss: the best pruning between the two is worse than the optimum by at most this.
    """

    core: NDArray[np.bool_]
    within: NDArray[np.bool_]
    loss: float = 0.0
