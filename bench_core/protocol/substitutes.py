"""Substitutes for the audit: values of the training part that have nothing to do with the row that they are put in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Substitutes"]

_FEWEST = 256
_MOST_CELLS = 2**16


@dataclass(frozen=True)
class Substitutes:
    """Rows of independent draws: each feature of each row has the value of a training row of its own.

    The columns of one feature come from one training row, so that codes such as one-hot stay valid. A level is drawn as
    often as the training part has it, a missing value too.

    Drawing single values is slow and copying rows is fast. So a trial's rows are drawn once, and every round of every
    policy takes other ones of them, in a random order.
    """

    values: NDArray[np.float64]

    @classmethod
    def draw(
        cls, train: NDArray[np.float64], feature_of_column: NDArray[np.int64], places: int, rng: np.random.Generator
    ) -> Substitutes:
        """Draw twice as many rows as a round takes, and enough that two rounds of few rows differ.

        Args:
            train: float64 (m, columns), m > 0: where values are drawn from.
            feature_of_column: int64 (columns,), ascending.
            places: how many rows a round takes at most.
            rng: where the random choices come from.
        """
        columns = np.arange(train.shape[1])
        train = np.ascontiguousarray(train)
        features = int(feature_of_column.max(initial=-1)) + 1
        values = np.empty((max(2 * places, _FEWEST) if places else 0, len(columns)))
        step = max(1, _MOST_CELLS // max(len(columns), 1))
        for first in range(0, len(values), step):
            part = values[first : first + step]
            donors = rng.integers(len(train), size=(len(part), features))
            places_in_train = donors[:, feature_of_column]
            places_in_train *= len(columns)
            places_in_train += columns
            train.take(places_in_train, out=part, mode="clip")
        return cls(values)

    def take(self, places: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Random rows of these, none of them twice; float64 (places, columns)."""
        return self.values[rng.permutation(len(self.values))[:places]]
