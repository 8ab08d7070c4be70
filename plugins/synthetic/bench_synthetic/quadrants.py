"""The synthetic regression problem of CSTC §6.1: four quadrants, two cheap features, four expensive ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from bench_core import Costs, DataContext, Dataset, DataSource
from bench_synthetic.draws import Draws, on_grid

__all__ = ["QUADRANTS", "Quadrants"]

QUADRANTS: tuple[tuple[int, int], ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Signs of (x, z), in the order of the expensive features z++, z+-, z-+, z--."""


@dataclass(frozen=True)
class Quadrants(DataSource):
    """Four quadrants: sign(x) and sign(z) cost 1 each and select the feature of price 10 that is the label (CSTC §6.1).

    Points are uniform on [−1, 1]². A label is Gaussian with the mean of its quadrant and variance 1. The expensive
    feature of the point's quadrant equals the label; the other three are random decoys. So the cheapest perfect
    predictor pays 1 + 1 + 10 = 12. The data set has its own prices (cost scheme ``from-data``).

    Choices where the paper gives no details: decoys have the distribution of their feature in its own quadrant
    (``decoys``), since otherwise their values would reveal the quadrant, and the cheap features would not be needed. A
    coordinate of exactly 0 counts as positive. The paper does not give the means, but Figure 5 shows the regression
    weights of the first two levels (without intercept): −9.64 on sign(z), 0.83 and −5.27 on sign(x). The default means
    give −10, 1 and −5; as in the paper, those for negative z are higher. Labels and features are multiples of 2⁻³⁰.

    Attributes:
        rows: number of points.
        noise: standard deviation of the difference between label and expensive feature. The paper's 0 allows a perfect
            prediction; otherwise noise² is the mean squared error of predicting the right feature.
        means: label means of the quadrants ++, +-, -+, -- (signs of x and z).
        decoys: distribution of the decoys: ``alike``: that of the feature in its own quadrant; ``standard``: standard
            normal.
        seed: seed of the random numbers.
    """

    version: ClassVar[int] = 2
    rows: Annotated[int, Ge(4)] = 4000
    noise: Annotated[float, Ge(0)] = 0.0
    means: tuple[float, float, float, float] = (-9.0, 5.0, -11.0, 15.0)
    decoys: Literal["alike", "standard"] = "alike"
    seed: int = 0

    def load(self, context: DataContext) -> Dataset:
        draws = Draws(self.seed, 0xC57C)
        x, z = draws.uniform(2, self.rows) * 2.0 - 1.0
        sign_x, sign_z = np.where(x < 0, -1, 1), np.where(z < 0, -1, 1)
        own = np.stack([(sign_x == a) & (sign_z == b) for a, b in QUADRANTS], axis=1)
        label = on_grid(np.array(self.means)[own.argmax(axis=1)] + draws.normal(self.rows))
        expensive = draws.normal(self.rows, 4)
        if self.decoys == "alike":
            expensive = np.sqrt(1.0 + self.noise * self.noise) * expensive + np.array(self.means)
        expensive[own] = label - self.noise * draws.normal(self.rows)
        expensive = on_grid(expensive)
        return Dataset(
            name="quadrants",
            task="regression",
            values=np.column_stack([expensive, sign_x, sign_z]).astype(np.float64),
            feature_names=("z++", "z+-", "z-+", "z--", "sign_x", "sign_z"),
            target=label,
            costs=Costs(np.array([10.0, 10.0, 10.0, 10.0, 1.0, 1.0])),
            provenance={"source": "generated; Xu et al. 2014, §6.1", "licence": "none needed"},
        )
