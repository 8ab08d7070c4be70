"""A family of prunings at even steps of cost, so that compared methods have equally many policies per unit of cost.

It is for methods whose prunings are nested along a parameter (an impurity threshold, the α of cost-complexity pruning),
so the mean cost never rises along it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_models.forest.flat import FlatForest
from bench_models.tradeoff import evenly

__all__ = ["mean_cost", "spread_over_cost"]

_LOOKS = 6
"""Number of prunings whose cost is measured, per requested policy."""


def mean_cost(problem: Problem, forest: FlatForest, opened: NDArray[np.bool_]) -> float:
    """The mean cost of a validation row under a pruning.

    Args:
        problem: prices and the validation part.
        forest: the trees.
        opened: bool (nodes,): the tests that remain.
    """
    from bench_models.forest import walk

    rows = problem.validation
    acquired, _ = walk.decide(forest.pruned(opened).walked[0], rows.X, problem.costs.n_features, problem.threads)
    return float(problem.costs.bill(acquired, rows.sizes).mean())


def spread_over_cost(values: Sequence[float], cost_at: Callable[[float], float], count: int) -> list[float]:
    """Parameters whose costs are spread evenly between those of the first and the last.

    Measuring starts with the first and the last parameter. The next one is always midway between the two neighbouring
    measured ones with the largest difference in cost, among those with a value between them. This ends after six more
    per requested policy, or when no such pair is left. The measured ones nearest to even steps of cost are returned.

    Args:
        values: rising parameters to choose from; at least one.
        cost_at: mean cost at a parameter; it never rises along them.
        count: maximum number of parameters, at least 1.

    Returns:
        Ascending parameters, with the first and the last of ``values`` (only the last for a count of 1).
    """
    costs = {place: cost_at(values[place]) for place in sorted({0, len(values) - 1})}
    for _ in range(_LOOKS * count):
        gaps = [(costs[a] - costs[b], a, b) for a, b in pairwise(sorted(costs)) if b - a > 1 and costs[a] > costs[b]]
        if not gaps:
            break
        _, a, b = max(gaps)
        costs[(a + b) // 2] = cost_at(values[(a + b) // 2])
    places = sorted(costs)
    return [values[places[i]] for i in evenly([costs[place] for place in places], count)]
