"""Ranks and tests over data sets, from scipy and scikit-posthocs; what each may be used for is decided here.

Which method is better across data sets? Data sets are independent: average ranks, Friedman, Nemenyi's critical
difference, and Wilcoxon's signed-rank test over the data sets' means (Demšar 2006). Tests are corrected by Holm's
procedure. Tables are float64 (data sets, methods), without holes.

Which of two methods is better on one data set is another question: `bench_analysis.corrected_resampled_t`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from bench_analysis import ALPHA
from numpy.typing import NDArray

__all__ = [
    "FEW_DATA_SETS",
    "WILCOXON_NEEDS",
    "Friedman",
    "average_ranks",
    "critical_difference",
    "friedman",
    "holm",
    "nemenyi",
    "wilcoxon",
    "wilcoxon_holm",
]

FEW_DATA_SETS = 10
"""With fewer data sets a page says that power is low: Friedman's χ² approximation needs more than ten of them
(Demšar 2006, §3.2.2), and a critical difference is then wider than half of the ranks' range."""

WILCOXON_NEEDS = 6
"""With five data sets the signed-rank test's smallest two-sided p-value is 2/2⁵ > 0.05, so it needs six."""

_EXACT_WILCOXON = 50
"""The most differences for which the signed-rank test is exact: scipy's limit without ties."""

_DIGITS = 10
"""Digits of differences between means, counted from the first digit of the table's largest value."""

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all methods are equal.

    Attributes:
        statistic, p: χ² with the correction for ties, and its p-value (scipy).
        uncorrected: χ² from average ranks alone, as in Demšar (2006).
        f_statistic, f_p: Iman and Davenport's F of ``uncorrected``, and its p-value; infinite and 0 when every
            data set ranks alike.
    """

    statistic: float
    p: float
    uncorrected: float
    f_statistic: float
    f_p: float


def average_ranks(table: Table, goal: str) -> Table:
    """Mean rank of each method over data sets; 1 is best, equal values share the mean of their ranks.

    Args:
        table: (data sets, methods).
        goal: ``max`` or ``min``: which values are better.

    Raises:
        ValueError: the table has holes. Ranks are never imputed.
    """
    from scipy.stats import rankdata

    if not np.isfinite(table).all():
        raise ValueError("ranks need a value for every method on every data set")
    ranks: Table = rankdata(-table if goal == "max" else table, axis=1).mean(axis=0)
    return ranks


def critical_difference(methods: int, datasets: int, alpha: float = ALPHA) -> float:
    """Nemenyi's critical difference of average ranks: q(α, k, ∞)/√2 · √(k(k + 1)/6N).

    Args:
        methods: k, at least 2.
        datasets: N, at least 1.
        alpha: level of all comparisons together.

    Raises:
        ValueError: ``methods`` or ``datasets`` is too small.
    """
    from scipy.stats import studentized_range

    if methods < 2 or datasets < 1:
        raise ValueError("a critical difference needs at least two methods and a data set")
    q = float(studentized_range.ppf(1 - alpha, methods, np.inf)) / 2**0.5
    return float(q * (methods * (methods + 1) / (6 * datasets)) ** 0.5)


def friedman(table: Table) -> Friedman | None:
    """Friedman's test; None for fewer than three methods or two data sets, or when all values tie."""
    from scipy.stats import f, friedmanchisquare

    datasets, methods = table.shape
    if methods < 3 or datasets < 2 or (table == table[:, :1]).all():
        return None
    tested = friedmanchisquare(*table.T)
    ranks = average_ranks(table, "min")
    plain = 12 * datasets / (methods * (methods + 1)) * float((ranks**2).sum() - methods * (methods + 1) ** 2 / 4)
    rest = datasets * (methods - 1) - plain
    ratio = (datasets - 1) * plain / rest if rest > 1e-9 * plain else np.inf
    freedom = methods - 1
    p = float(f.sf(ratio, freedom, freedom * (datasets - 1)))
    return Friedman(float(tested.statistic), float(tested.pvalue), plain, float(ratio), p)


def nemenyi(table: Table) -> Table:
    """p-values of Nemenyi's all-pairs test, (methods, methods), from scikit-posthocs."""
    from scikit_posthocs import posthoc_nemenyi_friedman

    p: Table = np.asarray(posthoc_nemenyi_friedman(table), dtype=np.float64)
    return p


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected by Holm's step-down procedure, in the given order.

    The results equal those of statsmodels' ``multipletests(…, method="holm")``, as a test checks. That function runs
    the garbage collector at every call: half a second with 10,000 records in memory.
    """
    corrected = [0.0] * len(p_values)
    least = 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        least = max(least, min(1.0, (len(p_values) - step) * p_values[i]))
        corrected[i] = least
    return corrected


def wilcoxon(differences: Table) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; zeros are ranked, then left out (Pratt); 1 for all zero.

    Exact up to `_EXACT_WILCOXON` differences, ties or not: every rank is added or not with probability 1/2, and the
    distribution of their sum is a product of polynomials. scipy gives the same p-values up to 13 differences, but with
    ties it enumerates all 2ⁿ signs, too slow for a page of 60 methods (1,770 pairs, many columns). Above 13 it uses the
    normal distribution, as this function does above `_EXACT_WILCOXON`.

    Args:
        differences: float64 (data sets,).
    """
    if not len(differences) or not differences.any():
        return 1.0
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as test

    if len(differences) > _EXACT_WILCOXON:
        return float(test(differences, zero_method="pratt").pvalue)
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # twice the ranks, which may be halves
    ways = np.zeros(ranks[differences != 0].sum() + 1)
    ways[0] = 1
    for rank in ranks[differences != 0]:
        ways[rank:] = ways[rank:] + ways[:-rank]
    above = int(ranks[differences > 0].sum())
    tails = ways[: above + 1].sum(), ways[above:].sum()
    return min(1.0, 2 * float(min(tails) / ways.sum()))


def wilcoxon_holm(table: Table) -> dict[tuple[int, int], float]:
    """p-values over data sets of every pair of methods, by Wilcoxon's signed-rank test, corrected by Holm.

    Differences that are equal up to rounding errors tie, and those that are zero up to rounding errors are zero.
    """
    pairs = list(combinations(range(table.shape[1]), 2))
    # Means are rounded to 12 digits, so the last two digits of their differences are rounding errors.
    places = _DIGITS - math.ceil(math.log10(float(np.abs(table).max(initial=0.0)) or 1.0))
    corrected = holm([wilcoxon(np.round(table[:, a] - table[:, b], places)) for a, b in pairs])
    return dict(zip(pairs, corrected, strict=True))
