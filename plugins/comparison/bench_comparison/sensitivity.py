"""How much an answer depends on one data set: means without each family of data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bench_comparison.draws import Table, draws_of, observed

__all__ = ["deciding", "draws_without", "most_influential", "without_each"]

Numbers = NDArray[np.float64]


def without_each(table: Table) -> dict[str, Numbers]:
    """Family → the observed means without it, float64 (units, budgets).

    Args:
        table: of at least two families.
    """
    families = set(table.values)
    return {family: observed(table.of_families(families - {family})) for family in table.values}


def most_influential(mean: float, without: Mapping[str, float]) -> str:
    """The family without which a mean changes most, the first among equals.

    Args:
        mean: over all families.
        without: family → the mean over the other families; NaN if it is not known.
    """
    return max(without, key=lambda family: np.nan_to_num(abs(without[family] - mean), nan=-1.0))


def draws_without(table: Table, family: str, unit: int, budget: int) -> Numbers:
    """Draws of a unit's mean at one budget without a family; float64 (draws + 1,), the first is the observed one."""
    columns = [*range(table.methods), unit]
    rest = {name: values[:, columns, budget : budget + 1] for name, values in table.values.items() if name != family}
    return np.asarray(draws_of(Table(rest, table.methods))[:, -1, 0])


def deciding(means: Numbers, without: Mapping[str, Numbers], units: Sequence[int]) -> list[tuple[int, dict[str, int]]]:
    """At each budget: the unit with the best mean, and the families without which another unit has it.

    Args:
        means: observed, float64 (units, budgets).
        without: from `without_each`.
        units: at least one: the units that are compared, with results on most families.

    Returns:
        For each budget: the unit, and family → the unit that has the best mean without this family.
    """
    first = _best(means, units)
    others = {family: _best(rest, units) for family, rest in without.items()}
    return [
        (best, {family: units[b] for family, units in others.items() if units[b] != best})
        for b, best in enumerate(first)
    ]


def _best(means: Numbers, units: Sequence[int]) -> list[int]:
    """The unit with the best mean at each budget."""
    some = means[list(units)]
    return [units[int(place)] for place in np.where(np.isnan(some), -np.inf, some).argmax(axis=0)]
