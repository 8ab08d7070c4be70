"""Whether one data set decides which algorithm has the best mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench_comparison.draws import Table, observed

__all__ = ["deciding"]

Numbers = NDArray[np.float64]


def deciding(table: Table, units: Sequence[int]) -> list[tuple[int, dict[str, int]]]:
    """At each budget: the unit with the best mean, and the families without which another unit has it.

    Args:
        table: of at least two families; only the observed values are used.
        units: at least one: the units that are compared, with results on most families.

    Returns:
        For each budget: the unit, and family → the unit that has the best mean without this family.
    """
    first, families = _best(table, units), set(table.values)
    without = {family: _best(table.of_families(families - {family}), units) for family in table.values}
    return [
        (best, {family: units[b] for family, units in without.items() if units[b] != best})
        for b, best in enumerate(first)
    ]


def _best(table: Table, units: Sequence[int]) -> list[int]:
    """The unit with the best mean at each budget."""
    means = observed(table)[list(units)]
    return [units[int(place)] for place in np.where(np.isnan(means), -np.inf, means).argmax(axis=0)]
