"""The tables of a comparison beside a suite's export: ``budgets.csv`` and ``absolute.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_records import Records, csv_text, times_of
from numpy.typing import NDArray

from bench_comparison.budgets import LEVELS, Answers
from bench_comparison.populations import Population, absolute_answers
from bench_comparison.schema import ComparisonEntry

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["render_absolute", "render_rows"]

_DIGITS = 4


def render_rows(suite: Suite, records: Records, entry: ComparisonEntry, populations: Sequence[Population]) -> str:
    """A line for each data set, cost scheme and method, as CSV.

    At each budget: how the method stands, mean test quality over the splits, the same as a share of the full model's,
    mean test cost as a share of the price, and two numbers of splits: those on which no policy fits, and those on which
    the test cost is over the budget. Then the area; the cost that reaches 95 and 99 % of the full model's quality; the
    mean seconds of a fit and microseconds to decide a row (a mean over the family's policies), which depend on the
    machine.
    """
    head = ["dataset", "costs", "prices", "task", "method", "quality", "splits", "full_model"]
    for budget in entry.budgets:
        at = f"{100 * budget:g}"
        head += [f"{what}@{at}" for what in ("status", "quality", "relative", "cost", "none", "over")]
    head += ["area", *(f"cost_to_reach@{100 * level:g}" for level in LEVELS), "fit_seconds", "microseconds_a_row"]
    lines: list[list[Any]] = []
    for population in populations:
        for answers in population.answers:
            place = [answers.dataset, answers.costs, population.prices, population.task]
            over = answers.over(entry.tolerance).sum(axis=1)
            names = suite.methods_on(answers.dataset)
            lines += [[*place, method, *_row(answers, over, method, records, entry)] for method in names]
    return csv_text(head, lines, digits=_DIGITS)


def _row(answers: Answers, over: NDArray[np.int64], method: str, records: Records, entry: ComparisonEntry) -> list[Any]:
    """The cells of a method; ``over`` has the number of splits over the budget, int64 (methods, budgets)."""
    if method not in answers.methods:
        blank = [[answers.status(method, i, entry.tolerance), *[None] * 5] for i in range(len(answers.budgets))]
        return [
            answers.quality.name,
            0,
            None,
            *(cell for cells in blank for cell in cells),
            *[None] * (3 + len(LEVELS)),
        ]
    row = answers.methods.index(method)
    mine = answers.done[row]
    values: list[Any] = [answers.quality.name, int(mine.sum()), _mean_of(answers.full[mine])]
    for i in range(len(answers.budgets)):
        test = answers.test[row, mine, i]
        share = _mean_of(answers.shares[row, mine, i])
        status = answers.status(method, i, entry.tolerance)
        values += [status, _mean_of(test), share, _mean_of(answers.cost[row, mine, i])]
        values += [int(np.isnan(test).sum()), int(over[row, i])]
    values += [_mean_of(answers.area[row, mine]), *(float(answers.reach[level][row]) for level in LEVELS)]
    return [*values, *_times(records, answers, method)]


def _times(records: Records, answers: Answers, method: str) -> list[float]:
    """Mean seconds of a fit; mean microseconds to decide a test row, over the policies of the family."""
    fits, rows = times_of(records, records.trials.get((answers.dataset, answers.costs, method), []))
    return [_mean_of(np.array(fits)), _mean_of(np.array(rows))]


def render_absolute(suite: Suite, records: Records, entry: ComparisonEntry) -> str:
    """A line for each data set, cost scheme, method and absolute budget, as CSV; costs in the unit of the prices."""
    head = ["dataset", "costs", "method", "budget", "status", "quality", "value", "relative", "cost", "splits"]
    lines: list[list[Any]] = []
    for answers in absolute_answers(suite, records, entry):
        for method in suite.methods_on(answers.dataset):
            for i, budget in enumerate(answers.budgets):
                line = [answers.dataset, answers.costs, method, budget, answers.status(method, i, entry.tolerance)]
                values: list[Any] = [answers.quality.name, None, None, None, 0]
                if method in answers.methods:
                    row = answers.methods.index(method)
                    test, mine = answers.test[row, :, i], answers.done[row]
                    share = _mean_of(answers.shares[row, mine, i])
                    values = [
                        answers.quality.name,
                        _mean_of(test),
                        share,
                        _mean_of(answers.cost[row, :, i]),
                        int(mine.sum()),
                    ]
                lines.append([*line, *values])
    return csv_text(head, lines, digits=_DIGITS)


def _mean_of(values: NDArray[np.float64]) -> float:
    """Mean of the finite values; NaN if there are none."""
    known = values[np.isfinite(values)]
    return float(np.add.accumulate(known)[-1]) / len(known) if len(known) else float("nan")
