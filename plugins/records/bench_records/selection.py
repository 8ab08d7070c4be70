"""Selection: which policy of a family becomes a table's row, decided on validation only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bench_records.columns import values
from bench_records.records import KEY, Records

if TYPE_CHECKING:
    import pandas as pd

    from bench_core import Metric

__all__ = ["Rules", "select"]

_SELECTED = ["dataset", "method", "name"]
"""The columns that a rule of selection depends on; the name of a trial determines its task and threshold."""


class Rules(Protocol):
    """How rows are picked: a suite's rules, or the default ones."""

    def selection_of(self, dataset: str, method: str, task: str, threshold: float | None) -> str:
        """``first``, or the name of a metric."""

    @property
    def least_coverage(self) -> float:
        """Share of the validation rows that a policy must answer to be chosen by a metric, where any does."""

    def selection_metrics(self) -> dict[str, Metric]:
        """Every metric that a selection may go by."""


def select(records: Records, suite: Rules) -> pd.DataFrame:
    """One policy per data set, cost scheme, method and seed.

    The rule is the suite's (`Suite.selection_of`): ``first`` takes the first policy of the first grid point, a
    metric takes the best on validation over the family and the grid; among equals the earlier grid point, then the
    earlier policy.

    Policies that answer a smaller share of the validation rows than the suite's ``least_coverage`` come after all
    others: the accuracy of a handful of answers says little, and a metric that rewards it picks them.

    A metric with a cap of its own (`Metric.missed`) takes a policy that misses it only where none of the family and
    the grid keeps it.

    What is not defined on the test part of a chosen row is NaN there: the conclusive accuracy of a policy that answers
    nothing, which the metric codes as 0 (EMSCO Eq. 4).

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
        (dataset, method, name): suite.selection_of(
            dataset, method, records.infos[name]["task"], _refusing(records.identities[name])
        )
        for dataset, method, name in done[_SELECTED].drop_duplicates().itertuples(index=False)
    }
    selected = zip(*(values(done[column]) for column in _SELECTED), strict=True)
    rules = np.array([rule_of[which] for which in selected], object)
    done = done.assign(rule=rules)
    goals = suite.selection_metrics()
    chosen = []
    for rule in sorted(set(rules)):
        group = done[rules == rule]
        column = f"validation.{rule}"
        # Only the columns that matter are sorted; complete rows are then taken by position.
        named = [name for name in (*KEY, "point", "policy", column, "validation.coverage") if name in group]
        ordered = group[list(dict.fromkeys(named))].reset_index(drop=True)
        ordered = ordered.sort_values(["point", "policy"], kind="stable")
        if rule in goals and column in ordered:
            ordered = ordered.sort_values(column, ascending=goals[rule].goal == "min", kind="stable")
            if suite.least_coverage and "validation.coverage" in ordered:
                silent = ordered["validation.coverage"] < suite.least_coverage
                ordered = pd.concat([ordered[~silent], ordered[silent]])
        first = group.iloc[ordered.drop_duplicates(KEY).index]
        missed = goals[rule].missed if rule in goals and column in ordered else None
        over = [missed is not None and bool(missed(value)) for value in first.get(column, [0.0] * len(first))]
        chosen.append(first.assign(over_budget=np.array(over, dtype=bool)))
    if not chosen:
        return done.assign(over_budget=False)
    return _undefined(pd.concat(chosen).sort_values(KEY, kind="stable", ignore_index=True))


def _undefined(chosen: pd.DataFrame) -> pd.DataFrame:
    """The rows with NaN in the place of codes for what is not defined."""
    accuracy, coverage = "test.conclusive-accuracy", "test.coverage"
    if accuracy not in chosen or coverage not in chosen:
        return chosen
    return chosen.assign(**{accuracy: chosen[accuracy].where(~(chosen[coverage] == 0))})


def _refusing(identity: Mapping[str, Any]) -> float | None:
    """The threshold below which a trial's answers are refused; None where it only says when to stop."""
    return identity["threshold"] if identity["reject"] else None
