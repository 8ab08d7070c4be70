"""Which of two methods is better on one data set: the corrected resampled t-test.

The same random splits serve both methods, and the splits overlap, so the differences by seed are not independent, and
a plain paired test rejects too often. The corrected test (Nadeau & Bengio 2003) adds the ratio of test rows to the
rows learnt from to the variance of the mean; with a given split that ratio is 0, and it is the paired t-test. Its
variance is that of the intervals beside the means (`bench_analysis.summary`). It is not corrected for the number of
rows: with such a correction, it could fail to distinguish two rows whose 95 % intervals are disjoint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_analysis.summary import moments

__all__ = ["ALPHA", "corrected_resampled_t"]

ALPHA = 0.05
"""The level of every test."""


def corrected_resampled_t(differences: NDArray[np.float64], overlap: float) -> float:
    """Two-sided p-value of the corrected resampled t-test (Nadeau & Bengio 2003, §4.1).

    The variance of the mean of J differences is taken as (1/J + n_test/n_learn) · s² instead of s²/J.

    Args:
        differences: (J,), one per split.
        overlap: test rows over rows learnt from, 0 for a given split; see `bench_analysis.summary.overlap`.

    Returns:
        The p-value; NaN for fewer than two differences; 1 when all are zero, 0 when all are equal and not zero.
    """
    count = len(differences)
    if count < 2:
        return float("nan")
    mean, variance = moments(differences)
    if variance <= (1e-12 * mean) ** 2:
        return 1.0 if mean == 0 else 0.0
    from scipy.special import stdtr

    t = mean / (variance * (1 / count + overlap)) ** 0.5
    return float(2 * stdtr(count - 1, -abs(t)))
