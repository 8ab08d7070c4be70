"""Substitutes for the audit: for every value of every row another one of its feature, chosen to be noticed.

First round: a random row's value that differs, from inside the range, so that the batch's largest and smallest value,
mean and median change as well. Second: the end of the range that is farther away. Third: any other row's value that
differs. Fourth: one end of the range for every row. And so on. A feature of two values has them swapped in the odd
rounds and one of them everywhere in the even ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["substitutes"]


def substitutes(
    X: NDArray[np.float64],
    feature_of_column: NDArray[np.int64],
    others: NDArray[np.float64],
    rng: np.random.Generator,
    rounds: int,
) -> tuple[NDArray[np.float64], ...]:
    """One table of other values a round.

    Args:
        X: float64 (rows, columns): the values to be replaced.
        feature_of_column: int64 (columns,), ascending. The columns of a feature are replaced together, by a
            combination that some row has.
        others: float64 (m, columns): further rows to take values from, for when the rows are few or all equal.
        rng: where the random choices come from.
        rounds: how many.

    Returns:
        float64 (rows, columns) each. A value stays itself only where the feature has no other.
    """
    tables = tuple(np.array(X, order="C") for _ in range(rounds))
    if not rounds or not len(X):
        return tables
    starts = np.flatnonzero(np.diff(feature_of_column, prepend=-1))
    stops = np.append(starts[1:], len(feature_of_column))
    alone = stops - starts == 1
    varied = np.logical_or.reduceat((X[0] != X).any(axis=0), starts)
    enough = varied & (len(X) >= _ENOUGH_ROWS)

    def with_pool(columns: Any, own_is_enough: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        own = X[:, columns]
        return own, own if own_is_enough else np.concatenate([own, others[:, columns]])

    for own_is_enough in (True, False):
        for chunk in _chunks(starts[alone & (enough == own_is_enough)], len(X) + len(others)):
            _substitute_columns(*with_pool(chunk, own_is_enough), rng, tables, chunk)
    for feature in np.flatnonzero(~alone):
        columns = slice(starts[feature], stops[feature])
        own, pool = with_pool(columns, bool(enough[feature]))
        _substitute_block(own, pool, rng, tables, int(starts[feature]))
    return tables


_ENOUGH_ROWS = 50


_MOST_CELLS = 2**20


def _chunks(columns: Any, rows: int) -> Iterator[NDArray[np.int64]]:
    """Columns in pieces of at most `_MOST_CELLS` values."""
    step = max(1, _MOST_CELLS // max(rows, 1))
    for first in range(0, len(columns), step):
        yield np.asarray(columns[first : first + step], dtype=np.int64)


def _substitute_columns(
    own: NDArray[np.float64],
    pool: NDArray[np.float64],
    rng: np.random.Generator,
    tables: tuple[NDArray[np.float64], ...],
    columns: NDArray[np.int64],
) -> None:
    """Other values for the rows of one-column features, where there are others.

    Args:
        own: float64 (rows, features).
        pool: float64 (values, features): where values are taken from; its first rows are ``own``.
        rng, tables: as in `substitutes`.
        columns: int64 (features,): where in ``tables`` they belong.
    """
    ordered, low, equal = _ranked(pool, len(own))
    able = equal < len(ordered)
    # The ends of the range are numbers where there are any; NaN stands in only for the sole number.
    numbers = len(ordered) - np.isnan(ordered).sum(axis=0)
    least, most = ordered[0], ordered[np.maximum(numbers, 1) - 1, np.arange(len(numbers))]
    two_levels = ((ordered == least) | (ordered == most)).sum(axis=0) == numbers
    for number, target in enumerate(tables):
        if number % 2 == 0:
            chosen = _drawn(own, ordered, low, equal, rng, inner=number % 4 == 0)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                chosen = np.where(own - least > most - own, least, most)
            one_end = np.where(rng.random(len(least)) < 0.5, least, most)
            chosen = np.where((number % 4 == 3) | two_levels, one_end, chosen)
            chosen = np.where(least == most, np.where(own == least, np.nan, least), chosen)
        target[:, columns] = np.where(able, chosen, own)


def _ranked(pool: NDArray[np.float64], rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Each column sorted (NaN last), and for its first so many values where equal ones begin, and how many they are."""
    order = np.argsort(pool, axis=0)
    ordered = np.take_along_axis(pool, order, axis=0)
    missing = np.isnan(ordered)
    begins = np.ones((len(pool) + 1, pool.shape[1]), dtype=bool)
    begins[1:-1] = (ordered[1:] != ordered[:-1]) & ~(missing[1:] & missing[:-1])
    places = np.arange(len(pool) + 1)[:, None]
    first = np.maximum.accumulate(np.where(begins[:-1], places[:-1], 0), axis=0)
    after = np.minimum.accumulate(np.where(begins[1:], places[1:], len(pool))[::-1], axis=0)[::-1]
    low, equal = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(low, order, first, axis=0)
    np.put_along_axis(equal, order, after - first, axis=0)
    return ordered, low[:rows], equal[:rows]


def _drawn(
    own: NDArray[np.float64],
    ordered: NDArray[np.float64],
    low: NDArray[np.int64],
    equal: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    inner: bool,
) -> NDArray[np.float64]:
    """A random one of the ordered values for every row, never its own; inside the rows' range where possible.

    Without the ends of the range, the batch's largest and smallest value must change too.
    """
    start: Any = 0
    stop: Any = len(ordered)
    if inner:
        first = (ordered <= np.fmin.reduce(own, axis=0)).sum(axis=0)
        last = (ordered < np.fmax.reduce(own, axis=0)).sum(axis=0)
        within = np.where((low >= first) & (low < last), equal, 0)
        possible = last - first > within
        start, stop = np.where(possible, first, start), np.where(possible, last, stop)
    skipped = np.where((low >= start) & (low < stop), equal, 0)
    draw = start + np.floor(rng.random(own.shape) * (stop - start - skipped)).astype(np.int64)
    donor = np.where((draw < low) | (skipped == 0), draw, draw + equal)
    drawn: NDArray[np.float64] = np.take_along_axis(ordered, np.minimum(donor, len(ordered) - 1), axis=0)
    return drawn


def _substitute_block(
    own: NDArray[np.float64],
    pool: NDArray[np.float64],
    rng: np.random.Generator,
    tables: tuple[NDArray[np.float64], ...],
    start: int,
) -> None:
    """The same for a feature of several columns: whole blocks of another row, different ones where they exist."""
    levels, codes = np.unique(np.concatenate([own, pool]), axis=0, return_inverse=True)
    numbers = np.asarray(codes, dtype=np.float64).reshape(-1)
    work: tuple[NDArray[Any], ...] = tuple(np.empty((len(own), 1)) for _ in tables)
    for column in work:
        column[:, 0] = numbers[: len(own)]
    pool_codes = numbers[len(own) :]
    _substitute_columns(pool_codes[: len(own), None], pool_codes[:, None], rng, work, np.zeros(1, dtype=np.int64))
    for target, column in zip(tables, work, strict=True):
        target[:, start : start + own.shape[1]] = levels[column[:, 0].astype(np.int64)]
