"""Non-dominated sorting of objective points (EMSCO §3.3.1).

An objective point is (conclusive, right, cost): the number of rows with a confident answer, the number of these with a
right answer, and the total cost of all rows. A chromosome dominates another if g1 = conclusive / N is not smaller,
g2 = right / conclusive (0 if no row is conclusive) is not smaller, cost is not greater, and one of them differs.

Comparisons are exact. N is the same for all, so g1 compares as an integer. Two different fractions with
denominators up to N differ by at least 1 / N^2, so for N <= 2^26 their correctly rounded float64 quotients
differ too, in the same order, and equal fractions give equal quotients: comparing g2 as float64 is the same
as cross-multiplying. Cost is exact when it is integer; float costs compare by their bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = NDArray[Any]

MAX_ROWS = 2**26
"""Maximum number of rows for which float64 quotients order conclusive accuracies exactly."""


def conclusive_accuracy(conclusive: Ints, right: Ints) -> Floats:
    """g2 (Eq. 4): right / conclusive, 0 where nothing is conclusive; shape (P,), in exact order."""
    return right / np.maximum(conclusive, 1)


def distinct_points(conclusive: Ints, accuracy: Floats, cost: Numbers) -> tuple[Ints, Ints]:
    """Sort the (P,) points by conclusive, then accuracy (both descending), then cost, and drop repeats.

    No later point can dominate an earlier one.

    Returns:
        members: (D,): one row number per distinct point, in that order.
        point: (P,): for each row, the position of its point in `members`.
    """
    order = np.lexsort((cost, -accuracy, -conclusive))
    c, a, p = conclusive[order], accuracy[order], cost[order]
    new = np.ones(order.size, dtype=np.bool_)
    new[1:] = (c[1:] != c[:-1]) | (a[1:] != a[:-1]) | (p[1:] != p[:-1])
    point = np.empty(order.size, dtype=np.int64)
    point[order] = np.cumsum(new) - 1
    return order[new], point


def fronts(accuracy: Floats, cost: Numbers) -> Ints:
    """The front t of each distinct point (E_0 is the best), in the order given by `distinct_points`.

    In that order conclusive never increases, so an earlier point dominates a later one exactly if its accuracy is not
    smaller and its cost is not greater. This version finds one front after another in a (D, D) table; the compiled
    version needs no such table.
    """
    size = accuracy.size
    earlier = np.arange(size)[:, None] < np.arange(size)[None, :]
    dominates = earlier & (accuracy[:, None] >= accuracy[None, :]) & (cost[:, None] <= cost[None, :])
    front = np.full(size, -1, dtype=np.int64)
    level = 0
    while np.any(front < 0):
        left = front < 0
        front[left & ~np.any(dominates[left], axis=0)] = level
        level += 1
    return front
