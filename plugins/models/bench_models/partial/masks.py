"""Masks (which features are known) and candidate sets of features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Candidates", "hidden", "random_masks"]


def hidden(
    X: NDArray[np.float64], known: NDArray[np.bool_], feature_of_column: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return a copy of X with NaN in the columns of unknown features.

    Args:
        X: float64 (rows, columns).
        known: bool (rows, features).
        feature_of_column: int64 (columns,).

    Returns:
        float64 (rows, columns).
    """
    return np.where(known[:, feature_of_column], X, np.nan)


def random_masks(rng: np.random.Generator, rows: int, unit_of_feature: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Draw masks of known features: the number of known units is uniform from 0 to all, and so is the choice of units.

    The masks are computed from the raw words of the bit generator, because their stream never changes.

    Args:
        rng: its bit generator is used.
        rows: number of masks.
        unit_of_feature: int64 (features,): features of one unit are known together.

    Returns:
        bool (rows, features).
    """
    units = int(unit_of_feature.max(initial=-1)) + 1
    words = rng.bit_generator.random_raw
    wanted = (words(max(rows, 1))[:rows] % np.uint64(units + 1)).astype(np.int64)
    ranks = np.argsort(np.argsort(words(max(rows * units, 1))[: rows * units].reshape(rows, units), axis=1), axis=1)
    return np.asarray((ranks < wanted[:, None])[:, unit_of_feature])


@dataclass(frozen=True, eq=False)
class Candidates:
    """Sets of features.

    Attributes:
        member: bool (sets, features).
    """

    member: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.member)

    @cached_property
    def bits(self) -> NDArray[np.uint64]:
        """Which sets hold a feature, as bits: uint64 (features, words); set s is bit ``s % 64`` of word ``s // 64``."""
        words = max(1, -(-len(self.member) // 64))
        padded = np.zeros((self.member.shape[1], words * 64), dtype=np.uint8)
        padded[:, : len(self.member)] = self.member.T
        packed = np.packbits(padded, axis=1, bitorder="little")
        return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)
