"""How class probabilities become an answer: the most probable class, or the one of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Answering:
    """The rule by which answers are given.

    Attributes:
        threshold: rows whose most probable class is less probable than this are refused; None: none is.
        error_costs: float64 (classes, classes), what answering a column costs where a row is the truth; None: the most
            probable class is answered.
        refused_cost: of a refusal: rows for which every answer is expected to cost more are refused. None: none is.
    """

    threshold: float | None = None
    error_costs: NDArray[np.float64] | None = None
    refused_cost: float | None = None

    def answers(self, probabilities: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Class codes (rows,) and whether each is refused, bool (rows,); of equal costs the more probable class.

        A row's answer does not depend on the rows beside it, to the last bit.

        Args:
            probabilities: float64 (rows, classes).
        """
        refused = np.zeros(len(probabilities), dtype=bool)
        if self.threshold is not None:
            refused = ~(probabilities.max(axis=1) >= self.threshold)
        if self.error_costs is None:
            return np.asarray(probabilities.argmax(axis=1)), refused
        expected = np.zeros(probabilities.shape)
        for truth, costs in enumerate(self.error_costs):  # a matrix product rounds by the number of rows
            expected += probabilities[:, truth, None] * costs
        least = expected.min(axis=1, keepdims=True)
        if self.refused_cost is not None:
            refused |= least[:, 0] > self.refused_cost
        return np.asarray(np.where(expected == least, probabilities, -1.0).argmax(axis=1)), refused
