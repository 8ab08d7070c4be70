"""Random words and means with the same bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_of", "words"]

Numbers = NDArray[np.float64]


def words(count: int, *key: int) -> NDArray[np.uint64]:
    """Random words of 53 bits, the same on every machine; uint64 (count,).

    Args:
        count: number of words.
        key: integers that seed the generator.
    """
    return np.asarray(np.random.PCG64(np.random.SeedSequence(key)).random_raw(count), dtype=np.uint64) >> np.uint64(11)


def mean_of(values: Numbers) -> float:
    """Mean of the finite values, NaN where there is none."""
    known = values[np.isfinite(values)]
    return float(np.add.accumulate(known)[-1]) / len(known) if len(known) else float("nan")
