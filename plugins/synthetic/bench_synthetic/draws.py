"""Random numbers that are identical bit for bit on every machine.

A data set's content hash is part of its trials' names, so no bit of generated data may depend on the processor, its
vector units, the linear algebra library, the number of threads or a library's version. All numbers are computed from
the raw 64-bit words of PCG64, whose stream is fixed by the seed, with +, −, ·, / and square roots of single elements,
which IEEE 754 defines to the last bit. This module uses neither NumPy's distributions (their streams may change), nor
logarithms and exponentials of libm or vectorised ones (their last bits differ), nor ``@``, ``dot`` and ``einsum``
(kernels differ in order and in fused multiply-adds), nor sums along an axis (their order depends on layout and width).
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Draws", "exact_exp", "normal_quantile", "on_grid", "orthonormal", "product"]

Table = NDArray[np.float64]

_LN_2 = 0.6931471805599453
_ROOT_HALF = 0.7071067811865476

# Wichura 1988, AS 241, PPND16: numerator and denominator of each of three ranges, constant first.
_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


class Draws:
    """A seeded source of random numbers.

    Args:
        *seed: integers from 0; different integers give independent sources.
    """

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(list(seed)))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next raw words, uint64 (count,)."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    def uniform(self, *shape: int) -> Table:
        """Return uniform variates on [0, 1), float64 of the given shape, multiples of 2⁻⁵³ filled in C order."""
        words = self.words(int(np.prod(shape)))
        return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)

    def normal(self, *shape: int) -> Table:
        """Return standard normal variates, float64 of the given shape, by the quantile function, filled in C order."""
        # Odd multiples of 2⁻⁵³ are symmetric about 1/2, and never 0 or 1.
        words = self.words(int(np.prod(shape)))
        return normal_quantile(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52).reshape(shape)

    def integers(self, low: int, high: int, count: int) -> NDArray[np.int64]:
        """Return uniform integers from ``low`` to ``high``, both included, int64 (count,)."""
        return low + np.floor(self.uniform(count) * float(high - low + 1)).astype(np.int64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Return 0 … count − 1 in random order, int64 (count,)."""
        return np.argsort(self.words(count), kind="stable").astype(np.int64)

    def corners(self, count: int, dimensions: int) -> Table:
        """Return distinct corners of the unit cube, float64 (count, dimensions) of 0 and 1.

        Args:
            count: number of corners, at most 2**dimensions.
            dimensions: dimension of the cube.
        """
        leading = min(dimensions, 62)
        if 2**leading <= 4 * count:
            chosen = self.permutation(2**leading)[:count].tolist()
        else:
            corners: dict[int, None] = {}
            while len(corners) < count:
                corners.setdefault(int(self.words(1)[0]) >> (64 - leading))
            chosen = list(corners)
        bits = np.array([[code >> place & 1 for place in range(leading)] for code in chosen], dtype=np.float64)
        others = self.integers(0, 1, count * (dimensions - leading)).reshape(count, -1)
        return np.hstack([bits, others.astype(np.float64)])


def normal_quantile(p: Table) -> Table:
    """Return the standard normal quantiles of probabilities, to about 16 digits.

    Source: Wichura 1988, Algorithm AS 241: The Percentage Points of the Normal Distribution, PPND16.

    Args:
        p: float64 (n,), strictly between 0 and 1; or of any other shape.
    """
    q = p - 0.5
    central = np.abs(q) <= 0.425
    out = np.empty_like(q)
    middle = q[central]
    out[central] = middle * _ratio(_CENTRE, 0.180625 - middle * middle)
    outer = q[~central]
    r = np.sqrt(-_log(np.where(outer < 0, p[~central], 1.0 - p[~central])))
    size = np.where(r <= 5.0, _ratio(_TAIL, r - 1.6), _ratio(_FAR_TAIL, r - 5.0))
    out[~central] = np.where(outer < 0, -size, size)
    return out


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Table) -> Table:
    above, below = (_horner(part, x) for part in coefficients)
    return above / below


def _horner(coefficients: tuple[float, ...], x: Table) -> Table:
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def _log(x: Table) -> Table:
    """Return the natural logarithm: the exponent times ln 2, plus the atanh series of the mantissa."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < _ROOT_HALF
    mantissa = np.where(low, 2.0 * mantissa, mantissa)
    power = exponent.astype(np.float64) - low
    s = (mantissa - 1.0) / (mantissa + 1.0)
    series = _horner(tuple(1.0 / (2 * k + 1) for k in range(13)), s * s)
    return power * _LN_2 + 2.0 * s * series


def exact_exp(x: float) -> float:
    """Return the exponential of a number, correctly rounded, by decimal arithmetic, which does not use libm."""
    return float(Decimal(x).exp())


def product(left: Table, right: Table) -> Table:
    """Return the matrix product (n, m) · (m, k), float64 (n, k), with terms added in the order of the inner index."""
    total = np.zeros((left.shape[0], right.shape[1]))
    for inner in range(left.shape[1]):
        total = total + left[:, inner, None] * right[None, inner, :]
    return total


def orthonormal(table: Table) -> Table:
    """Return an orthonormal basis of the columns of a float64 (n, k) table, n ≥ k, by Gram–Schmidt applied twice."""
    columns = np.array(table.T, order="C")
    for j in range(len(columns)):
        for _ in range(2):
            overlap = _sums(columns[:j] * columns[j])
            for i in range(j):
                columns[j] = columns[j] - overlap[i] * columns[i]
        columns[j] = columns[j] / np.sqrt(_sums(columns[j : j + 1] * columns[j])[0])
    return columns.T


def _sums(rows: Table) -> Table:
    """Return the sum of each row, by repeatedly adding the second half to the first until one column is left."""
    while rows.shape[1] > 1:
        half = (rows.shape[1] + 1) // 2
        folded = rows[:, :half].copy()
        folded[:, : rows.shape[1] - half] += rows[:, half:]
        rows = folded
    return rows[:, 0]


def on_grid(values: Table) -> Table:
    """Round values to multiples of 2⁻³⁰ (about 1e-9), with 0 instead of −0."""
    return np.rint(values * 2.0**30) * 2.0**-30 + 0.0
