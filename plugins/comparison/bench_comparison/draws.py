"""Means over data sets as draws from a hierarchical Bayesian bootstrap; the same bits on every machine.

The question is what a method brings on a new data set, so data sets are the unit of inference; the splits of a data set
show how precisely its own value is known. The model assumes no distribution: a draw gives random weights to the data
sets and, within each, to its splits (Rubin 1981, *The Bayesian Bootstrap*, Ann. Statist. 9, on two levels). The data
sets of one family share one weight equally. So do several draws of one data set's prices; their splits are the same
rows, so these have the same weights, too.

The hierarchical model of `baycomp` (Corani et al. 2017) is not suitable: it needs Stan's sampler, whose numbers differ
between machines; it compares two methods at a time, so it cannot compare a method with the best of the others; and its
t prior has to be given the size of a large difference. Weighted means answer all questions from the same draws.

Weights are uniform on the simplex: gaps between sorted uniform numbers, which need no logarithm. The weighted mean of n
data sets varies too little: its variance is s²/(n + 1), where s² is the mean squared deviation; Student's interval has
s²/(n − 1), and the t quantile instead of the normal one. So the deviations from the observed means are stretched by the
ratio of the two widths, for all methods alike. A simulation (tests/test_answer_coverage.py) checks the coverage.

A data set with one split has draws only over data sets, not over splits. If it is also the only data set, nothing is
known of the spread, and the draws are NaN (`without_spread`).

A method may be missing on some data sets. Its mean is then taken relative to the methods that have all data sets: the
weighted mean of its differences from their mean on its own data sets, plus the weighted mean of theirs over all. So it
does not lose by lacking an easy data set, and a method on few data sets has a wide interval.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DRAWS",
    "SEED",
    "Table",
    "draws_of",
    "observed",
    "simplex",
    "split_draws",
    "stretch",
    "without_spread",
    "words",
]

Numbers = NDArray[np.float64]

DRAWS = 1000
SEED = 0xA115
"""The first part of the key of all draws."""


@dataclass(frozen=True, eq=False)
class Table:
    """Units (methods, algorithms, kinds) on the data sets of one view.

    Attributes:
        values: family → its mean over its data sets of their means over cost schemes, float64 (draws + 1, units,
            budgets); the first is the observed one; NaN for a unit that is missing somewhere.
        methods: number of methods; these are the first units.
    """

    values: Mapping[str, Numbers]
    methods: int

    @classmethod
    def of(cls, cells: Sequence[Numbers], families: Sequence[str], datasets: Sequence[str], methods: int) -> Table:
        """Build the table from the values of cells (a data set with one cost scheme), in any order of families.

        Args:
            cells: float64 (draws + 1, units, budgets) each.
            families, datasets: of each cell.
            methods: see above.
        """
        table: dict[str, dict[str, list[Numbers]]] = {}
        for values, family, dataset in sorted(zip(cells, families, datasets, strict=True), key=itemgetter(1)):
            table.setdefault(family, {}).setdefault(dataset, []).append(values)
        means = {family: _mean_of([_mean_of(some) for some in table[family].values()]) for family in table}
        return cls(means, methods)

    def of_families(self, names: Collection[str]) -> Table:
        """The table of some families."""
        return Table({name: values for name, values in self.values.items() if name in names}, self.methods)


def words(count: int, *key: int) -> NDArray[np.uint64]:
    """Random words of 53 bits, the same on every machine; uint64 (count,).

    Args:
        count: number of words.
        key: integers that seed the generator.
    """
    return np.asarray(np.random.PCG64(np.random.SeedSequence(key)).random_raw(count), dtype=np.uint64) >> np.uint64(11)


def simplex(draws: int, parts: int, *key: int) -> Numbers:
    """Weights that sum to 1, uniform on the simplex; float64 (draws, parts).

    Args:
        draws, parts: number of draws, and of weights in each.
        key: integers that seed the generator.
    """
    if parts == 1:
        return np.ones((draws, 1))
    uniform = words(draws * (parts - 1), SEED, parts, *key).astype(np.float64) * 2.0**-53
    cuts = np.sort(uniform.reshape(draws, parts - 1), axis=1)
    ends = np.ones((draws, 1))
    return np.asarray(np.diff(np.concatenate([0 * ends, cuts, ends], axis=1), axis=1))


def split_draws(values: Numbers, place: int) -> Numbers:
    """Means over a data set's splits: the observed one, then one per draw; float64 (draws + 1, units, budgets).

    Args:
        values: float64 (units, splits, budgets).
        place: number of the data set: its cost schemes get the same weights, other data sets get others.
    """
    splits = values.shape[1]
    weights = np.concatenate([np.full((1, splits), 1 / splits), simplex(DRAWS, splits, 1, place)])
    total = np.zeros((DRAWS + 1, values.shape[0], values.shape[2]))
    for split in range(splits):  # one after another: the same sum on every machine
        total += weights[:, split, None, None] * values[None, :, split]
    return total


def stretch(families: int) -> float:
    """Factor by which deviations are stretched, for a number of families; 1 for a single family."""
    from scipy.special import ndtri, stdtrit

    if families < 2:
        return 1.0
    ratio = float(stdtrit(families - 1, 0.975) / ndtri(0.975))
    return round(float(((families + 1) / (families - 1)) ** 0.5 * ratio), 9)


def observed(table: Table) -> Numbers:
    """Mean of each unit over the families, float64 (units, budgets); NaN where it has no data set."""
    means: Numbers = draws_of(Table({name: values[:1] for name, values in table.values.items()}, table.methods))[0]
    return means


def draws_of(table: Table) -> Numbers:
    """Means over the families: the observed one, then one per draw; float64 (draws + 1, units, budgets), rounded.

    NaN for a unit without a data set; NaN for all units if no method has every data set.
    """
    cells = list(table.values.values())
    rows = cells[0].shape[0]
    weights = np.full((1, len(cells)), 1 / len(cells))
    if rows > 1:
        weights = np.concatenate([weights, simplex(rows - 1, len(cells), 0)])
    there = np.array([~np.isnan(cell[0, :, 0]) for cell in cells])
    everywhere = there.all(axis=0) & (np.arange(there.shape[1]) < table.methods)
    own, share = np.zeros_like(cells[0]), np.zeros(cells[0].shape[:2])
    line = np.zeros((rows, cells[0].shape[2]))
    for f, cell in enumerate(cells):
        weight = weights[:, f, None]
        base = _mean_of_units(cell, everywhere)
        line += weight * base
        gap = cell - base[:, None, :]
        gap *= weight[:, :, None]
        gap[:, ~there[f]] = 0.0
        own += gap
        share += np.where(there[f][None, :], weight, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = own / share[:, :, None] + line[:, None, :]
    if rows > 1:
        means[1:] = means[0] + stretch(len(cells)) * (means[1:] - means[0])
    return np.asarray(np.round(means, 10))


def without_spread(draws: Numbers, families: Sequence[str], splits: Sequence[int]) -> Numbers:
    """The draws; all but the observed one are NaN if there is one family with one split, which has no spread.

    Args:
        draws: from `draws_of`.
        families, splits: of each cell.
    """
    if len(set(families)) > 1 or max(splits) > 1:
        return draws
    return np.concatenate([draws[:1], np.full_like(draws[1:], np.nan)])


def _mean_of_units(cell: Numbers, units: NDArray[np.bool_]) -> Numbers:
    """Mean over some units; float64 (draws, budgets)."""
    total = np.zeros((cell.shape[0], cell.shape[2]))
    for unit in np.flatnonzero(units):
        total += cell[:, unit]
    return total / units.sum() if units.any() else np.full_like(total, np.nan)


def _mean_of(arrays: Sequence[Numbers]) -> Numbers:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return np.asarray(total / len(arrays))
