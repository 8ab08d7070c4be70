"""Losses that are computed once: policies of several λ and rows with equal known features ask for the same ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench_aaco.candidates import distinct_sets

__all__ = ["MEMORY", "RememberedLosses"]

MEMORY, _ENTRY = 2**24, 32
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
        self._place: dict[tuple[bytes, int], int] = {}
        """Known features, as bits, and reference → row of the table."""
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
        pairs, place = np.unique(near + self._references * mask[:, None], return_inverse=True)
        which, references = np.divmod(pairs, self._references)
        bits = [packed.tobytes() for packed in np.packbits(masks, axis=1)]
        keys = [(bits[number], row) for number, row in zip(which.tolist(), references.tolist(), strict=True)]
        at = np.array([self._place.get(key, -1) for key in keys], dtype=np.int64)
        kept = at >= 0
        losses = np.empty((len(pairs), self._table.shape[1]))
        losses[kept] = self._table[at[kept]]
        if not kept.all():
            losses[~kept] = compute(references[~kept], masks[which[~kept]])
            self._keep([keys[number] for number in np.flatnonzero(~kept)], losses[~kept])
        return np.asarray(losses[place.reshape(near.shape)])

    def _keep(self, keys: list[tuple[bytes, int]], losses: NDArray[np.float64]) -> None:
        used = len(self)
        end = min(used + len(keys), self._capacity)
        if end > len(self._table):
            larger = np.empty((min(max(2 * used, end), self._capacity), self._table.shape[1]))
            larger[:used] = self._table[:used]
            self._table = larger
        self._table[used:end] = losses[: end - used]
        self._place.update(zip(keys[: end - used], range(used, end), strict=True))
