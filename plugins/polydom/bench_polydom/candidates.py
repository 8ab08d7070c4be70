"""Candidates: models with features, accuracy and cost curve, and their pruning (PolyDom, Properties 3.6, 3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_polydom.polynomials import never_below

__all__ = ["Candidates", "features_of", "mask_of", "prune", "set_curves"]


def features_of(mask: int) -> tuple[int, ...]:
    """The features of a set given as a bit mask, in ascending order."""
    features = []
    while mask:
        lowest = mask & -mask
        features.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(features)


def mask_of(features: Iterable[int]) -> int:
    """A set of features as a bit mask."""
    mask = 0
    for feature in features:
        mask |= 1 << int(feature)
    return mask


def set_curves(masks: NDArray[np.int64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost curves of sets: coefficients of C(S, n) = Σ_{f∈S} t(f, n).

    Args:
        masks: int64 (sets,), bit i is feature i.
        prices: float64 (features, degree + 1), lowest power first.

    Returns:
        float64 (sets, degree + 1), summed in the order of the features.
    """
    curves = np.zeros((len(masks), prices.shape[1]))
    for feature, price in enumerate(prices):
        curves[(masks >> feature) & 1 == 1] += price
    return curves


@dataclass(frozen=True, eq=False)
class Candidates:
    """The models that an index chooses from.

    Attributes:
        masks: int64 (m,): features of each model, bit i is feature i.
        accuracy: float64 (m,): accuracies, finite.
        curves: float64 (m, degree + 1): cost as a polynomial of the item's size, with coefficients ≥ 0.

    Raises:
        ValueError: lengths differ, an accuracy is not finite, or a coefficient is negative or not finite.
    """

    masks: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    curves: NDArray[np.float64]

    def __post_init__(self) -> None:
        masks = np.asarray(self.masks, dtype=np.int64)
        accuracy = np.asarray(self.accuracy, dtype=np.float64)
        curves = np.asarray(self.curves, dtype=np.float64)
        if masks.ndim != 1 or accuracy.shape != masks.shape or curves.ndim != 2 or len(curves) != len(masks):
            raise ValueError(
                f"candidates need as many accuracies and curves as sets: {masks.shape}, {accuracy.shape}, "
                f"{curves.shape}"
            )
        if not np.isfinite(accuracy).all():
            raise ValueError("accuracies of candidates must be finite")
        if not (np.isfinite(curves) & (curves >= 0)).all():
            raise ValueError("cost curves need finite coefficients that are not negative")
        for name, value in (("masks", masks), ("accuracy", accuracy), ("curves", curves)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.masks)

    def take(self, chosen: NDArray[Any]) -> Candidates:
        """Some of the candidates, selected by index or by boolean array."""
        return Candidates(self.masks[chosen], self.accuracy[chosen], self.curves[chosen])


def prune(expanded: Candidates) -> Candidates:
    """Drop models that another model dominates at every size: at least as accurate and never more expensive.

    Subset pruning (Property 3.6) is the special case in which the other model's features are a subset; polynomial
    dominance (Property 3.7) is the general case. Of models equal in accuracy and cost, the one with fewer features
    stays, then the one with the lower mask. No tolerance is used (α applies to the lattice search only), so the best
    model for every size and budget remains.

    Returns:
        The remaining candidates, by descending accuracy.
    """
    sizes = np.array([int(mask).bit_count() for mask in expanded.masks], dtype=np.int64)
    order = np.lexsort((expanded.masks, sizes, expanded.curves.sum(axis=1), -expanded.accuracy))
    ordered = expanded.take(order)
    # Of equally accurate models, the cheaper at size 1 comes first: only it can dominate the other at all sizes.
    survivors: list[int] = []
    curves = np.empty_like(ordered.curves)
    for i in range(len(ordered)):
        if survivors and bool(never_below(ordered.curves[i] - curves[: len(survivors)]).any()):
            continue
        curves[len(survivors)] = ordered.curves[i]
        survivors.append(i)
    return ordered.take(np.array(survivors, dtype=np.int64))
