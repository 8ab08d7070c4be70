"""Substitutes for the audit: values of the training part, independent of the row that they are put in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Substitutes"]

_FEWEST = 256
_MOST_CELLS = 2**16


@dataclass(frozen=True)
class Substitutes:
    """Rows of independent draws: each feature of each row gets the value of another random training row.

    All columns of one feature come from the same training row, so that codes such as one-hot stay valid. Levels, and
    missing values, are drawn with their frequencies in the training part.

    Drawing single values is slow; copying rows is fast. So a trial's substitute rows are drawn once, and every round of
    every policy takes a random selection of them, in a random order.
    """

    values: NDArray[np.float64]

    @classmethod
    def draw(
        cls, train: NDArray[np.float64], feature_of_column: NDArray[np.int64], places: int, rng: np.random.Generator
    ) -> Substitutes:
        """Draw twice as many rows as a round takes, with a minimum so that two rounds of few rows differ.

        Args:
            train: float64 (m, columns), m > 0: the values to draw from.
            feature_of_column: int64 (columns,), ascending.
            places: the most rows that a round takes.
            rng: the source of random choices.
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
        """Take random rows without repetition; float64 (places, columns)."""
        return self.values[rng.permutation(len(self.values))[:places]]
