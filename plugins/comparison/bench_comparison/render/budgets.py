"""The files of a comparison beside a suite's export: ``budgets.md``, ``budgets.csv`` and ``wins.csv``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_leaderboard import table, text
from bench_records import Records, csv_text, times_of

from bench_comparison.answer import Compares
from bench_comparison.budgets import LEVELS, Answers
from bench_comparison.findings import FEW
from bench_comparison.populations import absolute_answers
from bench_comparison.render.answer import (
    SURE_READ,
    TABLE_READ,
    comparison_table,
    count,
    flags_read,
    in_order,
    sentence,
    shares,
    spread,
)
from bench_comparison.resampling import mean_of
from bench_comparison.schema import PRICES, ComparisonEntry

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["render_absolute", "render_budgets", "render_rows", "render_wins"]

_DIGITS = 4


def render_budgets(suite: Suite, comparison: Mapping[str, Any]) -> str:
    """The page of every population's tables: what ``comparison.json`` holds, in Markdown."""
    title = suite.file.suite.title or suite.name
    lines = [
        f"# At every budget: {text(title)}",
        "",
        "This page ranks methods: which one is first most often? To tell similar methods apart, ranks need many data "
        "sets. To choose a method, read [what each method loses](answer.md) instead.",
        "",
        "A budget is a share of what all features cost. A method answers with the policy that has the best validation "
        "score among those whose validation cost is within the budget; its numbers are those of the test part. Ranks "
        "are taken split by split, averaged over a data set's splits and draws of prices, then over data sets. Nothing "
        "is imputed: methods are ranked on the data sets that all ranked methods share, at least half of all. The cell "
        "of a method that is not ranked gives the most frequent reason, and the number of data sets with this reason. "
        f"{TABLE_READ}",
        "",
        f"{flags_read(comparison)} Both marks are about all data sets that the method answers. {SURE_READ} A row is "
        "*over budget* where its mean test cost over the splits exceeds the budget by more than "
        f"{100 * comparison['tolerance']:g} % of it. *All budgets*: by the area below the step curve of test quality "
        "over budgets; where no policy fits, the worst quality counts.",
        "",
        f"[Results](../{suite.name}.md) · [a row for every data set](budgets.csv) · [pairs](wins.csv) · "
        "[all suites](../README.md)",
        "",
    ]
    for population in comparison["populations"]:
        lines += _population(population, list(comparison["methods"]))
    lines += _uses(comparison)
    return "\n".join(lines).rstrip() + "\n"


def _population(population: Mapping[str, Any], methods: Sequence[str]) -> list[str]:
    order = in_order(population, [m for m in methods if any(_is_in(measure, m) for measure in population["measures"])])
    lines = [
        f"## {population['task'].capitalize()}, {PRICES[population['prices']]}",
        "",
        f"{count(len(population['datasets']))}: {text(', '.join(population['datasets']))}.",
        "",
        *(f"- {shares(m['budget']).capitalize()}: {sentence(m)}.{_tested(m)}" for m in population["measures"]),
        "",
        comparison_table(population, order, areas=True),
        "",
    ]
    leaders = [measure["ranked"][0]["method"] if measure["ranked"] else None for measure in population["measures"]]
    if any(leaders):
        head = ["Better than the leader", *(shares(m["budget"]) for m in population["measures"])]
        leader = ["*the leader*", *(text(name) if name else "–" for name in leaders)]
        body = [[text(m), *(_rate(measure, m) for measure in population["measures"])] for m in order]
        lines += [
            "The share of splits on which a method is better than the leader (a tie counts half), averaged over data "
            "sets:",
            "",
            table(head, [leader, *body]),
            "",
        ]
    return lines


def _uses(comparison: Mapping[str, Any]) -> list[str]:
    if not comparison["uses"]:
        return []
    lines = ["## What to use for …", "", "By the area below the curve, which counts all budgets alike.", ""]
    for use in comparison["uses"]:
        unit = "" if use["cost"] == "cost" else f", by {text(use['cost'])}"
        names = text(", ".join(use["datasets"]))
        lines.append(f"- **{text(use['title'])}** ({names}{unit}): {sentence(use['measure'])}.")
    return [*lines, ""]


def _is_in(measure: Mapping[str, Any], method: str) -> bool:
    reasons = measure["out"].get(method)
    return reasons is None or any(why not in ("not run", "not applicable") for why in reasons)


def _tested(measure: Mapping[str, Any]) -> str:
    if measure["difference"] is None:
        return ""
    p = measure["friedman"]
    friedman = "" if p is None else f"; Friedman p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    return f" Critical difference {measure['difference']:.2f}{friedman}."


def _rate(measure: Mapping[str, Any], method: str) -> str:
    row = next((row for row in measure["ranked"] if row["method"] == method), None)
    interval = row["against_leader"] if row else None
    return "–" if interval is None else spread(interval, percent=True)


def render_rows(suite: Suite, records: Records, entry: ComparisonEntry, compares: Compares) -> str:
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
    for population, _ in compares:
        for answers in population.answers:
            place = [answers.dataset, answers.costs, population.prices, population.task]
            names = suite.methods_on(answers.dataset)
            lines += [[*place, method, *_row(answers, method, records, entry)] for method in names]
    return csv_text(head, lines, digits=_DIGITS)


def _row(answers: Answers, method: str, records: Records, entry: ComparisonEntry) -> list[Any]:
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
    values: list[Any] = [answers.quality.name, int(mine.sum()), mean_of(answers.full[mine])]
    over = answers.over(entry.tolerance)
    for i in range(len(answers.budgets)):
        test = answers.test[row, mine, i]
        share = mean_of(answers.shares[row, mine, i])
        status = answers.status(method, i, entry.tolerance)
        values += [status, mean_of(test), share, mean_of(answers.cost[row, mine, i])]
        values += [int(np.isnan(test).sum()), int(over[row, mine, i].sum())]
    values += [mean_of(answers.area[row, mine]), *(float(answers.reach[level][row]) for level in LEVELS)]
    return [*values, *_times(records, answers, method)]


def _times(records: Records, answers: Answers, method: str) -> list[float]:
    """Mean seconds of a fit; mean microseconds to decide a test row, over the policies of the family."""
    fits, rows = times_of(records, records.trials.get((answers.dataset, answers.costs, method), []))
    return [mean_of(np.array(fits)), mean_of(np.array(rows))]


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
                    share = mean_of(answers.shares[row, mine, i])
                    values = [
                        answers.quality.name,
                        mean_of(test),
                        share,
                        mean_of(answers.cost[row, :, i]),
                        int(mine.sum()),
                    ]
                lines.append([*line, *values])
    return csv_text(head, lines, digits=_DIGITS)


def render_wins(compares: Compares, budgets: Sequence[float]) -> str:
    """A line for each pair of methods at each budget, as CSV: how often the first is better, with its 95 % interval.

    Pairs that share fewer than five data sets are left out: resampling so few says little.
    """
    head = ["task", "prices", "budget", "method", "against", "win_rate", "low", "high", "datasets"]
    lines = [
        [population.task, population.prices, shares(budget), a, b, rate.value, rate.low, rate.high, rate.datasets]
        for population, measures in compares
        for budget, measure in zip([*budgets, None], measures, strict=True)
        for (a, b), rate in measure.wins.items()
        if rate.datasets >= FEW
    ]
    return csv_text(head, lines, digits=_DIGITS)
