"""What policies did with features: how often each was acquired, from ``usage`` of a trial's record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_records import Records
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Usage", "feature_classes", "usage_of"]


def feature_classes(costs: Mapping[str, Any]) -> tuple[NDArray[np.float64], bool]:
    """Each feature's class, or its price if there are no classes, float64 (features,); and whether they are classes."""
    if costs["classes"] is not None:
        return np.asarray(costs["classes"], dtype=np.float64), True
    return np.asarray(costs["prices"], dtype=np.float64)[:, 0], False


@dataclass(frozen=True, eq=False)
class Usage:
    """How often the selected policies acquired each feature.

    Attributes:
        features: names.
        shares: float64 (stages, features): mean over seeds of the share of test rows that left at that stage with
            the feature acquired; one stage where the record does not distinguish stages. The column sums are the
            shares of rows that acquired each feature.
        seeds: how many policies it is the mean of.
    """

    features: tuple[str, ...]
    shares: NDArray[np.float64]
    seeds: int

    @property
    def total(self) -> NDArray[np.float64]:
        """Share of test rows that acquired each feature; float64 (features,)."""
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
