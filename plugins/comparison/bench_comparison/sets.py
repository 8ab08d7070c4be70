"""Each data set on the one scale, as plain data: ``scale.json``. It can be plotted for any choice of data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from bench_comparison.findings import FEW
from bench_comparison.layout import Layout
from bench_comparison.losses import plain
from bench_comparison.scale import Measured
from bench_comparison.schema import Prices
from bench_comparison.units import picked, stacked

__all__ = ["sets_of", "unit_values"]

Numbers = NDArray[np.float64]


def unit_values(cells: Sequence[Measured], layout: Layout) -> list[Numbers]:
    """Methods, algorithms and kinds on data sets; float64 (methods + units, splits, budgets) of each cell.

    The two ways to choose features are represented by the best methods for a cell's kind of prices, if at least `FEW`
    families have prices of this kind. So the comparison over all prices is the mean of those for each kind.

    Args:
        cells: of one task, all with a clear reference.
        layout: of the suite's methods.
    """
    if not cells:
        return []
    values = _with_units(cells, layout)
    ways = -len(layout.ways)
    for prices in get_args(Prices):
        mine = [i for i, cell in enumerate(cells) if cell.prices == prices]
        if len(mine) < len(cells) and len({cells[i].family for i in mine}) >= FEW:
            for i, own in zip(mine, _with_units([cells[i] for i in mine], layout), strict=True):
                values[i][ways:] = own[ways:]
    return values


def _with_units(cells: Sequence[Measured], layout: Layout) -> list[Numbers]:
    """The cells with the layout's units, each represented by members chosen on these cells."""
    families, datasets = [c.family for c in cells], [c.dataset for c in cells]
    others = picked([c.quality.sum(axis=1) / len(c.seeds) for c in cells], families, datasets)
    return stacked([c.quality for c in cells], families, others, layout.units)


def sets_of(cells: Sequence[Measured], values: Sequence[Numbers], layout: Layout) -> list[dict[str, Any]]:
    """Each data set with one cost scheme: what it is, and the mean quality over splits of methods and kinds.

    Args:
        cells: of one task.
        values: from `unit_values`.
        layout: of the suite's methods.

    Returns:
        For each cell ``dataset costs prices task family features rows classes splits``; ``methods`` and ``kinds``: for
        each of them, in the layout's order, a list over the budgets, or None if it is missing there.
    """
    start = len(layout.methods) + len(layout.algorithms)
    found = []
    for cell, value in zip(cells, values, strict=True):
        splits = len(cell.seeds)
        total = np.zeros((value.shape[0], value.shape[2]))
        for split in range(splits):  # one after another: the same sum on every machine
            total += value[:, split] / splits
        shown = [None if np.isnan(row).any() else [plain(q) for q in row.tolist()] for row in total]
        found.append(
            {
                "dataset": cell.dataset,
                "costs": cell.costs,
                "prices": cell.prices,
                "task": cell.task,
                "family": cell.family,
                "splits": splits,
                **cell.facts,
                "methods": shown[: len(layout.methods)],
                "kinds": shown[start : start + len(layout.kinds)],
            }
        )
    return found
