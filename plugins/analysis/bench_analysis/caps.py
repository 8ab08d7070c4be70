"""Accuracy under hard budgets beside accuracy at the same mean price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_records import Records

from bench_analysis.summary import Mean, mean_with_margin, overlap

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["CapTable", "cap_tables"]


@dataclass(frozen=True)
class CapTable:
    """One data set under one cost scheme.

    Attributes:
        dataset, costs: where.
        caps: hard budgets, ascending.
        rows: method → a mean for each cap, then one for each cap as a limit of the mean price; of no values where no
            policy of the method keeps it.
    """

    dataset: str
    costs: str
    caps: tuple[int, ...]
    rows: dict[str, list[Mean]]


def cap_tables(records: Records, suite: Suite) -> Iterator[CapTable]:
    """Every table of a suite that has caps, in its order.

    A policy is chosen on validation, for each number by itself: the one most accurate when cut at the cap; the most
    accurate of those whose mean price is at most the cap. The first among equals.
    """
    frame = records.policies
    if frame.empty:
        return
    for dataset, costs in suite.grids:
        caps = suite.caps_of(dataset)
        here = frame[(frame["dataset"] == dataset) & (frame["costs"] == costs) & (frame["status"] == "ok")]
        if not caps or here.empty:
            continue
        rows = {}
        for method in suite.methods_on(dataset):
            mine = here[here["method"] == method].sort_values(["point", "policy"], kind="stable")
            if mine.empty:
                continue
            shared = overlap(records.infos[str(mine["name"].iloc[0])])
            samples = [_chosen(mine, f"accuracy-at-cap@{cap}") for cap in caps]
            samples += [_chosen(mine[mine["validation.cost"] <= cap * (1 + 1e-9)], "accuracy") for cap in caps]
            rows[method] = [mean_with_margin(sample, shared) for sample in samples]
        yield CapTable(dataset, costs, caps, rows)


def _chosen(policies: pd.DataFrame, metric: str) -> list[float]:
    """A metric on the test part, by seed, of the policy that is best by it on validation."""
    if f"validation.{metric}" not in policies:
        return []
    known = policies[policies[f"validation.{metric}"].notna() & policies[f"test.{metric}"].notna()]
    best = known.sort_values(f"validation.{metric}", ascending=False, kind="stable").drop_duplicates("seed")
    values: list[float] = best.sort_values("seed")[f"test.{metric}"].tolist()
    return values
