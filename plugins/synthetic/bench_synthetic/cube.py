"""CUBE and CUBE-NM: three bits of the label are hidden in a row of features; a context may show where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bench_core import Costs, DataContext, Dataset, DataSource
from bench_synthetic.draws import Draws, Table, on_grid
from bench_synthetic.families import classification

__all__ = ["Cube", "CubeNM"]

_CLASSES, _BLOCK, _CONTEXTS = 8, 10, 5
_MIDDLE, _WIDE, _CONTEXT_NOISE = 0.5, 0.3, 0.1
"""Mean and standard deviation of an uninformative feature; standard deviation of the context's noise."""


@dataclass(frozen=True)
class Cube(DataSource):
    """CUBE: 20 features, 8 classes; three neighbouring features, whose position depends on the label, hold its bits.

    Labels are uniform. Features ``f1`` to ``f20`` are N(0.5, 0.3²), except that positions label to label + 2 (from 0)
    hold the three bits of the label, least significant first, plus N(0, ``noise``²). Values are multiples of 2⁻³⁰.

    Source: Schütz, Aronsson et al. 2025, AFABench, §4, after ODIN.

    Attributes:
        rows: number of rows.
        noise: standard deviation of a feature that holds a bit, around that bit; 0.1 in the article, 0.3 in the files
            that AFABench's program generates.
        seed: seed of the random numbers.
    """

    version: ClassVar[int] = 1
    rows: Annotated[int, Ge(_CLASSES)] = 1000
    noise: Annotated[float, Ge(0)] = 0.1
    seed: int = 0

    def load(self, context: DataContext) -> Dataset:
        draws = Draws(self.seed, 0xC0BE)
        label = draws.integers(0, _CLASSES - 1, self.rows)
        X = _MIDDLE + _WIDE * draws.normal(self.rows, 2 * _BLOCK)
        _hide(X, label, np.zeros(self.rows, dtype=np.int64), self.noise * draws.normal(self.rows, 3))
        dataset = classification("cube", _CLASSES, on_grid(X), label)
        return replace(dataset, provenance={**dataset.provenance, "source": "generated; CUBE, AFABench §4"})


@dataclass(frozen=True)
class CubeNM(DataSource):
    """CUBE-NM: a context shows which of five blocks of ten features holds the bits; it has no value on its own.

    The context is uniform. Its features ``context1`` to ``context5``, its indicators plus N(0, 0.1²), are one group of
    price 1, bought together. Five blocks of ten features follow (``f1`` to ``f50``), each feature of price 1. They are
    N(0.5, 0.3²), except in the block of the context: there, the positions label, label + 1 and label + 2 modulo 10 hold
    the bits of the label, least significant first, plus N(0, ``noise``²). Prices come with the data (cost scheme
    ``from-data``). The context has no value as the first purchase; once a feature of a block is known, it has.

    Source: Schütz, Aronsson et al. 2025, AFABench, §4.

    Attributes:
        rows: number of rows.
        noise: as for `Cube`.
        seed: seed of the random numbers.
    """

    version: ClassVar[int] = 1
    rows: Annotated[int, Ge(_CLASSES)] = 1000
    noise: Annotated[float, Ge(0)] = 0.1
    seed: int = 0

    def load(self, context: DataContext) -> Dataset:
        draws = Draws(self.seed, 0xC0BE, 1)
        label = draws.integers(0, _CLASSES - 1, self.rows)
        where = draws.integers(0, _CONTEXTS - 1, self.rows)
        shown = (where[:, None] == np.arange(_CONTEXTS)) + _CONTEXT_NOISE * draws.normal(self.rows, _CONTEXTS)
        X = _MIDDLE + _WIDE * draws.normal(self.rows, _CONTEXTS * _BLOCK)
        _hide(X, label, where, self.noise * draws.normal(self.rows, 3))
        groups = np.concatenate([np.zeros(_CONTEXTS), np.full(_CONTEXTS * _BLOCK, -1)]).astype(np.int64)
        dataset = classification("cube-nm", _CLASSES, on_grid(np.hstack([shown, X])), label)
        return replace(
            dataset,
            feature_names=(
                *(f"context{i + 1}" for i in range(_CONTEXTS)), *(f"f{i + 1}" for i in range(_CONTEXTS * _BLOCK)),
            ),
            costs=Costs((groups < 0).astype(np.float64), groups, np.ones(1)),
            provenance={**dataset.provenance, "source": "generated; CUBE-NM, AFABench §4"},
        )  # fmt: skip


def _hide(X: Table, label: NDArray[np.int64], block: NDArray[np.int64], noise: Table) -> None:
    """Write each label's bits plus noise, float64 (rows, 3), to a block of X, float64 (rows, features)."""
    rows = np.arange(len(X))
    for bit in range(3):
        X[rows, _BLOCK * block + (label + bit) % _BLOCK] = (label >> bit & 1) + noise[:, bit]
