"""Selection: which policy of a family becomes a table's row, decided on validation only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core.analysis.records import KEY, Records
from bench_core.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suite import Suite

__all__ = ["select"]


def select(records: Records, suite: Suite) -> pd.DataFrame:
    """One policy per data set, cost scheme, method and seed.

    The rule is the suite's (`Suite.selection_of`): ``first`` takes the first policy of the first grid point, a
    metric takes the best on validation over the family and the grid; among equals the earlier grid point, then the
    earlier policy.

    Returns:
        The chosen rows of ``records.policies``, with a column ``rule``.
    """
    import pandas as pd

    done = records.policies[records.policies["status"] == "ok"] if len(records.policies) else records.policies
    metrics = suite.needed_metrics()
    chosen = []
    for (_, _, method), group in done.groupby(["dataset", "costs", "method"], sort=False):
        name = group["name"].iloc[0]
        info, identity = records.infos[name], records.identities[name]
        rule = suite.selection_of(str(method), info["task"], identity["threshold"])
        chosen.append(_pick(group, metrics.get(rule)).assign(rule=rule))
    if not chosen:
        return done.assign(rule="")
    return pd.concat(chosen, ignore_index=True)


def _pick(group: pd.DataFrame, metric: Metric | None) -> pd.DataFrame:
    ordered = group.sort_values(["point", "policy"], kind="stable")
    column = f"validation.{metric.name}" if metric else ""
    if metric is not None and column in ordered:
        ordered = ordered.sort_values(column, ascending=metric.goal == "min", kind="stable")
    return ordered.drop_duplicates(KEY)
