"""Scores of a split: its information gain, alone or relative to the price of its test.

| criterion | score | source |
|---|---|---|
| ``gain`` | ΔI | Quinlan 1986 |
| ``gain-ratio`` | ΔI / split information, where ΔI is at least the mean of the positive ΔI | Quinlan 1993, §2.2 |
| ``eg2`` | (2^ΔI − 1) / (C + 1)^ω | Núñez 1991; Turney 1995, Eq. 3 |
| ``idx`` | ΔI / C | Norton 1989; Turney 1995, Eq. 5 |
| ``cs-id3`` | ΔI² / C | Tan and Schlimmer 1990; Turney 1995, Eq. 4 |

ΔI is the information gain in bits, C the price of the test. The last two scores are infinite where C is 0: a free test
with a positive gain precedes all priced ones; among free tests the most informative one is first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOOR", "Criterion", "CriterionName", "choose", "entropy_sums", "numerator", "two_to_the_less_one"]

CriterionName = Literal["gain", "gain-ratio", "eg2", "idx", "cs-id3"]

FLOOR = 1e-6
"""Least gain of a split, in bits times rows; smaller gains are rounding errors."""

_TERMS = 24


@dataclass(frozen=True)
class Criterion:
    """A rule for choosing among tests.

    Attributes:
        name: a criterion of the module's table.
        omega: exponent ω of EG2, in [0, 1]: 0 ignores prices, 1 gives them the greatest weight.
    """

    name: CriterionName
    omega: float = 1.0

    def divisors(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divisors of the scores at these prices: 1, C, or (C + 1)^ω; float64, of the prices' shape."""
        if self.name == "eg2":
            return np.array([(price + 1.0) ** self.omega for price in prices.tolist()], dtype=np.float64)
        if self.name in ("idx", "cs-id3"):
            return np.asarray(prices, dtype=np.float64)
        return np.ones(prices.shape)


def two_to_the_less_one(gain: float) -> float:
    """2^gain − 1 for a gain of at most 1 bit, by its series, so that the result is the same on every machine."""
    step, total = gain * math.log(2.0), 0.0
    for k in range(_TERMS, 0, -1):
        total = step / k * (1.0 + total)
    return total


def numerator(name: CriterionName, gain: float) -> float:
    """Numerator of a criterion's score: ΔI, ΔI², or 2^ΔI − 1."""
    if name == "eg2":
        return two_to_the_less_one(gain)
    return gain * gain if name == "cs-id3" else gain


def choose(
    name: CriterionName, gains: NDArray[np.float64], information: NDArray[np.float64], divisors: NDArray[np.float64]
) -> int:
    """Column of the best test; −1 if there is none. Ties go to the greater gain, then to the earlier column.

    Args:
        name: the criterion's name.
        gains: float64 (columns,): ΔI in bits; 0 where a column has no split.
        information: float64 (columns,): split information in bits.
        divisors: float64 (columns,), from `Criterion.divisors`; a column with an infinite divisor is never chosen.
    """
    gains, least = np.where(np.isinf(divisors), 0.0, gains), 0.0
    if name == "gain-ratio" and (gains > 0).any():
        total = 0.0
        for gain in gains[gains > 0].tolist():
            total += gain
        least = total / int((gains > 0).sum()) * (1.0 - 1e-9)
    chosen, best = -1, (0.0, 0.0)
    for column, gain in enumerate(gains.tolist()):
        if gain <= 0 or gain < least:
            continue
        if name == "gain-ratio":
            score = gain / information[column]
        elif divisors[column] > 0:
            score = numerator(name, gain) / float(divisors[column])
        else:
            score = math.inf
        if score > 0 and (score, gain) > best:
            chosen, best = column, (score, gain)
    return chosen


def entropy_sums(rows: int) -> NDArray[np.float64]:
    """n log2 n for n = 0 … rows, rounded to a grid on which their sums are exact; float64 (rows + 1,).

    With the table T, n times the entropy of counts is ``T[n] − Σ T[count]``. Because sums are exact, their order does
    not matter, and equally good splits tie on every machine.

    Source: the identity n H = n log2 n − Σ nᵢ log2 nᵢ.
    """
    exact = np.array([n * math.log2(n) if n else 0.0 for n in range(rows + 1)])
    grid = 2.0 ** (48 - math.frexp(float(exact[-1]) + 1.0)[1])
    return np.asarray(np.round(exact * grid) / grid)
