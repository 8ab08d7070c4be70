"""The results of a comparison as plain data: ``comparison.json`` beside a suite's export.

``budgets.md`` is rendered from it alone. Numbers have five significant digits, so that they are the
same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench_records import Records

from bench_comparison.budgets import Answers
from bench_comparison.comparison import Compared, compare
from bench_comparison.populations import Population, populations, use_answers
from bench_comparison.resampling import Interval
from bench_comparison.schema import ComparisonEntry

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Compares", "answer_of", "compared_at", "compares_of"]

FORMAT = 1


Compares = Sequence[tuple[Population, Sequence[Compared]]]


def compares_of(suite: Suite, records: Records, entry: ComparisonEntry) -> Compares:
    """Every population with its comparisons, from `compared_at`."""
    return [
        (population, compared_at(suite, entry, population.answers)) for population in populations(suite, records, entry)
    ]


def compared_at(
    suite: Suite, entry: ComparisonEntry, answers: Sequence[Answers], methods: Sequence[str] = ()
) -> list[Compared]:
    """The comparison at each budget, then the one over all budgets (by the area)."""
    names = list(methods) or suite.method_names()
    return [
        compare(answers, budget, names, entry.tolerance, entry.fallback) for budget in range(len(entry.budgets) + 1)
    ]


def answer_of(
    suite: Suite, records: Records, entry: ComparisonEntry, compared: Sequence[tuple[Population, Sequence[Compared]]]
) -> dict[str, Any]:
    """The contents of ``comparison.json``.

    Args:
        suite: of the comparison.
        records: the suite's.
        entry: its ``[comparison]``.
        compared: from `compares_of`.

    Returns:
        ``format budgets tolerance fallback static``; ``methods``: name → ``use parameters``; ``populations``: a list of
        ``task prices datasets measures``; ``uses``: a list of ``title datasets cost measure``. A measure has ``budget``
        (None: over all budgets, by the area), ``datasets every difference friedman near ranked out over_fallback
        over_fixed``; for most of them see `bench_comparison.comparison.Compared`.
    """
    apart = {entry.fallback, *entry.static}
    uses = []
    for use in entry.uses:
        answers = use_answers(suite, records, entry, use)
        comparison = compared_at(suite, entry, answers, use.methods)[-1]
        uses.append(
            {
                "title": use.title,
                "datasets": use.datasets,
                "cost": use.cost,
                "measure": _measure(comparison, None, apart),
            }
        )
    return {
        "format": FORMAT,
        "budgets": list(entry.budgets),
        "tolerance": entry.tolerance,
        "fallback": entry.fallback,
        "static": list(entry.static),
        "methods": {
            method.label: {"use": method.use, "parameters": method.parameters} for method in suite.file.methods
        },
        "populations": [
            {
                "task": population.task,
                "prices": population.prices,
                "datasets": population.datasets,
                "measures": [
                    _measure(comparison, budget, apart)
                    for comparison, budget in zip(measures, [*entry.budgets, None], strict=True)
                ],
            }
            for population, measures in compared
        ],
        "uses": uses,
    }


def _measure(comparison: Compared, budget: float | None, apart: set[str]) -> dict[str, Any]:
    leader = comparison.leader
    ranked = []
    for method, rank in comparison.ranks.items():
        rate = comparison.win_rate(method, leader) if leader is not None and method != leader else None
        ranked.append(
            {
                "method": method,
                "rank": _interval_digits(rank),
                "relative": _interval_digits(comparison.relative[method]),
                "first": _digits(comparison.first[method]),
                "leads": comparison.leads[method],
                "against_leader": None if rate is None else _interval_digits(rate),
            }
        )
    return {
        "budget": budget,
        "datasets": list(comparison.datasets),
        "every": list(comparison.every),
        "difference": _digits(comparison.difference),
        "friedman": None if comparison.friedman is None else _digits(comparison.friedman.p),
        "near": comparison.near(),
        "ranked": ranked,
        "out": {method: dict(reasons) for method, reasons in comparison.out.items()},
        "over_fallback": {
            m: _interval_digits(interval) for m, interval in comparison.over_fallback.items() if m not in apart
        },
        "over_fixed": {
            m: _interval_digits(interval) for m, interval in comparison.over_fixed.items() if m not in apart
        },
    }


def _interval_digits(interval: Interval) -> list[float | int | None]:
    return [_digits(interval.value), _digits(interval.low), _digits(interval.high), interval.datasets]


def _digits(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
