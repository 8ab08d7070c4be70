"""What is compared: methods, algorithms (their variants as one) and kinds of methods (their algorithms as one).

On each data set, an algorithm is represented by the variant that a reader of the page would take there: the one that is
best on average on all *other* data sets (families of them) at this budget; a kind likewise by one of its methods. So
nothing is chosen on the rows that judge it, and more variants do not mean more luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_comparison.draws import Table, observed

__all__ = ["Unit", "picked", "stacked"]

Numbers = NDArray[np.float64]

_LEAST_SHARE = 0.5
"""A member can represent its unit only if it has results on this share of the other data sets."""


@dataclass(frozen=True)
class Unit:
    """Several methods that are compared as one.

    Attributes:
        name: of the algorithm or kind.
        members: positions of its methods.
    """

    name: str
    members: tuple[int, ...]


def picked(cells: Sequence[Numbers], families: Sequence[str], datasets: Sequence[str]) -> Mapping[str, Numbers]:
    """Family → mean quality of every method on all other families; float64 (methods, budgets), NaN for too few results.

    Args:
        cells: of each data set and cost scheme, float64 (methods, budgets): mean over splits.
        families, datasets: of each.
    """
    found: dict[str, Numbers] = {}
    for family in dict.fromkeys(families):
        rest = [i for i, name in enumerate(families) if name != family]
        if not rest:
            found[family] = np.zeros_like(cells[0])
            continue
        here, tables = [families[i] for i in rest], [datasets[i] for i in rest]
        table = Table([cells[i][None] for i in rest], here, tables, len(cells[0]))
        means = observed(table)
        count = len(set(table.families))
        there = np.array([~np.isnan(cells[i][:, 0]) for i in rest])
        mine = np.array([len({here[int(k)] for k in np.flatnonzero(column)}) for column in there.T], dtype=np.int64)
        means[mine < _LEAST_SHARE * count] = np.nan
        found[family] = means
    return found


def stacked(
    values: Sequence[Numbers], families: Sequence[str], others: Mapping[str, Numbers], units: Sequence[Unit]
) -> list[Numbers]:
    """The cells with the units appended to the methods; float64 (methods + units, splits, budgets) each.

    Args:
        values: float64 (methods, splits, budgets) of each cell.
        families: of each cell.
        others: from `picked`.
        units: the units to append.
    """
    there: dict[str, NDArray[np.bool_]] = {}
    for cell, family in zip(values, families, strict=True):
        present = np.asarray(~np.isnan(cell).any(axis=(1, 2)), dtype=np.bool_)
        there[family] = there.get(family, present) & present
    return [
        np.concatenate([cell, *(_unit(cell, others[family], there[family], unit)[None] for unit in units)])
        for cell, family in zip(values, families, strict=True)
    ]


def _unit(cell: Numbers, means: Numbers, there: NDArray[np.bool_], unit: Unit) -> Numbers:
    members = [m for m in unit.members if there[m]]
    if not members:
        return np.full(cell.shape[1:], np.nan)
    columns = []
    for budget in range(cell.shape[2]):
        known = np.where(np.isnan(means[members, budget]), -np.inf, means[members, budget])
        columns.append(cell[members[int(known.argmax())], :, budget])
    return np.stack(columns, axis=1)
