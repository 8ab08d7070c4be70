"""Compiled parts of the look-ahead: nearest training rows, and the best candidate set. Rows are independent."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["best_sets", "nearest_rows"]


@numba.njit(cache=True, nogil=True)
def nearest_rows(Z, known, references, feature_of_column, width, start, stop, found):  # type: ignore[no-untyped-def]
    """Write the nearest reference rows of rows ``start`` … ``stop − 1``, nearest first; ties by row number.

    Args:
        Z: float64 (rows, columns), standardised.
        known: bool (rows, features): distances are those in known features.
        references: float64 (columns, references), standardised.
        feature_of_column: int64 (columns,).
        width: float64 (features,): number of columns of each feature; they count as one together.
        start, stop: rows.
        found: int64 (rows, k), written; k is at most the number of references.
    """
    count = references.shape[1]
    distance = np.empty(count)
    for i in range(start, stop):
        distance[:] = 0.0
        for column in range(len(feature_of_column)):
            feature = feature_of_column[column]
            if not known[i, feature]:
                continue
            z, share = Z[i, column], 1.0 / width[feature]
            for n in range(count):
                gap = z - references[column, n]
                if gap != gap:  # two missing values have distance 0, a missing and a present one 1
                    gap = 0.0 if z != z and references[column, n] != references[column, n] else 1.0
                distance[n] += gap * gap * share
        full = 0
        for n in range(count):
            if full == found.shape[1] and distance[n] >= distance[found[i, full - 1]]:
                continue
            at = full if full < found.shape[1] else full - 1
            while at > 0 and distance[found[i, at - 1]] > distance[n]:
                found[i, at] = found[i, at - 1]
                at -= 1
            found[i, at] = n
            full = min(full + 1, found.shape[1])


@numba.njit(cache=True, nogil=True)
def best_sets(losses, known, member, own, group, group_price, lambda_, best):  # type: ignore[no-untyped-def]
    """Write each row's set of least loss plus λ · price; −1 for the empty set. Ties go to it, then to the first set.

    Args:
        losses: float64 (rows, 1 + sets): first the loss with the known features only.
        known: bool (rows, features).
        member: bool (sets, features).
        own, group, group_price: prices, see `bench_aaco.oracle.Prices`.
        lambda_: trade-off λ.
        best: int64 (rows,), written.
    """
    opened = np.empty(len(group_price), dtype=np.bool_)
    for i in range(len(losses)):
        least = losses[i, 0]
        best[i] = -1
        for s in range(len(member)):
            if losses[i, 1 + s] >= least:  # its price is at least 0
                continue
            opened[:] = False
            for f in range(len(own)):
                if known[i, f] and group[f] >= 0:
                    opened[group[f]] = True
            new, price = False, 0.0
            for f in range(len(own)):
                if member[s, f] and not known[i, f]:
                    new = True
                    price += own[f]
                    if group[f] >= 0 and not opened[group[f]]:
                        opened[group[f]] = True
                        price += group_price[group[f]]
            value = losses[i, 1 + s] + lambda_ * price
            if new and value < least:
                least = value
                best[i] = s
