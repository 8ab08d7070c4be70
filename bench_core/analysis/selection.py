"""Selection: which policy of a family becomes a table's row, decided on validation only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bench_core.analysis.records import KEY, Records

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.metrics import Metric

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

    Returns:
        The chosen rows of ``records.policies``, with a column ``rule``, in the order of `KEY`.
    """
    import pandas as pd

    frame = records.policies
    if frame.empty:
        return frame.assign(rule="")
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
        chosen.append(ordered.drop_duplicates(KEY))
    return pd.concat(chosen).sort_values(KEY, kind="stable", ignore_index=True) if chosen else done
