"""EDDI's policy: it samples the unknown values and buys the unit with the greatest expected information per price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from bench_models.remembered import FieldsOnly, RememberedRows, row_keys
from numpy.typing import NDArray

from bench_neural.policy import BLOCK, Network, StepPolicy, affordable, best_unit

__all__ = ["Imputer", "InformationPolicy"]


@dataclass(frozen=True, eq=False)
class Imputer(FieldsOnly):
    """EDDI's partial variational auto-encoder, with the noise of its samples.

    Attributes:
        slope, shift: float32 (values, code): parameters of each value's point, see `kernels.points`.
        encoder: from the sum of the known values' points to means and log deviations of the latent variables.
        decoder: from latent variables to means of the values.
        latent_noise: float32 (samples, dimensions).
        value_noise: float32 (samples, values): added to the decoded means.
    """

    slope: NDArray[np.float32]
    shift: NDArray[np.float32]
    encoder: Network
    decoder: Network
    latent_noise: NDArray[np.float32]
    value_noise: NDArray[np.float32]

    @cached_property
    def remembered(self) -> RememberedRows:
        """Gains by a row's known values, at most 128 MiB. A family's policies share them, and have one predictor."""
        return RememberedRows(2**27)

    def impute(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Samples of all values: float32 (rows, samples, values); `known` is bool (rows, values)."""
        from bench_neural.kernels import points, samples

        latent = self.encoder(points(values, known, self.slope, self.shift))
        decoded = self.decoder(samples(latent, self.latent_noise))
        return np.asarray(decoded.reshape(len(values), *self.value_noise.shape) + self.value_noise)


@dataclass(frozen=True, eq=False, kw_only=True)
class InformationPolicy(StepPolicy):
    """EDDI: buys the unit of greatest expected information about the class per price.

    Attributes:
        imputer: samples the unknown values.
    """

    imputer: Imputer

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        allowed = affordable(self.view, known, self.limit)
        best = np.full(len(known), -1)
        buying = allowed.any(axis=1)
        blank = np.flatnonzero(buying & ~known.any(axis=1))  # all rows without known units choose the same unit
        some = np.flatnonzero(buying & known.any(axis=1))
        if len(blank):
            best[blank] = self._best(values[blank[:1]], known[blank[:1]], allowed[blank[:1]])
        for rows in np.array_split(some, -(-len(some) // BLOCK) or 1):
            best[rows] = self._best(values[rows], known[rows], allowed[rows])
        return best

    def _best(
        self, values: NDArray[np.float32], known: NDArray[np.bool_], allowed: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        inputs = self.view.inputs(values, known)
        gains = self.imputer.remembered.of(
            row_keys(inputs), lambda new: self._gains(inputs[new], values[new], known[new])
        )
        return best_unit(gains / self.view.units.ratio_prices(known), allowed)

    def _gains(
        self, inputs: NDArray[np.float32], values: NDArray[np.float32], known: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        from bench_neural.kernels import dense
        from bench_neural.kernels_ahead import information

        of_value = self.view.unit_of_value
        (entry, bias), (middle, middle_bias), (last, last_bias) = self.predictor.layers
        imputed = self.imputer.impute(values, np.ascontiguousarray(known[:, of_value]))
        columns = len(self.view.mean)  # flags of missing values are never imputed
        return information(
            dense(inputs, entry, bias, False), np.ascontiguousarray(imputed[:, :, :columns]), known, of_value,
            entry, middle, middle_bias, last, last_bias,
        )  # fmt: skip
