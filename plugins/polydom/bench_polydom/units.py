"""Units of the lattice in a benchmark problem: acquisition groups and single features, with their prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, Problem

__all__ = ["Units", "units_of"]


@dataclass(frozen=True, eq=False)
class Units:
    """Units, each of which is acquired completely or not at all.

    Attributes:
        names: names of the units; a group has the names of its features.
        features: for each unit, int64 indices of its features.
        columns: for each unit, int64 indices of its columns of X.
        costs: the problem's prices.
    """

    names: tuple[str, ...]
    features: tuple[NDArray[np.int64], ...]
    columns: tuple[NDArray[np.int64], ...]
    costs: Costs

    def __len__(self) -> int:
        return len(self.features)

    def features_of(self, units: Sequence[int]) -> NDArray[np.int64]:
        """The features of some units, ascending."""
        if not len(units):
            return np.zeros(0, dtype=np.int64)
        return np.sort(np.concatenate([self.features[u] for u in units]))

    def curves(self, masks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cost curves of sets of units, including group prices: float64 (sets, degree + 1).

        Args:
            masks: int64 (sets,), bit i is unit i.
        """
        prices = self.costs.prices
        opening = self.costs.group_prices if self.costs.group_prices is not None else np.zeros((0, 1))
        table = np.zeros((len(masks), max(prices.shape[1], opening.shape[1])))
        opened = np.zeros((len(masks), len(opening)), dtype=bool)
        for unit, members in enumerate(self.features):
            inside = (masks >> unit) & 1 == 1
            for feature in members.tolist():
                table[inside, : prices.shape[1]] += prices[feature]
                if self.costs.groups is not None and self.costs.groups[feature] >= 0:
                    opened[inside, self.costs.groups[feature]] = True
        for group, price in enumerate(opening):
            table[opened[:, group], : len(price)] += price
        return table


def units_of(problem: Problem, kind: Literal["groups", "features"], most: int) -> Units:
    """The units of a problem.

    Args:
        problem: the problem; its costs define the acquisition groups.
        kind: ``groups`` makes a group one unit; ``features`` makes every feature a unit, so that a set may contain
            some features of a group only.
        most: maximum number of units.

    Raises:
        ValueError: there are more than ``most`` units.
    """
    groups = problem.costs.groups
    members: dict[object, list[int]] = {}
    for feature in range(problem.n_features):
        inside = kind == "groups" and groups is not None and groups[feature] >= 0
        key = ("group", int(groups[feature])) if inside and groups is not None else ("feature", feature)
        members.setdefault(key, []).append(feature)
    if len(members) > most:
        raise ValueError(
            f"{len(members)} units would make a lattice of 2^{len(members)} sets; at most {most} can be searched: "
            "choose features first, or give them acquisition groups"
        )
    features = tuple(np.array(some, dtype=np.int64) for some in members.values())
    return Units(
        tuple("+".join(problem.feature_names[f] for f in some[:3]) for some in features),
        features,
        tuple(problem.columns_of_set(some) for some in features),
        problem.costs,
    )
