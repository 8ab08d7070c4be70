"""Selection: which policy of a family becomes a table's row, decided on validation only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench_leaderboard.analysis.records import KEY, Records

if TYPE_CHECKING:
    import pandas as pd

    from bench_core import Metric

__all__ = ["Rules", "select"]


class Rules(Protocol):
    """How rows are picked: a suite's rules, or the default ones."""

    def selection_of(self, method: str, task: str, threshold: float | None) -> str:
        """``first``, or the name of a metric."""

    def selection_metrics(self) -> dict[str, Metric]:
        """Every metric that a selection may go by."""


def select(records: Records, suite: Rules) -> pd.DataFrame:
    """One policy per data set, cost scheme, method and seed.

    The rule is the suite's (`Suite.selection_of`): ``first`` takes the first policy of the first grid point, a
    metric takes the best on validation over the family and the grid; among equals the earlier grid point, then the
    earlier policy.

    A metric with a cap of its own (`Metric.missed`) takes a policy that misses it only where none of the family and
    the grid keeps it.

    Returns:
        The chosen rows of ``records.policies``, with a column ``rule`` and a boolean ``over_budget`` (the chosen
        policy misses the cap of its rule, on validation), in the order of `KEY`.
    """
    import pandas as pd

    frame = records.policies
    if frame.empty:
        return frame.assign(rule="", over_budget=False)
    done = frame[frame["status"] == "ok"]
    rule_of = {
        (name, method): suite.selection_of(
            method, records.infos[name]["task"], records.identities[name]["threshold"]
        )
        for name, method in done[["name", "method"]].drop_duplicates().itertuples(index=False)
    }
    done = done.assign(rule=[rule_of[pair] for pair in zip(done["name"], done["method"], strict=True)])
    goals = suite.selection_metrics()
    chosen = []
    for rule in sorted(set(done["rule"])):
        group = done[done["rule"] == rule]
        ordered = group.sort_values(["point", "policy"], kind="stable")
        column = f"validation.{rule}"
        if rule in goals and column in ordered:
            ordered = ordered.sort_values(column, ascending=goals[rule].goal == "min", kind="stable")
        first = ordered.drop_duplicates(KEY)
        missed = goals[rule].missed if rule in goals and column in ordered else None
        over = [missed is not None and bool(missed(value)) for value in first.get(column, [0.0] * len(first))]
        chosen.append(first.assign(over_budget=np.array(over, dtype=bool)))
    return (
        pd.concat(chosen).sort_values(KEY, kind="stable", ignore_index=True)
        if chosen
        else done.assign(over_budget=False)
    )
