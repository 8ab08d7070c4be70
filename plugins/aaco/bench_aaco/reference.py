"""The look-ahead in plain Python: the reference implementation of the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_aaco.oracle import Look, Oracle

__all__ = ["acquire_plain"]


def _columns(look: Look, features: list[int]) -> list[int]:
    return [c for f in features for c in range(look.start[f], look.start[f + 1])]


def _price(look: Look, features: list[int]) -> float:
    groups = {int(look.group[f]) for f in features} - {-1}
    return sum(float(look.own[f]) for f in features) + sum(float(look.group_price[g]) for g in groups)


def _mean_loss(look: Look, rows: list[int], features: list[int]) -> float:
    losses = []
    for row in rows:
        logs = look.prior + sum((look.table[look.codes[row, c]] for c in _columns(look, features)), np.zeros(1))
        shares = np.exp(logs - logs.max())
        losses.append(-float(np.log(shares[look.y[row]] / shares.sum())))
    return float(np.mean(losses))


def _distance(look: Look, z: NDArray[np.float64], row: int, known: list[int]) -> float:
    total = 0.0
    for f in known:
        columns = _columns(look, [f])
        for c in columns:
            a, b = z[c], look.Z[row, c]
            gap = a - b if not (np.isnan(a) or np.isnan(b)) else float(np.isnan(a) != np.isnan(b))
            total += gap * gap / len(columns)
    return total


def acquire_plain(oracle: Oracle, lambda_: float, neighbours: int, z: NDArray[np.float64]) -> list[int]:
    """Features that one row acquires, in order.

    Args:
        oracle: the fitted look-ahead.
        lambda_: trade-off λ.
        neighbours: number k of nearest training rows.
        z: float64 (columns,), the row's standardised values.
    """
    look, known = oracle.look, list[int]()
    sets = np.split(look.members, look.member_start[1:-1])
    while True:
        rows = list(range(len(look.y)))
        if known:
            rows = sorted(rows, key=lambda row: (_distance(look, z, row, known), row))[:neighbours]
        best, least = None, _mean_loss(look, rows, known)
        for subset in sets:
            union = [*known, *(int(f) for f in subset if f not in known)]
            if len(union) == len(known):
                continue
            price = _price(look, union) - _price(look, known)
            value = _mean_loss(look, rows, union) + lambda_ * price
            if value < least - 1e-12:
                best, least = union[len(known) :], value
        if best is None:
            return known
        known.append(min(best, key=lambda f: (round(_price(look, [*known, f]) - _price(look, known), 12), f)))
