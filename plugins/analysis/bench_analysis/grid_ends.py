"""Parameter grids whose end is selected: validation prefers the least or the greatest of the values tried.

A best value inside a grid has worse ones on both sides; beyond an end, better ones may lie. Records show three kinds of
grids: the points of a suite's grid; a parameter that is a list (``lambdas``), whose selected value (``lambda``) is in
the policy's details or the fit's diagnostics; and automatic grids, which differ from fit to fit: such lists in the
diagnostics. A least value of 0 does not count as an end, because such a parameter cannot be less.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench_records import Records

from bench_analysis.cells import Cells

__all__ = ["GridEnd", "grid_ends_of"]

End = Literal["least", "greatest"]
_ENDS: tuple[End, End] = ("least", "greatest")

_FEWEST = 3
"""A grid of fewer values is a list of variants, not a search."""


@dataclass(frozen=True)
class GridEnd:
    """A parameter whose selected value is one end of its grid.

    Attributes:
        method, parameter: their names.
        end: which one.
        grids: the different grids of which it is selected, each ascending; of an automatic grid that of the first seed.
        datasets: the data sets on which it is selected on at least half of the seeds, under one of their prices.
        of: the number of data sets on which the method searches this parameter.
    """

    method: str
    parameter: str
    end: End
    grids: tuple[tuple[float, ...], ...]
    datasets: tuple[str, ...]
    of: int


def grid_ends_of(records: Records, cells: Cells) -> list[GridEnd]:
    """Every parameter of which validation selects an end, see `GridEnd`; by method, the most data sets first."""
    chosen = cells.chosen
    if not len(chosen):
        return []
    searched = _searched(records)
    names, detailed = chosen["name"].tolist(), chosen["details"].tolist()
    on: dict[tuple[str, str], set[str]] = {}
    won: dict[tuple[str, str, End], dict[str, tuple[float, ...]]] = {}
    for key in dict.fromkeys(chosen[["dataset", "costs", "method"]].itertuples(index=False, name=None)):
        dataset, costs, method = key
        rows = cells.rows(dataset, costs, method)
        at_ends: dict[str, list[tuple[bool, bool]]] = {}
        grids: dict[str, tuple[float, ...]] = {}
        for row in rows:
            name = names[row]
            parameters = records.identities[name]["method"]["parameters"]
            reported = {**records.infos[name]["diagnostics"], **json.loads(detailed[row])}
            for parameter, grid in {**_automatic(records.infos[name]["diagnostics"]), **searched[key]}.items():
                value = parameters.get(parameter) if isinstance(parameters.get(parameter), float | int) else None
                value = reported.get(_singular(parameter)) if value is None else value
                if isinstance(value, float | int) and not isinstance(value, bool):
                    natural = grid[0] == 0
                    at_ends.setdefault(parameter, []).append((value == grid[0] and not natural, value == grid[-1]))
                    grids.setdefault(parameter, grid)
        for parameter, selected in at_ends.items():
            on.setdefault((method, parameter), set()).add(dataset)
            for end, count in zip(_ENDS, map(sum, zip(*selected, strict=True)), strict=True):
                if 2 * count >= len(rows):
                    won.setdefault((method, parameter, end), {}).setdefault(dataset, grids[parameter])
    order = list(dict.fromkeys(method for method, _, _ in won))
    ends = [
        GridEnd(method, parameter, end, tuple(dict.fromkeys(sets.values())), tuple(sets), len(on[method, parameter]))
        for (method, parameter, end), sets in won.items()
    ]
    return sorted(ends, key=lambda one: (order.index(one.method), -len(one.datasets)))


def _searched(records: Records) -> dict[tuple[str, str, str], dict[str, tuple[float, ...]]]:
    """(data set, cost scheme, method) → parameters that were searched, and the values tried, ascending."""
    searched = {}
    for key, names in records.trials.items():
        tried: dict[str, set[float]] = {}
        for name in names:
            for parameter, value in records.identities[name]["method"]["parameters"].items():
                tried.setdefault(parameter, set()).update(_numbers(value))
        searched[key] = {p: tuple(sorted(values)) for p, values in tried.items() if len(values) >= _FEWEST}
    return searched


def _automatic(diagnostics: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Grids that a fit made for itself: lists of numbers in its diagnostics, ascending."""
    lists = {name: sorted(set(_numbers(value))) for name, value in diagnostics.items() if isinstance(value, list)}
    return {name: tuple(values) for name, values in lists.items() if len(values) >= _FEWEST}


def _numbers(value: Any) -> list[float]:
    values = value if isinstance(value, list) else [value]
    return [float(number) for number in values if isinstance(number, int | float) and not isinstance(number, bool)]


def _singular(parameter: str) -> str:
    return parameter.removesuffix("s") if len(parameter) > 1 else parameter
