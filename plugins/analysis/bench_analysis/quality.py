"""The axes of a trade-off curve: a quality (more or less is better), and a cost as a share of the full price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from bench_records import Records, refusal_threshold
from numpy.typing import NDArray

from bench_core import Costs, Metric

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["RIGHT_ANSWERS", "Quality", "cost_shares", "default_quality", "largest_cost", "quality_named"]


@dataclass(frozen=True)
class Quality:
    """What the vertical axis of a curve shows.

    Attributes:
        name: a metric's name, or ``right-answers``.
        title: its name on an axis or in the head of a table.
        goal: whether ``max`` or ``min`` is better.
        worst: the worst possible value; None when there is no bound.
        percent: shown as a percentage.
        columns: metrics whose product it is.
    """

    name: str
    title: str
    goal: Literal["max", "min"]
    worst: float | None
    percent: bool
    columns: tuple[str, ...]

    def known(self, frame: pd.DataFrame) -> bool:
        """Whether a table of policies has it, on both parts."""
        return all(
            f"{part}.{name}" in frame and bool(frame[f"{part}.{name}"].notna().any())
            for part in ("validation", "test")
            for name in self.columns
        )

    def values(self, frame: pd.DataFrame, part: str) -> NDArray[np.float64]:
        """Its value for each policy of a table; float64 (policies,)."""
        columns = [frame[f"{part}.{name}"].to_numpy(dtype=np.float64) for name in self.columns]
        return np.prod(columns, axis=0) if len(columns) > 1 else columns[0]

    def target(self, full: float, level: float) -> float:
        """The value that counts as a level (0.95) of the full model's.

        More is better: level × full. Less is better: measured from the worst value (error: 1), or full ÷ level
        when there is none.
        """
        if self.goal == "max":
            return level * full
        return full / level if self.worst is None else self.worst - level * (self.worst - full)

    def reaches(self, values: NDArray[np.float64], target: float) -> NDArray[np.bool_]:
        """Which values are as good as the target, up to rounding."""
        slack = 1e-9 * max(1.0, abs(target))
        return values >= target - slack if self.goal == "max" else values <= target + slack


RIGHT_ANSWERS = Quality(
    name="right-answers",
    title="Right answers (coverage × conclusive accuracy)",
    goal="max",
    worst=0.0,
    percent=True,
    columns=("coverage", "conclusive-accuracy"),
)
"""Share of all rows that got a conclusive and right answer. With a reject option, neither factor is enough by itself:
a method that answers only the easiest row has a perfect accuracy."""

_WORST = {"max": 0.0, "min": 1.0}
_BOUNDED = frozenset(
    {"accuracy", "error", "coverage", "conclusive-accuracy", "disagreement", "ndcg", "precision", "combined"}
)


def quality_named(name: str, metrics: Mapping[str, Metric]) -> Quality:
    """A metric as the quality of a curve.

    Args:
        name: a metric's name, or ``right-answers``.
        metrics: the known metrics by name, with numbers for k: ``ndcg@5``, not ``ndcg@k``.

    Raises:
        KeyError: no such metric.
    """
    if name == RIGHT_ANSWERS.name:
        return RIGHT_ANSWERS
    metric = metrics[name]
    worst = _WORST[metric.goal] if name.partition("@")[0] in _BOUNDED else None
    return Quality(name, metric.title or metric.name, metric.goal, worst, metric.percent, (name,))


def default_quality(suite: Suite, records: Records, frame: pd.DataFrame) -> Quality | None:
    """The quality a data set's curves show when the suite does not say.

    Where a method refuses rows: right answers. Otherwise accuracy or error, NDCG, or mean squared error, the first
    that the records have. None when they have none of these.

    Args:
        frame: done policies of one data set.
    """
    if frame.empty:
        return None
    name = str(frame["name"].iloc[0])
    task = str(records.infos[name]["task"])
    known = suite.selection_metrics()
    candidates: list[str] = []
    if task in ("binary", "multiclass"):
        candidates += ["accuracy", "error", RIGHT_ANSWERS.name]
        if refusal_threshold(records.identities[one] for one in frame["name"].unique()) is not None:
            candidates = [RIGHT_ANSWERS.name, *candidates[:2]]
    candidates += sorted(metric for metric in known if metric.startswith("ndcg@")) if task != "regression" else []
    candidates += ["mse"] if task in ("regression", "ranking") else []
    resolved = {**_built_in(), **known}
    for candidate in candidates:
        quality = quality_named(candidate, resolved)
        if quality.known(frame):
            return quality
    return None


def _built_in() -> dict[str, Metric]:
    from bench_core.records import BUILT_IN

    return {metric.name: metric for metric in BUILT_IN}


def cost_shares(records: Records, frame: pd.DataFrame, part: str, cost: str) -> NDArray[np.float64]:
    """Each policy's cost as a share of what all features cost; float64 (policies,), NaN where it is not known.

    Args:
        frame: policies of one data set under one cost scheme.
        part: ``validation`` or ``test``.
        cost: ``cost``; or another metric (base models, features, …), which is then divided by the largest value
            that any policy of the frame has on either part.
    """
    if cost == "cost":
        column = f"{part}.cost-share"
        if column in frame and bool(frame[column].notna().all()):
            return np.asarray(frame[column], dtype=np.float64)
        if f"{part}.cost" not in frame:
            return np.full(len(frame), np.nan)
        full = {name: _full_price(records.infos[name]["costs"]) for name in frame["name"].unique()}
        prices = frame["name"].map(full).to_numpy(dtype=np.float64)
        paid = frame[f"{part}.cost"].to_numpy(dtype=np.float64)
        return np.asarray(np.divide(paid, prices, out=np.zeros(len(paid)), where=prices != 0))
    largest = largest_cost(frame, cost)
    if np.isnan(largest):
        return np.full(len(frame), np.nan)
    values = frame[f"{part}.{cost}"].to_numpy(dtype=np.float64)
    return np.asarray(values / largest) if largest > 0 else np.zeros(len(values))


def largest_cost(frame: pd.DataFrame, cost: str) -> float:
    """The largest value of a metric that any policy has on either part: the unit of its shares; NaN if there is none.

    For ``cost`` it is 1: that is a share already.
    """
    if cost == "cost":
        return 1.0
    columns = [f"{part}.{cost}" for part in ("validation", "test")]
    if not all(column in frame for column in columns):
        return float("nan")
    return float(np.nanmax(frame[columns].to_numpy(dtype=np.float64), initial=0.0))


def _full_price(plain: Mapping[str, Any]) -> float:
    """What all features cost; NaN when that depends on the item's size."""
    costs = Costs.from_plain(dict(plain))
    return float("nan") if costs.depends_on_size else float(costs.total(1)[0])
