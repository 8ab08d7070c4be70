"""The network of partial inputs as a predictor for methods that look ahead over sets, such as ``aaco``.

The entry point ``neural`` of the group ``budgetbench.predictors`` names this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_neural.policy import Network, softmax
from bench_neural.static import MaskStatic
from bench_neural.view import Units, View

__all__ = ["PartialNetwork", "fit", "policy_types"]


class Sets(Protocol):
    """Sets of features; `member` is bool (sets, features)."""

    @property
    def member(self) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, eq=False)
class PartialNetwork:
    """Answers from any set of known features: `bench_models.partial.PartialPredictor`.

    Attributes:
        view: the network's inputs, and the units.
        network: two hidden layers; its outputs are logits.
    """

    view: View
    network: Network

    def probabilities(self, X: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Class probabilities, float64 (rows, classes), of rows given their known features, bool (rows, features)."""
        inputs = self.view.inputs(self.view.values(X), self.view.known_units(known))
        return softmax(self.network(inputs))

    def set_losses(
        self, X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_], candidates: Sets
    ) -> NDArray[np.float64]:
        """Log losses of rows without any candidate set, then with each: float64 (rows, 1 + sets), in nats.

        Args:
            X: float64 (rows, columns): complete rows.
            y: int64 (rows,): their classes.
            known: bool (rows, features).
            candidates: sets of features known in addition.
        """
        from bench_neural.kernels_ahead import losses_of_sets

        sets = self.view.known_units(np.vstack([np.zeros((1, known.shape[1]), dtype=bool), candidates.member]))
        return self._losses(losses_of_sets, X, y, known, sets, len(sets))

    def removal_losses(
        self, X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_], part: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Log losses of rows with a set of their own, then without each part of it: float64 (rows, 1 + parts), in nats.

        Args:
            X: float64 (rows, columns): complete rows.
            y: int64 (rows,): their classes.
            known: bool (rows, features).
            part: int64 (rows, features): the part of each feature, whose features are known together; −1 outside the
                row's set.
        """
        from bench_neural.kernels_ahead import losses_of_removals

        of_unit = np.full((len(X), self.view.units.count), -1)
        of_unit[:, self.view.units.of_feature] = part
        of_unit[~self.view.known_units(part >= 0)] = -1
        return self._losses(losses_of_removals, X, y, known, of_unit, 2 + int(part.max(initial=-1)))

    def _losses(
        self, kernel: Callable[..., None], X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_],
        sets: NDArray[Any], width: int,
    ) -> NDArray[np.float64]:  # fmt: skip
        from bench_neural.kernels import dense

        values, units = self.view.values(X), self.view.known_units(known)
        (entry, bias), (middle, middle_bias), (last, last_bias) = self.network.layers
        first = dense(self.view.inputs(values, units), entry, bias, False)
        losses = np.empty((len(X), width))
        kernel(
            first, values, np.ascontiguousarray(y), units, sets, self.view.unit_of_value, entry, middle, middle_bias,
            last, last_bias, losses,
        )  # fmt: skip
        return losses


def fit(problem: Problem, unit_of_feature: NDArray[np.int64]) -> PartialNetwork:
    """Train the predictor that all methods here share, with its default parameters.

    Args:
        problem: binary or multiclass.
        unit_of_feature: int64 (features,): the unit in which the calling method buys each feature. It is not used,
            because the network's own units are these or parts of them.
    """
    prepared, _, predictor = MaskStatic().trained(problem)
    return PartialNetwork(prepared.view, Network.of(predictor))


def policy_types() -> list[type]:
    """Return the types that a saved policy with this predictor contains."""
    return [PartialNetwork, Network, View, Units]
