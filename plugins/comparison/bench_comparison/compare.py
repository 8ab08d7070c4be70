"""``bench compare``: what changed between two stores."""

from __future__ import annotations

from pathlib import Path

from bench_leaderboard import plain_number

from bench_comparison.stores import CHANGES, Changed, Difference, compare, read_side
from bench_core.suites import Registry, load_suite

__all__ = ["compare_stores", "rows_of_changes", "rows_of_differences"]


def compare_stores(
    registry: Registry, before: Path, after: Path, suite: Path | None, metrics: tuple[str, ...]
) -> tuple[list[Changed], list[Difference], list[str]]:
    """Compare two stores or exports; also returns a line for each damaged record, which counts as missing.

    Raises:
        RequestError: a side does not exist or holds no records, or the suite or a metric is wrong.
    """
    loaded = load_suite(suite, registry) if suite else None
    warnings: list[str] = []
    first, second = (read_side(side, warnings.extend) for side in (before, after))
    return *compare(first, second, registry.metrics, loaded, metrics), warnings


def rows_of_changes(changed: list[Changed]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the counts; only kinds of change that occur have a column."""
    kinds = [kind for kind in CHANGES if any(change.counts[kind] for change in changed)]
    return ["data set", "method", *kinds], [
        [change.dataset, change.method, *(str(change.counts[kind]) for kind in kinds)] for change in changed
    ]


def rows_of_differences(differences: list[Difference]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the differences, without metrics that are the same on every seed."""
    head = ["data set", "costs", "method", "metric", "A", "B", "B - A", "95 %", "seeds", ""]
    return head, [
        [
            difference.dataset,
            difference.costs,
            difference.method,
            difference.metric,
            plain_number(difference.before),
            plain_number(difference.after),
            plain_number(difference.gap.value),
            "–" if difference.gap.count < 2 else f"± {plain_number(difference.gap.margin, 2)}",
            str(difference.gap.count),
            difference.verdict,
        ]
        for difference in differences
        if difference.verdict != "same"
    ]
