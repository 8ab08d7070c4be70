"""Learning to rank with a known partition of the input space, with and without CSTC's premise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from bench_core import Costs, DataContext, Dataset, DataSource
from bench_synthetic.draws import Draws, Table

__all__ = ["GRADE_SHARES", "PRICE_COUNTS", "RankingRegions"]

PRICE_COUNTS: dict[int, int] = {1: 123, 5: 31, 20: 191, 50: 125, 100: 16, 150: 32, 200: 1}
"""Number of Yahoo's 519 features by price (CSTC Fig. 8)."""

GRADE_SHARES: tuple[float, ...] = (0.26, 0.36, 0.28, 0.08, 0.02)
"""Shares of the grades 0 to 4, chosen so that few documents have the best grade, as in web search."""

_CHAIN = (50, 150)
_BITS = 1


@dataclass(frozen=True)
class RankingRegions(DataSource):
    """Documents of several regions: cheap features identify the region, which determines the relevant expensive ones.

    A document is in one of 2**depth regions. ``depth`` features of price 1 are the bits of the region's number, as −1
    and 1. The relevance is the region's number, plus ``local`` times the sum of two expensive features (one of price
    50, one of 150), plus noise; the grades 0 to 4 are quantiles of the relevance. All other features are noise.

    - ``premise = "regions"``: region r uses the expensive features r and r + 1 of 2**depth + 1. Regions with
      neighbouring numbers share a feature, others do not: "similarly-labeled inputs can be classified using similar
      features" (CSTC §6.8), and different ones using different features. A document costs ``depth`` + 200 with the
      features of its region, and about 2**depth · 100 with those of all regions.
    - ``premise = "shared"``: all regions use the expensive features 0 and 1, so a partition has no advantage.

    Features are multiples of 2⁻¹⁵, uniform on [−1, 1). Prices have the proportions of Yahoo's 519 features
    (`PRICE_COUNTS`); they are the data set's own (cost scheme ``from-data``). The bits are the first features, then the
    expensive ones of the regions, then all others by price.

    Attributes:
        documents: number of rows.
        per_query: number of documents of a query; the last query may have fewer.
        features: number of features, at least those of the partition.
        depth: levels of the partition, 1 to 5.
        premise: ``regions`` or ``shared``, see above.
        local: weight of the expensive features, whose contribution has the standard deviation ``local`` · 0.82.
        noise: largest absolute value of the uniform noise on the relevance.
        seed: seed of the random numbers.
    """

    version: ClassVar[int] = 1
    documents: Annotated[int, Ge(50)] = 4000
    per_query: Annotated[int, Ge(2)] = 25
    features: int = 500
    depth: Annotated[int, Interval(ge=1, le=5)] = 3
    premise: Literal["regions", "shared"] = "regions"
    local: Annotated[float, Ge(0)] = 1.5
    noise: Annotated[float, Ge(0)] = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.per_query > self.documents:
            raise ValueError(f"per_query must not be above documents, {self.documents}, not {self.per_query}")
        needed = self.depth + 2**self.depth + 1
        if self.features < needed:
            raise ValueError(f"features must be at least {needed} for depth {self.depth}, not {self.features}")

    def load(self, context: DataContext) -> Dataset:
        names, prices = self._features()
        n, chain = self.documents, 2**self.depth + 1
        region = Draws(self.seed, 0x4A4B, 0).integers(0, 2**self.depth - 1, n)
        values = np.empty((n, self.features))
        for bit in range(self.depth):
            values[:, bit] = np.where(region >> (self.depth - 1 - bit) & 1, 1.0, -1.0)
        # Every column has a source of its own, and a word gives four values.
        for column in range(self.depth, self.features):
            values[:, column] = _uniform(Draws(self.seed, 0x4A4B, 1, column), n)
        expensive = values[:, self.depth : self.depth + chain]
        first = region if self.premise == "regions" else np.zeros(n, dtype=np.int64)
        rows = np.arange(n)
        relevance = region + self.local * (expensive[rows, first] + expensive[rows, first + 1])
        relevance = relevance + self.noise * _uniform(Draws(self.seed, 0x4A4B, 2), n)
        return Dataset(
            name="ranking-regions",
            task="ranking",
            values=values,
            feature_names=names,
            target=_grades(relevance),
            query=rows // self.per_query,
            costs=Costs(prices),
            provenance={"source": "generated; prices of Xu et al. 2014, §6.2", "licence": "none needed"},
        )

    def _features(self) -> tuple[tuple[str, ...], Table]:
        """Return the names and prices of the features."""
        chain = [_CHAIN[i % 2] for i in range(2**self.depth + 1)]
        known = [_BITS] * self.depth + chain
        wanted = {price: round(count * self.features / 519) for price, count in PRICE_COUNTS.items()}
        left = {price: max(0, count - known.count(price)) for price, count in wanted.items()}
        others = [price for price, count in left.items() for _ in range(count)][: self.features - len(known)]
        others += [min(PRICE_COUNTS)] * (self.features - len(known) - len(others))
        names = [f"bit{i + 1}" for i in range(self.depth)] + [f"expensive{i}" for i in range(len(chain))]
        names += [f"noise{i + 1}" for i in range(len(others))]
        return tuple(names), np.array(known + others, dtype=np.float64)


def _uniform(draws: Draws, count: int) -> Table:
    """Return uniform variates on [−1, 1), float64 (count,), multiples of 2⁻¹⁵; four per word, lowest bits first."""
    words = draws.words((count + 3) // 4)
    quarters = [(words >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)]
    return (np.stack(quarters, axis=1).ravel()[:count].astype(np.float64) - 32768.0) * 2.0**-15


def _grades(relevance: Table) -> NDArray[np.float64]:
    """Return grades by rank, with the shares of `GRADE_SHARES`, float64 (documents,); ties are ordered by row."""
    order = np.argsort(relevance, kind="stable")
    grades = np.empty(len(relevance))
    start, share = 0, 0.0
    for grade, part in enumerate(GRADE_SHARES):
        share += part
        end = len(relevance) if grade == len(GRADE_SHARES) - 1 else round(share * len(relevance))
        grades[order[start:end]] = grade
        start = end
    return grades
