"""Accuracy under hard budgets beside accuracy at the same mean price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_records import Records

from bench_analysis.points import cells_of
from bench_analysis.summary import Mean, mean_with_margin, overlap

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["CapTable", "cap_tables"]


@dataclass(frozen=True)
class CapTable:
    """One data set under one cost scheme.

    Attributes:
        dataset, costs: names of the data set and the cost scheme.
        caps: hard budgets, ascending.
        rows: method → for each cap, mean accuracy with every row cut off at the cap; then, for each cap, mean accuracy
            of a policy whose mean price is within the cap. A mean is NaN if the method has no such policy.
    """

    dataset: str
    costs: str
    caps: tuple[int, ...]
    rows: dict[str, list[Mean]]


def cap_tables(records: Records, suite: Suite) -> Iterator[CapTable]:
    """The table of every data set with caps under every cost scheme, in the suite's order.

    Validation chooses a policy for each number: the most accurate when every row is cut off at the cap, or the most
    accurate of those whose mean price is at most the cap. Among equals it is the first. Every family contains the empty
    policy.
    """
    for dataset, costs in suite.grids:
        caps = suite.caps_of(dataset)
        here = cells_of(records).get((dataset, costs)) if caps else None
        if here is None:
            continue
        rows = {}
        for method in suite.methods_on(dataset):
            mine = here[here["method"] == method].sort_values(["point", "policy"], kind="stable")
            if mine.empty:
                continue
            shared = overlap(records.infos[str(mine["name"].iloc[0])], suite.drawn_from(dataset))
            samples = [_chosen(mine, f"accuracy-at-cap@{cap}") for cap in caps]
            samples += [_chosen(mine[mine["validation.cost"] <= cap * (1 + 1e-9)], "accuracy") for cap in caps]
            rows[method] = [mean_with_margin(sample, shared, suite.seed_count(dataset)) for sample in samples]
        yield CapTable(dataset, costs, caps, rows)


def _chosen(policies: pd.DataFrame, metric: str) -> list[float]:
    """By seed, the test value of a metric for the policy with the best validation value."""
    if f"validation.{metric}" not in policies:
        return []
    known = policies[policies[f"validation.{metric}"].notna() & policies[f"test.{metric}"].notna()]
    best = known.sort_values(f"validation.{metric}", ascending=False, kind="stable").drop_duplicates("seed")
    values: list[float] = best.sort_values("seed")[f"test.{metric}"].tolist()
    return values
