"""Which method, at which budget, and what is lost by taking it: everything that ``losses.json`` holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from bench_analysis import Analysed
from bench_records import Records, times_of

from bench_comparison.draws import DRAWS
from bench_comparison.findings import findings, unknown
from bench_comparison.kinds import EMPTY, KINDS, places_of
from bench_comparison.layout import Layout
from bench_comparison.losses import BAND
from bench_comparison.populations import Population, Task, comparison_of, populations
from bench_comparison.scale import measured
from bench_comparison.schema import ComparisonEntry
from bench_comparison.sets import sets_of, unit_values
from bench_comparison.views import task_views

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["answer_once", "loss_answer", "populations_once", "scale_once"]

FORMAT = 1


def populations_once(analysed: Analysed) -> list[Population]:
    """The populations of a suite's records, computed once; empty where the suite compares nothing, or has no record."""

    def compute(of: Analysed) -> list[Population]:
        entry = comparison_of(of.suite)
        return [] if entry is None or of.records.policies.empty else populations(of.suite, of.records, entry)

    return analysed.once("populations", compute)


def answer_once(analysed: Analysed) -> dict[str, Any] | None:
    """The answer of a suite's records, computed once; None where the suite compares nothing, or has no record."""
    return _both_once(analysed)[0]


def scale_once(analysed: Analysed) -> dict[str, Any] | None:
    """Each data set on the scale of the answer, computed once with it."""
    return _both_once(analysed)[1]


def _both_once(analysed: Analysed) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    def compute(of: Analysed) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        entry = comparison_of(of.suite)
        if entry is None or of.records.policies.empty:
            return None, None
        return loss_answer(of.suite, of.records, entry, populations_once(of))

    return analysed.once("answer", compute)


def loss_answer(
    suite: Suite, records: Records, entry: ComparisonEntry, compared: Sequence[Population]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answer as plain data, and each data set on its scale. Numbers are rounded: the same on every machine.

    Returns:
        The answer: ``format budgets band draws kinds methods``; ``views``: for each task and kind of prices, from
        `bench_comparison.views.task_views`; ``findings`` and ``unknown``, from `bench_comparison.findings`. The
        qualities are on the scale of `bench_comparison.scale`; intervals are ``[value, low, high]``.
        The data sets: ``format budgets``, names of ``methods`` and ``kinds``, and ``sets``, from
        `bench_comparison.sets.sets_of`.
    """
    places = places_of(suite, entry)
    times = {method: _times(suite, records, method) for method in places}
    layout = Layout.of(places, {method: fit for method, (fit, _) in times.items()})
    cells = measured(suite, records, entry, compared)
    views, sets = [], []
    for task in get_args(Task):
        used = [cell for cell in cells if cell.task == task and cell.clear]
        left_out = [cell for cell in cells if cell.task == task and not cell.clear]
        values = unit_values(used, layout)
        views += task_views(task, used, left_out, values, layout, entry.budgets)
        sets += sets_of(used, values, layout)
    there = {place.kind for place in places.values()}
    answer = {
        "format": FORMAT,
        "budgets": list(entry.budgets),
        "band": BAND,
        "draws": DRAWS,
        "kinds": [
            {"name": kind.name, "read": kind.read, "dynamic": kind.dynamic}
            for kind in KINDS
            if kind.name in there and kind.name != EMPTY
        ],
        "methods": {
            method.label: {
                "use": method.use,
                "summary": suite.registry.methods.described(method.use)["summary"],
                "parameters": method.parameters,
                "kind": places[method.label].kind,
                "algorithm": places[method.label].algorithm,
                "dynamic": places[method.label].dynamic,
                "fit_seconds": _digits(times[method.label][0]),
                "microseconds_a_row": _digits(times[method.label][1]),
            }
            for method in suite.file.methods
        },
        "views": views,
    }
    scale = {
        "format": FORMAT,
        "budgets": list(entry.budgets),
        "methods": list(layout.methods),
        "kinds": [unit.name for unit in layout.kinds],
        "sets": sets,
    }
    return answer | {"findings": findings(answer), "unknown": unknown(answer)}, scale


def _times(suite: Suite, records: Records, method: str) -> tuple[float, float]:
    """Median seconds of a fit, and median microseconds to decide a row, over a method's trials; NaN where unknown."""
    names = (name for place in suite.grids for name in records.trials.get((*place, method), []))
    fits, rows = times_of(records, names)
    return (float(np.median(fits)) if fits else float("nan")), (float(np.median(rows)) if rows else float("nan"))


def _digits(value: float) -> float | None:
    return float(f"{value:.2g}") if np.isfinite(value) else None
