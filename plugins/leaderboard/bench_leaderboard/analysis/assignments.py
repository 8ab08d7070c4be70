"""What policies did with features: the stage each was put in, and how often each was bought.

Both are functions of the records alone: stages come from a list of stages in a policy's details (EMSCO's
``chromosome``: a stage per feature, from 0), shares from ``usage`` of a trial's record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.summary import Mean, mean_with_margin, overlap

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StagesByClass", "Usage", "feature_classes", "stages_by_class", "usage_of"]


@dataclass(frozen=True, eq=False)
class StagesByClass:
    """Mean stage of every feature in the selected policies (EMSCO Fig. 13).

    Attributes:
        features: names.
        stages: per feature, the mean stage over seeds, from 1, with its margin.
        classes: int64 (features,): place of each feature's cost class in ``labels``; the most frequent over seeds
            where a cost scheme learns its classes.
        labels: what each cost class is called, cheapest first.
        means: per class, the mean over seeds of the mean stage of its features, classes as they were in each seed.
        seeds: how many policies it is the mean of.
        settled: whether every feature had the same class in every seed.
    """

    features: tuple[str, ...]
    stages: tuple[Mean, ...]
    classes: NDArray[np.int64]
    labels: tuple[str, ...]
    means: tuple[Mean, ...]
    seeds: int
    settled: bool


def stages_by_class(
    records: Records, chosen: pd.DataFrame, field: str = "chromosome"
) -> StagesByClass | None:
    """Stages by cost class; None when no policy has such a detail.

    Without cost classes, features of one price are a class.

    Args:
        chosen: selected policies of one method on one data set under one cost scheme.
        field: the detail: a list of stages, one per feature, from 0.
    """
    stages: list[NDArray[np.float64]] = []
    kinds: list[NDArray[np.float64]] = []
    named = False
    names: tuple[str, ...] = ()
    for name, details in chosen[["name", "details"]].itertuples(index=False):
        stage = json.loads(details).get(field)
        info = records.infos[name]
        if not isinstance(stage, list) or len(stage) != len(info["features"]):
            continue
        if stages and len(stage) != len(stages[0]):
            continue
        kind, named = feature_classes(info["costs"])
        names = names or tuple(info["features"])
        stages.append(np.asarray(stage, dtype=np.float64) + 1.0)
        kinds.append(kind)
    if not stages:
        return None
    stage_table, kind_table = np.stack(stages), np.stack(kinds)
    known = np.unique(kind_table)
    shared = overlap(info)
    votes = np.stack([(kind_table == kind).sum(axis=0) for kind in known])
    return StagesByClass(
        features=names,
        stages=tuple(mean_with_margin(column, shared) for column in stage_table.T),
        classes=votes.argmax(axis=0),
        labels=tuple(f"class {kind:g}" if named else f"price {kind:g}" for kind in known),
        means=tuple(_class_mean(stage_table, kind_table == kind, shared) for kind in known),
        seeds=len(stages),
        settled=bool((kind_table == kind_table[0]).all()),
    )


def feature_classes(costs: Mapping[str, Any]) -> tuple[NDArray[np.float64], bool]:
    """Each feature's class, or its price where there are no classes; and whether they are classes."""
    if costs["classes"] is not None:
        return np.asarray(costs["classes"], dtype=np.float64), True
    return np.asarray(costs["prices"], dtype=np.float64)[:, 0], False


def _class_mean(stages: NDArray[np.float64], inside: NDArray[np.bool_], shared: float) -> Mean:
    count = inside.sum(axis=1)
    some = count > 0
    return mean_with_margin((stages * inside).sum(axis=1)[some] / count[some], shared)


@dataclass(frozen=True, eq=False)
class Usage:
    """How often the selected policies bought each feature.

    Attributes:
        features: names.
        shares: float64 (stages, features): mean over seeds of the share of test rows that left at that stage with
            the feature bought; one stage where the record does not tell stages apart. The column sums are the
            shares of rows that bought each feature.
        seeds: how many policies it is the mean of.
    """

    features: tuple[str, ...]
    shares: NDArray[np.float64]
    seeds: int

    @property
    def total(self) -> NDArray[np.float64]:
        """Share of test rows that bought each feature; float64 (features,)."""
        return np.asarray(self.shares.sum(axis=0))


def usage_of(records: Records, chosen: pd.DataFrame) -> Usage | None:
    """Feature usage of selected policies; None when the records do not hold it.

    A record holds it as ``usage``: per policy a list of shares, one per feature, or a list of such lists, one per
    exit stage.

    Args:
        chosen: selected policies of one method on one data set under one cost scheme.
    """
    tables: list[NDArray[np.float64]] = []
    names: tuple[str, ...] = ()
    for name, policy in chosen[["name", "policy"]].itertuples(index=False):
        info = records.infos[name]
        usage = info.get("usage")
        if not usage or int(policy) >= len(usage) or usage[int(policy)] is None:
            continue
        table = np.atleast_2d(np.asarray(usage[int(policy)], dtype=np.float64))
        if table.shape[1] == len(info["features"]) and (not tables or table.shape[1] == tables[0].shape[1]):
            tables.append(table)
            names = names or tuple(info["features"])
    if not tables:
        return None
    shares = np.zeros((max(len(table) for table in tables), tables[0].shape[1]))
    for table in tables:
        shares[: len(table)] += table
    return Usage(names, shares / len(tables), len(tables))
