"""Selection: choose the policy of each family that becomes a table's row, on validation results only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench_records.columns import values
from bench_records.records import KEY, Records
from bench_records.refusing import refusal_threshold

if TYPE_CHECKING:
    import pandas as pd

    from bench_core import Metric

__all__ = ["Rules", "select"]

_SELECTED = ["dataset", "method", "name"]
"""The columns that a rule of selection depends on; the name of a trial determines its task and threshold."""


class Rules(Protocol):
    """The rules of selection: a suite's, or the default ones."""

    def selection_of(self, dataset: str, method: str, task: str, threshold: float | None) -> str:
        """The rule for a method on a data set: ``first``, or the name of a metric."""

    @property
    def least_coverage(self) -> float:
        """When a metric chooses, policies that answer a smaller share of the validation rows come after all others."""

    def selection_metrics(self) -> dict[str, Metric]:
        """The metrics that can choose, by name."""


def select(records: Records, suite: Rules) -> pd.DataFrame:
    """Choose one policy per data set, cost scheme, method and seed.

    The rule is the suite's (`Suite.selection_of`): ``first`` takes the first policy of the first grid point. A metric
    takes the policy with the best validation value over all grid points; among equals, that of the earlier grid point,
    then the earlier policy.

    Policies that answer a smaller share of the validation rows than the suite's ``least_coverage`` are chosen only if
    there is no other: the accuracy of a handful of answers says little, but a metric may rate it highest.

    A policy that misses the cap of a metric (`Metric.missed`) is chosen only if no policy at any grid point keeps it.

    The conclusive accuracy of a policy that answers no test row is undefined. The metric codes it as 0 (EMSCO Eq. 4);
    in the chosen rows it is NaN.

    Returns:
        The chosen rows of ``records.policies``, sorted by `KEY`, with a column ``rule`` (``first`` where the metric has
        no value, as for another task) and a boolean ``over_budget`` (the chosen policy misses its metric's cap on
        validation).
    """
    import pandas as pd

    frame = records.policies
    if frame.empty:
        return frame.assign(rule="", over_budget=False)
    done = frame[frame["status"] == "ok"]
    rule_of = {
        (dataset, method, name): suite.selection_of(
            dataset, method, records.infos[name]["task"], refusal_threshold([records.identities[name]])
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
        unknown = first[column].isna().to_numpy() if column in first else np.ones(len(first), dtype=bool)
        shown = np.where(unknown, "first", first["rule"]).astype(object)
        chosen.append(first.assign(rule=shown, over_budget=np.array(over, dtype=bool)))
    if not chosen:
        return done.assign(over_budget=False)
    return _undefined(pd.concat(chosen).sort_values(KEY, kind="stable", ignore_index=True))


def _undefined(chosen: pd.DataFrame) -> pd.DataFrame:
    """The rows with NaN as the conclusive accuracy where no test row is answered."""
    accuracy, coverage = "test.conclusive-accuracy", "test.coverage"
    if accuracy not in chosen or coverage not in chosen:
        return chosen
    return chosen.assign(**{accuracy: chosen[accuracy].where(~(chosen[coverage] == 0))})
