"""The main question: where is choosing features row by row better than the best fixed subset, and by how much?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_comparison.draws import Table, draws_of, without_spread
from bench_comparison.findings import FEW
from bench_comparison.layout import Layout
from bench_comparison.losses import intervals, outcomes, plain
from bench_comparison.scale import Measured
from bench_comparison.schema import PRICES
from bench_comparison.sensitivity import most_influential

__all__ = ["row_by_row", "with_prices"]

Numbers = NDArray[np.float64]


_GROUPS: tuple[tuple[str, Callable[[Measured], bool]], ...] = (
    ("two classes", lambda cell: cell.facts["classes"] == 2),
    ("more than two classes", lambda cell: cell.facts["classes"] == 3),
    ("up to 20 features", lambda cell: cell.facts["features"] <= 20),
    ("more than 20 features", lambda cell: cell.facts["features"] > 20),
    ("up to 1,000 rows", lambda cell: cell.facts["rows"] <= 1000),
    ("more than 1,000 rows", lambda cell: cell.facts["rows"] > 1000),
)
"""Groups of data sets for each of which the question is also answered."""


def row_by_row(
    cells: Sequence[Measured], drawn: Sequence[Numbers], layout: Layout, budgets: Sequence[float]
) -> list[dict[str, Any]]:
    """Quality of dynamic acquisition minus that of the best fixed subset, at each budget.

    Groups of fewer than `FEW` independent data sets are left out: their intervals say nothing.
    """
    dynamic = len(layout.methods) + len(layout.algorithms) + len(layout.kinds)
    gaps = [values[:, [dynamic]] - values[:, [dynamic + 1]] for values in drawn]
    known = [i for i, gap in enumerate(gaps) if not np.isnan(gap).any()]
    if not known:
        return []
    found = []
    for b, budget in enumerate(budgets):
        by_dataset: dict[str, list[float]] = {}
        for i in known:
            by_dataset.setdefault(cells[i].dataset, []).append(float(gaps[i][0, 0, b]))
        rows = [{"name": name, "difference": plain(sum(v) / len(v))} for name, v in by_dataset.items()]
        groups = []
        for title, belongs in _GROUPS:
            mine = [i for i in known if belongs(cells[i])]
            if len(mine) < len(known) and len({cells[i].family for i in mine}) >= FEW:
                groups.append({"title": title, **_gap(cells, gaps, mine, b)})
        found.append({"budget": budget, **_gap(cells, gaps, known, b), "datasets": rows, "groups": groups})
    return found


def with_prices(steps: Sequence[Mapping[str, Any]], views: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answer for all prices, with those for each kind of prices as further groups.

    Args:
        steps: from `row_by_row`, for all prices.
        views: those of a kind of prices, with their ``prices families dynamic``.
    """
    kinds = [view for view in views if view["families"] >= FEW and view["dynamic"]]
    return [
        {**step, "groups": [*step["groups"], *(_as_group(view, place) for view in kinds)]}
        for place, step in enumerate(steps)
    ]


def _as_group(view: Mapping[str, Any], place: int) -> dict[str, Any]:
    rest = {key: value for key, value in view["dynamic"][place].items() if key not in ("budget", "datasets", "groups")}
    return {"title": PRICES[view["prices"]], **rest}


def _gap(cells: Sequence[Measured], gaps: Sequence[Numbers], mine: Sequence[int], b: int) -> dict[str, Any]:
    families, datasets = [cells[i].family for i in mine], [cells[i].dataset for i in mine]
    splits = [len(cells[i].seeds) for i in mine]

    def table(values: Sequence[Numbers]) -> Table:
        return Table.of(values, families, datasets, 1)

    def drawn(values: Table) -> Numbers:
        return np.asarray(without_spread(draws_of(values), families, splits)[:, 0, 0])

    gained = table([gaps[i][:, :, [b]] for i in mine])
    quality = drawn(gained)
    points = drawn(table([cells[i].points * gaps[i][:, :, [b]] for i in mine]))
    better, equal, worse = outcomes(points[1:])
    return {
        "families": len(set(families)),
        "difference": intervals(quality[:, None])[0],
        "better": plain(better),
        "equal": plain(equal),
        "worse": plain(worse),
        "ahead": None if np.isnan(quality).any() else plain(float((quality[1:] > 0).mean())),
        "without": _without(gained, float(quality[0])),
    }


def _without(table: Table, mean: float) -> dict[str, Any] | None:
    """The family that changes the mean most, and the mean without it; None if there is only one family."""
    number = len(table.values)
    if number < 2:
        return None
    rest = {name: (number * mean - float(values[0, 0, 0])) / (number - 1) for name, values in table.values.items()}
    family = most_influential(mean, rest)
    return {"family": family, "difference": plain(rest[family])}
