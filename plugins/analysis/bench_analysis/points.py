"""Policies as points of cost and quality, on each part of a split: what trade-off curves are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bench_records import EMPTY, Records, complete, refusal_threshold
from numpy.typing import NDArray

from bench_analysis.quality import Quality, cost_shares

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cells_of", "points_of"]


def cells_of(records: Records) -> dict[tuple[str, str], pd.DataFrame]:
    """(data set, cost scheme) → its done policies, and the empty policy of every family; computed once."""
    return records.once("cells", _cells)


def _cells(records: Records) -> dict[tuple[str, str], pd.DataFrame]:
    done = complete(records)
    if done.empty:
        return {}
    done = done.drop(columns=["label", "details", "status"])
    groups = done.groupby(["dataset", "costs"], sort=False).indices
    cells = {}
    for key, rows in groups.items():
        dataset, costs = str(key[0]), str(key[1])  # type: ignore[index]
        cells[dataset, costs] = done.take(np.asarray(rows))
    return cells


def points_of(records: Records, frame: pd.DataFrame, quality: Quality, cost: str | None = "cost") -> pd.DataFrame:
    """The policies as points, a row each; the order of rows breaks ties.

    Columns: ``method seed``; on validation ``chosen_cost chosen_quality chosen_coverage chosen_accuracy``; on the test
    part ``cost quality coverage accuracy``; ``own``: False for an added empty policy. Policies that lack a cost or a
    quality are left out; so is a family that then has no own policy, together with its empty policy.

    Args:
        records: the suite's records.
        frame: done policies of one data set under one cost scheme.
        quality: the quality of the points.
        cost: see `bench_analysis.quality.cost_shares`; None for costs in the unit of the prices.
    """
    frame = frame.sort_values(["method", "seed", "point", "policy"], kind="stable")

    def costs(part: str) -> NDArray[np.float64]:
        return np.asarray(frame[f"{part}.cost"]) if cost is None else cost_shares(records, frame, part, cost)

    table = frame[["method", "seed"]].assign(
        chosen_cost=costs("validation"),
        chosen_quality=quality.values(frame, "validation"),
        cost=costs("test"),
        quality=quality.values(frame, "test"),
    )
    table["own"] = ~frame[EMPTY].to_numpy(dtype=bool) if EMPTY in frame else True
    known = table.notna().all(axis=1)
    known &= (known & table["own"]).groupby([table["method"], table["seed"]]).transform("any")
    for part, prefix in (("validation", "chosen_"), ("test", "")):
        coverage, accuracy = _answers(records, frame, part)
        table[prefix + "coverage"], table[prefix + "accuracy"] = coverage, accuracy
    return table[known]


def _answers(records: Records, frame: pd.DataFrame, part: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coverage and conclusive accuracy of policies; where nothing is refused, 1 and the plain accuracy."""

    def column(metric: str) -> NDArray[np.float64]:
        key = f"{part}.{metric}"
        return frame[key].to_numpy(dtype=np.float64) if key in frame else np.full(len(frame), np.nan)

    coverage, accuracy = column("coverage"), column("conclusive-accuracy")
    if refusal_threshold(records.identities[name] for name in frame["name"].unique()) is None:
        coverage = np.ones(len(frame))
        for plain in (column("accuracy"), 1.0 - column("error")):
            accuracy = np.where(np.isnan(accuracy), plain, accuracy)
    return coverage, accuracy
