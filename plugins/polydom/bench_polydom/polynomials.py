"""Prices as polynomials of the item's size: their crossings, and dominance of one over another.

A polynomial is a row of coefficients, lowest power first. Prices have non-negative coefficients, so the error of
evaluating the difference of two prices is a rounding error of the prices themselves. Only sign changes count as
crossings: curves that touch or coincide do not cross. If rounding turns a touch into two crossings, or hides one, the
costs differ there by a rounding error only, which `AFFORDABLE` absorbs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AFFORDABLE", "MAX_SIZE", "checked_prices", "crossings", "evaluate", "never_below"]

MAX_SIZE = 1e18
"""Largest item size; crossings beyond it are ignored."""

AFFORDABLE = 1.0 + 1e-12
"""A cost is within a budget if it is at most budget × this factor, which allows for rounding of sums of prices."""


def checked_prices(prices: Any) -> NDArray[np.float64]:
    """Prices as float64 (features, degree + 1), lowest power first.

    Args:
        prices: a list of numbers (constant prices) or of coefficient lists, which may differ in length.

    Raises:
        ValueError: a price is neither a number nor a list of numbers, or a coefficient is negative, NaN or infinite;
            the message gives the index of the price.
    """
    rows = []
    for i, price in enumerate(prices):
        try:
            row = np.atleast_1d(np.asarray(price, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"price {i} must be a number or a list of coefficients, not {price!r}") from None
        if row.ndim != 1 or not len(row):
            raise ValueError(f"price {i} must be a number or a list of coefficients, not {price!r}")
        if not (np.isfinite(row) & (row >= 0)).all():
            raise ValueError(f"price {i} must have finite coefficients that are not negative, not {row.tolist()}")
        rows.append(row)
    table = np.zeros((len(rows), max((len(row) for row in rows), default=1)))
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def evaluate(polynomials: NDArray[np.float64], size: Any) -> NDArray[np.float64]:
    """Values of polynomials by Horner's rule: float64 (m,).

    Args:
        polynomials: float64 (m, degree + 1).
        size: one size for all, or one for each (m,).
    """
    value = polynomials[:, -1].copy() if np.ndim(size) == 0 else polynomials[:, -1] + 0.0 * np.asarray(size)
    for power in range(polynomials.shape[1] - 2, -1, -1):
        value *= size
        value += polynomials[:, power]
    return value


def crossings(
    differences: NDArray[np.float64],
    low: NDArray[np.float64] | float = 0.0,
    high: NDArray[np.float64] | float = MAX_SIZE,
) -> NDArray[np.float64]:
    """Sizes at which polynomials change sign, strictly between two ends.

    Args:
        differences: float64 (m, degree + 1).
        low: lower end of the open interval, one for all or one each (m,).
        high: upper end, likewise.

    Returns:
        float64 (m, degree): the sizes in ascending order, padded with NaN. A touch without a sign change does not
        count, nor does a sign change at an end.
    """
    m = len(differences)
    table = np.ascontiguousarray(differences, dtype=np.float64)
    while table.shape[1] > 1 and not table[:, -1].any():
        table = table[:, :-1]
    degree = table.shape[1] - 1
    left = np.broadcast_to(np.asarray(low, dtype=np.float64), (m,))
    right = np.broadcast_to(np.asarray(high, dtype=np.float64), (m,))
    places = np.full((m, max(differences.shape[1] - 1, 0)), np.nan)
    if degree == 0 or not m:
        return places
    if degree == 1:
        roots = _linear(table[:, 0], table[:, 1])[:, None]
    elif degree == 2:
        roots = _quadratic(table)
    else:
        roots = _by_derivative(table, left, right)
    with np.errstate(invalid="ignore"):
        roots = np.where((roots > left[:, None]) & (roots < right[:, None]), roots, np.nan)
    places[:, :degree] = np.sort(roots, axis=1)
    return places


def _linear(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root: NDArray[np.float64] = np.where(b != 0, -a / b, np.nan)
    return root


def _quadratic(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both simple real roots of c + b·n + a·n², without cancellation; a row with a = 0 is linear."""
    c, b, a = table.T
    scale = np.abs(table).max(axis=1)
    scale[scale == 0] = 1.0
    c, b, a = c / scale, b / scale, a / scale
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        discriminant = b * b - 4.0 * a * c
        # A touch within rounding is not a crossing.
        real = discriminant > 8e-16 * (b * b + np.abs(4.0 * a * c))
        q = -0.5 * (b + np.copysign(np.sqrt(np.where(real, discriminant, np.nan)), b))
        roots = np.stack([np.where(a != 0, q / a, np.nan), np.where(q != 0, c / q, np.nan)], axis=1)
        # c = 0: one root is 0, an end, which does not count; a = 0: q = −b, and c/q is the root of the linear equation.
    return roots


def _by_derivative(
    table: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sign changes for any degree, by bisection between neighbouring extrema, where a polynomial is monotone.

    Bisection halves the number of floats in the interval, so 64 steps reach neighbouring floats from any interval.
    """
    powers = np.arange(1, table.shape[1], dtype=np.float64)
    extrema = crossings(table[:, 1:] * powers, low, high)
    extrema = np.concatenate([extrema, np.full((len(table), table.shape[1] - 2 - extrema.shape[1]), np.nan)], 1)
    filled = np.where(np.isnan(extrema), high[:, None], extrema)
    ends = np.concatenate([low[:, None], filled, high[:, None]], axis=1)
    roots = np.full((len(table), table.shape[1] - 1), np.nan)
    signs = np.stack([_right_sign(table, ends[:, k]) if k == 0 else np.sign(evaluate(table, ends[:, k]))
                      for k in range(ends.shape[1])], axis=1)  # fmt: skip
    for k in range(1, signs.shape[1]):  # at an extremum of exactly 0, a touch, keep the previous sign
        signs[:, k] = np.where(signs[:, k] == 0, signs[:, k - 1], signs[:, k])
    for k in range(roots.shape[1]):
        change = (signs[:, k] * signs[:, k + 1] < 0) & (ends[:, k] < ends[:, k + 1])
        if change.any():
            roots[change, k] = _bisect(table[change], ends[change, k], ends[change, k + 1], signs[change, k])
    return roots


def _right_sign(table: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sign just to the right of a size: that of the value, or of the first derivative that is not 0 there."""
    sign = np.sign(evaluate(table, size))
    derivative = table
    while (sign == 0).any() and derivative.shape[1] > 1:
        derivative = derivative[:, 1:] * np.arange(1, derivative.shape[1], dtype=np.float64)
        sign = np.where(sign == 0, np.sign(evaluate(derivative, size)), sign)
    return sign


def _bisect(
    table: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], sign_low: NDArray[np.float64]
) -> NDArray[np.float64]:
    # Non-negative floats have the same order as their bit patterns.
    a, b = (low + 0.0).view(np.int64).copy(), (high + 0.0).view(np.int64).copy()
    for _ in range(64):
        middle = a + (b - a) // 2
        same = np.sign(evaluate(table, middle.view(np.float64))) == sign_low
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return b.view(np.float64)


def never_below(differences: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether polynomials (m, degree + 1) are ≥ 0 for every size ≥ 0; exact in the coefficients up to degree 2.

    Returns:
        bool (m,).
    """
    table = np.asarray(differences, dtype=np.float64)
    answer: NDArray[np.bool_] = np.asarray((table >= 0).all(axis=1))
    unsure = np.flatnonzero(~answer & (table[:, 0] >= 0))
    if table.shape[1] < 3 or not len(unsure):
        return answer
    some = table[unsure]
    if table.shape[1] == 3:
        c, b, a = some.T
        answer[unsure] = (a > 0) & (b * b <= 4.0 * a * c)
        return answer
    none = np.isnan(crossings(some)).all(axis=1)
    answer[unsure] = none & (_right_sign(some, np.zeros(len(some))) > 0)
    return answer
