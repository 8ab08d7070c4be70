"""Estimated and actual accuracy and cost of models, by budget (PolyDom, appendix, "Estimated Versus Actual").

The estimated cost of a model is the value of its cost polynomial: for PolyDom at the item's own size, for Greedy at
the size that it was built for. Actual costs come from a file of measured times: for every measured item, the actual
cost of a set of features is the sum of their times on that item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError, Problem, did_you_mean
from bench_polydom.candidates import features_of
from bench_polydom.index import NOTHING, Index
from bench_polydom.polynomials import evaluate
from bench_polydom.pricing import Measurements
from bench_polydom.units import Units

__all__ = ["ActualCosts", "by_budget"]


@dataclass(frozen=True, eq=False)
class ActualCosts:
    """Measured times of units.

    Attributes:
        times: for every item size, the times in microseconds, float64 (items, units).
    """

    times: Mapping[float, NDArray[np.float64]]

    @classmethod
    def of(cls, measured: Measurements, problem: Problem, units: Units, sizes: NDArray[np.float64]) -> ActualCosts:
        """The times of a problem's units; a feature ``hog[3]`` belongs to the measured feature ``hog``.

        Raises:
            DataError: a unit or a size was not measured, a unit has features of two measured ones, or features were
                measured on different numbers of items.
        """
        names = []
        for features in units.features:
            stems = {problem.feature_names[f].split("[")[0] for f in features.tolist()}
            for stem in sorted(stems):
                if stem not in measured.times:
                    hint = did_you_mean(stem, list(measured.times))
                    raise DataError(f"there are no measured times of {stem!r}; {hint}")
            if len(stems) > 1:
                raise DataError(
                    f"{sorted(stems)[0]!r} and {sorted(stems)[1]!r} were measured separately, but are one unit"
                )
            names.append(stems.pop())
        table: dict[float, NDArray[np.float64]] = {}
        for size in np.unique(sizes).tolist():
            if size not in measured.sizes:
                raise DataError(f"no items of size {size:g} were measured; measured sizes: {measured.sizes}")
            at = measured.sizes.index(size)
            counts = {len(measured.times[name][at]) for name in names}
            if len(counts) != 1:
                raise DataError(f"features were measured on different numbers of items of size {size:g}")
            table[size] = np.array([measured.times[name][at] for name in names], dtype=np.float64).T
        return cls(table)

    def totals(self, size: float, units: Sequence[int]) -> NDArray[np.float64]:
        """Total time of some units on every measured item of a size: float64 (items,)."""
        total: NDArray[np.float64] = self.times[size][:, list(units)].sum(axis=1)
        return total


def by_budget(
    index: Index, sizes: NDArray[np.float64], budgets: Sequence[float], actual: ActualCosts | None = None
) -> dict[str, list[float]]:
    """Series with one number per budget: means over items, where an item counts 0 if no model fits.

    Args:
        index: the index to query.
        sizes: float64 (rows,): sizes of the items.
        budgets: budgets of a row.
        actual: measured times of the units; None without measurements.

    Returns:
        ``estimated_accuracy`` and ``estimated_cost``. With measured times also ``actual_cost``, the mean over measured
        items, and ``actual_over_budget``, the share of measured items on which the model exceeds the budget. If items
        differ in size, there is also a series for the smallest (``…_smallest``) and the largest size (``…_largest``).
    """
    different, counts = np.unique(sizes, return_counts=True)
    parts = {"": counts.astype(np.float64)}
    if len(different) > 1:
        for name, at in (("_smallest", 0), ("_largest", -1)):
            parts[name] = np.zeros(len(different))
            parts[name][at] = 1.0
    series: dict[str, list[float]] = {}
    for budget in budgets:
        seen = [_seen(index, size, budget, actual) for size in different.tolist()]
        for part, weights in parts.items():
            for name in seen[0]:
                value = float(np.average([entry[name] for entry in seen], weights=weights))
                series.setdefault(name + part, []).append(value)
    return series


def _seen(index: Index, size: float, budget: float, actual: ActualCosts | None) -> dict[str, float]:
    candidate = index.lookup(size, budget)
    fits = candidate != NOTHING
    chosen = index.candidates
    seen = {
        "estimated_accuracy": float(chosen.accuracy[candidate]) if fits else 0.0,
        "estimated_cost": float(evaluate(chosen.curves[[candidate]], index.priced_at(size))[0]) if fits else 0.0,
    }
    if actual is not None:
        totals = actual.totals(size, features_of(int(chosen.masks[candidate])) if fits else ())
        seen["actual_cost"] = float(totals.mean())
        seen["actual_over_budget"] = float(np.mean(totals > budget))
    return seen
