"""Items of several sizes, with prices that grow with them (PolyDom, "Simulation")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from bench_core import Costs, DataContext, Dataset, DataSource
from bench_synthetic.draws import Draws
from bench_synthetic.families import MakeClassification, classification

__all__ = ["SizedItems"]


@dataclass(frozen=True)
class SizedItems(DataSource):
    """Two classes, items of size 1..500, each feature priced by a random polynomial of the size (PolyDom, Simulation).

    The price of a feature for an item of size n is a_0 + a_1·n + a_2·n² with a_0 ~ U[0, 100], a_1 ~ U[0, 1] and
    a_2 ~ U[0, 0.001]. The prices come with the data (cost scheme ``from-data``). The paper simulates accuracies
    only; the table behind them is ours (``make-classification``), and sizes say nothing of the class.

    Attributes:
        rows: number of items.
        features: number of features, 1 to 15 in the paper.
        helpful: share of features that tell the classes apart (the paper's p); at least one does.
        smallest, largest: item sizes are whole numbers, uniform between these.
        class_sep: how far apart the classes are.
        seed: of the table, the sizes and the prices.
    """

    version: ClassVar[int] = 2
    rows: Annotated[int, Ge(2)] = 1000
    features: Annotated[int, Ge(1)] = 12
    helpful: Annotated[float, Interval(ge=0, le=1)] = 0.5
    smallest: Annotated[int, Ge(0)] = 1
    largest: int = 500
    class_sep: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smallest > self.largest:
            raise ValueError(f"smallest must not be above largest, {self.largest}, not {self.smallest}")

    def load(self, context: DataContext) -> Dataset:
        informative = max(1, round(self.helpful * self.features))
        table = MakeClassification(
            rows=self.rows,
            features=self.features,
            informative=informative,
            redundant=0,
            clusters_per_class=1 if informative == 1 else 2,
            class_sep=self.class_sep,
            seed=self.seed,
        )
        # Sources of their own: prices do not depend on the number of rows.
        sizes, prices = Draws(self.seed, 0x517E, 0), Draws(self.seed, 0x517E, 1)
        polynomials = prices.uniform(self.features, 3) * np.array([100.0, 1.0, 0.001])
        return replace(
            classification("sized-items", 2, *table.draw()),
            sizes=sizes.whole(self.smallest, self.largest, self.rows).astype(np.float64),
            costs=Costs(polynomials),
            provenance={"source": "generated; PolyDom, Simulation", "licence": "none needed"},
        )
