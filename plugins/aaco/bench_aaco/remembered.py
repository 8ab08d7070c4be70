"""Losses that are computed once: policies of several λ and rows with equal known features ask for the same ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench_aaco.candidates import distinct_sets

__all__ = ["MEMORY", "RememberedLosses"]

MEMORY, _ENTRY = 2**24, 16
"""What may be kept, 128 MiB, and the size of a pair in the index, both in numbers of 8 bytes."""


class RememberedLosses:
    """Losses of references under candidate sets, by reference and known features.

    The first losses are kept, up to a maximum; later ones are computed again. Early losses are asked for most often,
    because rows differ in what they know only after a few purchases.

    Args:
        references: number of references.
        width: number of losses of a reference with given known features.
        most: maximum number of pairs of a reference and known features that are kept; by default, as many as fit in
            128 MiB.
    """

    def __init__(self, references: int, width: int, most: int | None = None) -> None:
        self._references, self._capacity = references, MEMORY // (width + _ENTRY) if most is None else most
        self._number: dict[bytes, int] = {}
        self._masks = 0
        self._place: dict[int, int] = {}
        """Reference and mask as one number → row of the table."""
        self._table = np.empty((0, width))

    def __len__(self) -> int:
        return len(self._place)

    def of(
        self,
        near: NDArray[np.int64],
        known: NDArray[np.bool_],
        compute: Callable[[NDArray[np.int64], NDArray[np.bool_]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the losses of references for rows: float64 (rows, k, width).

        Args:
            near: int64 (rows, k): references of each row.
            known: bool (rows, features): what each row knows.
            compute: losses, float64 (n, width), of references, int64 (n,), with known features, bool (n, features).
                They may depend on nothing else.
        """
        masks, mask = distinct_sets(known)
        numbers = np.array([self._number_of(packed.tobytes()) for packed in np.packbits(masks, axis=1)], dtype=np.int64)
        distinct, place = np.unique(near + self._references * numbers[mask][:, None], return_inverse=True)
        at = np.array([self._place.get(pair, -1) for pair in distinct.tolist()], dtype=np.int64)
        kept = at >= 0
        losses = np.empty((len(distinct), self._table.shape[1]))
        losses[kept] = self._table[at[kept]]
        if not kept.all():
            new, order = distinct[~kept], np.argsort(numbers)
            which = order[np.searchsorted(numbers, new // self._references, sorter=order)]
            losses[~kept] = compute(new % self._references, masks[which])
            if len(self) < self._capacity:
                self._keep(new, losses[~kept])
        return np.asarray(losses[place.reshape(near.shape)])

    def _number_of(self, mask: bytes) -> int:
        number = self._number.get(mask, self._masks)
        if number == self._masks:
            self._masks += 1
            if len(self) < self._capacity:
                self._number[mask] = number
        return number

    def _keep(self, pairs: NDArray[np.int64], losses: NDArray[np.float64]) -> None:
        used = len(self)
        end = min(used + len(pairs), self._capacity)
        if end > len(self._table):
            larger = np.empty((min(max(2 * used, end), self._capacity), self._table.shape[1]))
            larger[:used] = self._table[:used]
            self._table = larger
        self._table[used:end] = losses[: end - used]
        self._place.update(zip(pairs[: end - used].tolist(), range(used, end), strict=True))
