"""How many base models the selected policies ran on test rows, over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench_leaderboard.analysis.records import Records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Spread", "spread_of"]


@dataclass(frozen=True, eq=False)
class Spread:
    """A histogram of base models run.

    Attributes:
        width: of a bar, in base models; bar i counts from ``width * i + 1`` to ``width * (i + 1)``.
        shares: float64 (bars,): mean over seeds of the share of test rows.
        mean: mean base models run, where the record has that metric.
        seeds: how many policies it is the mean of.
    """

    width: int
    shares: NDArray[np.float64]
    mean: float | None
    seeds: int


def spread_of(records: Records, chosen: pd.DataFrame) -> Spread | None:
    """The histogram of selected policies; None when the records do not hold it.

    Args:
        chosen: selected policies of one method on one data set under one cost scheme.
    """
    found: list[tuple[int, NDArray[np.float64]]] = []
    for name, policy in chosen[["name", "policy"]].itertuples(index=False):
        told = records.infos[name].get("evaluations") or {"width": 1, "counts": []}
        counts = told["counts"][int(policy)] if int(policy) < len(told["counts"]) else None
        if counts and sum(counts):
            found.append((int(told["width"]), np.asarray(counts, dtype=np.float64) / sum(counts)))
    if not found:
        return None
    width = max(own for own, _ in found)
    tables = [_merged(shares, width // own) for own, shares in found]
    shares = np.zeros(max(len(table) for table in tables))
    for table in tables:
        shares[: len(table)] += table / len(tables)
    column = "test.mean-base-models"
    mean = float(chosen[column].mean()) if column in chosen else None
    return Spread(width, shares, mean, len(found))


def _merged(shares: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """Bars that are so many times as wide."""
    return np.asarray(np.add.reduceat(shares, np.arange(0, len(shares), times)))
