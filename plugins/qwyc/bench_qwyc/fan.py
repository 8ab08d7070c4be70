"""The stopping rule of Fan et al. (QWYC App. C): thresholds for every bin of partial scores.

After r base models an example with partial score g_r falls into bin floor(g_r / λ). μ and σ are the mean and the
(population) standard deviation of g_r − f, the distance from the full score, over the bin's training examples. The
example stops as positive if g_r > β + μ + γσ, and as negative if g_r < β + μ − γσ. An example whose bin has no
training example is evaluated in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_qwyc.checks import checked_order, checked_scores

__all__ = ["Bins", "make_bins"]


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of every position but the last, where the full score decides.

    Attributes:
        order: int64 (T,): base models in the order they are run.
        width: width λ of the bins.
        first: int64 (T,): bins of position r are ``number[first[r]:first[r + 1]]``.
        number: float64 (bins,): integers floor(g / λ), ascending in each position.
        mean: float64 (bins,): μ of each bin.
        spread: float64 (bins,): σ of each bin.
    """

    order: NDArray[np.int64]
    width: float
    first: NDArray[np.int64]
    number: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @property
    def mean_bins(self) -> float:
        """Mean number of bins per position."""
        return len(self.number) / max(len(self.first) - 1, 1)


def make_bins(scores: NDArray[Any], order: Any, width: float, bias: float = 0.0) -> Bins:
    """Compute the bins from training scores.

    Args:
        scores: (T, N): base scores; sums are computed in their type.
        order: base models in the order they are run.
        width: width λ of the bins, above 0.
        bias: start of the sums.

    Raises:
        ValueError: scores or order are malformed, or λ is not above 0 or too small for float64 bin numbers.
    """
    if not 0 < width < np.inf:
        raise ValueError(f"the width of a bin must be above 0 and finite, not {width}")
    scores = checked_scores(scores, bias)
    chosen = checked_order(order, len(scores))
    full = np.full(scores.shape[1], bias, dtype=scores.dtype)
    for row in scores:
        full += row
    g = np.full(scores.shape[1], bias, dtype=scores.dtype)
    first, numbers, means, spreads = [0], [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for model in chosen[:-1]:
        g += scores[model]
        place = np.floor(g.astype(np.float64) / width)
        if np.abs(place).max() > 2.0**53:
            raise ValueError(f"bins of width {width} are too narrow for scores up to {np.abs(g).max()}")
        number, which = _numbered(place)
        away = g.astype(np.float64) - full.astype(np.float64)
        count = np.bincount(which)
        mean = np.bincount(which, away) / count
        spread = np.sqrt(np.bincount(which, np.square(away - mean[which])) / count)
        first.append(first[-1] + len(number))
        numbers.append(number)
        means.append(mean)
        spreads.append(spread)
    return Bins(
        chosen,
        float(width),
        np.array(first, dtype=np.int64),
        np.concatenate(numbers),
        np.concatenate(means),
        np.concatenate(spreads),
    )


def _numbered(place: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct bin numbers, ascending, and the index of each value among them; does not sort if numbers are dense."""
    least, most = place.min(), place.max()
    if most - least > 4 * len(place) + 1000:
        number, which = np.unique(place, return_inverse=True)
        return number, which
    offset = (place - least).astype(np.int64)
    there = np.zeros(int(most - least) + 1, dtype=bool)
    there[offset] = True
    return np.flatnonzero(there) + least, (np.cumsum(there) - 1)[offset]
