"""``bench compare``: what changed between two stores."""

from __future__ import annotations

from pathlib import Path

from bench_core import Registry, load_suite
from bench_leaderboard.analysis.compare import CHANGES, Changed, Difference, compare, read_side
from bench_leaderboard.render.markdown import plain_number

__all__ = ["compare_stores", "rows_of_changes", "rows_of_differences"]


def compare_stores(
    registry: Registry, before: Path, after: Path, suite: Path | None, metrics: tuple[str, ...]
) -> tuple[list[Changed], list[Difference], list[str]]:
    """Compare two stores, or exports; with a line for each record that is damaged and counts as not there.

    Raises:
        RequestError: a side is not there, or the suite or a metric is wrong.
    """
    loaded = load_suite(suite, registry) if suite else None
    warnings: list[str] = []
    first, second = (read_side(side, warnings.extend) for side in (before, after))
    return *compare(first, second, registry.metrics, loaded, metrics), warnings


def rows_of_changes(changed: list[Changed]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the counts; only kinds of change that occur."""
    kinds = [kind for kind in CHANGES if any(one.counts[kind] for one in changed)]
    return ["data set", "method", *kinds], [
        [one.dataset, one.method, *(str(one.counts[kind]) for kind in kinds)] for one in changed
    ]


def rows_of_differences(found: list[Difference]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the differences; those that are the same throughout are left out."""
    head = ["data set", "costs", "method", "metric", "A", "B", "B - A", "95 %", "seeds", ""]
    return head, [
        [
            one.dataset,
            one.costs,
            one.method,
            one.metric,
            plain_number(one.before),
            plain_number(one.after),
            plain_number(one.gap.value),
            "–" if one.gap.count < 2 else f"± {plain_number(one.gap.margin, 2)}",
            str(one.gap.count),
            one.verdict,
        ]
        for one in found
        if one.verdict != "same"
    ]
