"""Binned rows packed for the compiled grower: row by row, with mutually exclusive binary columns in one lane.

Binary columns share a lane if no row has more than one of them in its upper bin, as one-hot columns do. The lane's code
says which column is in its upper bin; 0 means none. One histogram of the lane then serves all its columns: the lower
bin of a column is the node's total minus its upper bin. This is exact because sums over rows are exact
(`tree.summable`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "pack"]

_MOST_IN_LANE = 255
_LANES_TRIED = 32


@dataclass(frozen=True, eq=False)
class Packed:
    """Binned rows for building histograms; a *place* is an entry of the histogram over all lanes.

    Attributes:
        codes: uint8 (rows, lanes), each row contiguous.
        starts: int64 (lanes,): place of each lane's code 0.
        first: int64 (columns,): place of a column's lowest bin, or of its upper bin if it shares a lane; −1 for a
            constant column, which cannot be split.
        shares: bool (columns,): whether a column shares a lane.
        missing: bool (columns,): whether a column has missing values; their place follows that of its last bin.
        counts: float64 (places,): number of rows of each place.
    """

    codes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    shares: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    counts: NDArray[np.float64]


def pack(codes: NDArray[np.uint8], n_values: NDArray[np.int64]) -> Packed:
    """Pack binned columns.

    Args:
        codes: uint8 (columns, rows): bins, ``n_values[column]`` for a missing value.
        n_values: int64 (columns,): bins of each column.
    """
    columns, rows = codes.shape
    missing = np.array([bool((codes[c] == n_values[c]).any()) for c in range(columns)], dtype=bool)
    lanes: list[NDArray[np.uint8]] = []
    starts: list[int] = []
    first = np.full(columns, -1, dtype=np.int64)
    places = 0
    bundles = _bundles(codes, np.flatnonzero((n_values == 2) & ~missing))
    shares = np.zeros(columns, dtype=bool)
    for members in bundles:
        lane = np.zeros(rows, dtype=np.uint8)
        for code, column in enumerate(members, start=1):
            lane[codes[column] == 1] = code
            first[column] = places + code
        shares[members] = True
        lanes.append(lane)
        starts.append(places)
        places += len(members) + 1
    for column in range(columns):
        if shares[column] or (n_values[column] == 1 and not missing[column]):
            continue
        first[column] = places
        lanes.append(codes[column])
        starts.append(places)
        places += int(n_values[column]) + int(missing[column])
    table = np.ascontiguousarray(np.array(lanes, dtype=np.uint8).reshape(len(lanes), rows).T)
    where = np.array(starts, dtype=np.int64)
    counts = np.bincount((table + where).ravel(), minlength=places).astype(np.float64)
    return Packed(table, where, first, shares, missing, counts)


def _bundles(codes: NDArray[np.uint8], candidates: NDArray[np.int64]) -> list[list[int]]:
    """Greedy first-fit sets of at least two candidate columns whose upper bins have no row in common."""
    taken: list[NDArray[np.bool_]] = []
    sets: list[list[int]] = []
    for column in candidates:
        upper = codes[column] == 1
        for rows, members in zip(taken, sets, strict=True):
            if len(members) < _MOST_IN_LANE and not (rows & upper).any():
                rows |= upper
                members.append(int(column))
                break
        else:
            if len(sets) < _LANES_TRIED:
                taken.append(upper)
                sets.append([int(column)])
    return [members for members in sets if len(members) > 1]
