"""Turn class probabilities into answers: the most probable class, or the class of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Answering:
    """The rule that turns class probabilities into answers and refusals.

    Attributes:
        threshold: confidence threshold: rows whose highest class probability is below it are refused; None: the
            threshold refuses no row.
        error_costs: float64 (classes, classes): entry (t, a) is the cost of answering class a where class t is true;
            None: the answer is the most probable class.
        refused_cost: cost of refusing a row: rows for which every answer has a higher expected cost are refused; None:
            no row is refused for its expected cost.
    """

    threshold: float | None = None
    error_costs: NDArray[np.float64] | None = None
    refused_cost: float | None = None

    def answers(self, probabilities: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the class code of every row, int64 (rows,), and whether the row is refused, bool (rows,).

        Among classes of equal expected cost, the most probable one is answered. A row's answer does not depend on the
        other rows, not even by rounding.

        Args:
            probabilities: float64 (rows, classes).
        """
        refused = np.zeros(len(probabilities), dtype=bool)
        if self.threshold is not None:
            refused = ~(probabilities.max(axis=1) >= self.threshold)
        if self.error_costs is None:
            return np.asarray(probabilities.argmax(axis=1)), refused
        expected = np.zeros(probabilities.shape)
        for truth, costs in enumerate(self.error_costs):  # a matrix product's rounding depends on the number of rows
            expected += probabilities[:, truth, None] * costs
        least = expected.min(axis=1, keepdims=True)
        if self.refused_cost is not None:
            refused |= least[:, 0] > self.refused_cost
        return np.asarray(np.where(expected == least, probabilities, -1.0).argmax(axis=1)), refused
