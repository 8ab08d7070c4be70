"""Fit every method on a sample of the rows, to find those that fail or are slow before the race."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from bench_policies.goals import Goal
from bench_policies.trials import Bench, Tried

from bench_core import Dataset
from bench_recommend.race import Candidate, each, is_default, judged_on

__all__ = ["time_on_sample"]

_SAMPLE = 300
_KEPT_ON_SAMPLE = 12
_SAMPLE_SHARE, _LEAST_SECONDS, _MOST_SHARES, _LOADING = 0.1, 3.0, 4.0, 20.0
"""Limits of a method's time on the sample: a share of the total time; the least limit, in seconds; a multiple of an
equal share of the time left; and the seconds that are added for loading and compiling."""
_TIME_ON_SAMPLE = 0.35
"""The share of the total time that all methods together may take on the sample."""
_ENOUGH = 3
"""With fewer methods that finished on the sample, those that were not tried on it run on the splits nevertheless."""


def time_on_sample(
    portfolio: list[Candidate], bench: Bench, goal: Goal, start: float, seconds: float, progress: Callable[[str], None]
) -> Bench:
    """Fit every method on a sample of rows; stop failing, slow and poor methods, and sort the others, best first.

    The default method is not fitted here; see `bench_recommend.race.race`.

    Args:
        portfolio: the methods, most promising first; their status and seconds are updated, and the list is sorted.
        bench: the data and protocol.
        goal: the goal.
        start: start of the recommendation, in seconds of the monotonic clock.
        seconds: the total time, of which a third may be used here.
        progress: called with a line after every fit.

    Returns:
        The sample and the protocol.
    """
    sample = replace(bench, dataset=_sample_of(bench.dataset, _SAMPLE), _prepared={})
    rows = sample.dataset.n_rows
    sample.prepared(0)
    end = start + _TIME_ON_SAMPLE * seconds
    waiting = [one for one in portfolio if one.status == "tried" and not (is_default(one) and len(portfolio) > 1)]

    def fit(at: tuple[int, Candidate]) -> tuple[Tried | None, float]:
        number, candidate = at
        left = end - time.monotonic()
        if left <= 0:
            return None, 0.0
        fair = _MOST_SHARES * left * bench.jobs / (len(waiting) - number)
        limit = min(max(min(_SAMPLE_SHARE * seconds, fair), _LEAST_SECONDS), left)
        until = min(end, time.monotonic() + limit + _LOADING)
        threshold = sample.thresholds(candidate.method)[-1]
        return sample.run(candidate.use, candidate.method, 0, threshold, limit=limit, until=until), limit

    for candidate, (tried, limit) in each(fit, list(enumerate(waiting)), bench.jobs):
        if tried is None:
            continue
        candidate.seconds = tried.seconds * len(sample.thresholds(candidate.method))
        if tried.late:
            candidate.stop("left out", f"it takes longer than {limit:.1f} s on {rows} rows")
        elif tried.error:
            candidate.stop("failed", tried.error)
        else:
            _, decision, _ = judged_on(tried, goal, bench.dataset.classes)
            candidate.on_sample, candidate.sampled = decision[0], tried
        progress(f"{candidate.name}: {candidate.why or f'{tried.seconds:.1f} s on {rows} rows'}")
    portfolio.sort(key=lambda one: (not is_default(one), -one.on_sample))  # equals stay in their order
    unreached = [one for one in waiting if one.status == "tried" and one.sampled is None]
    running = [one for one in portfolio if one.status == "tried" and one not in unreached]
    if len(running) >= _ENOUGH:
        for candidate in unreached:
            candidate.stop("left out", f"{100 * _TIME_ON_SAMPLE:.0f} % of the time had passed before it was tried")
    for candidate in running[max(_KEPT_ON_SAMPLE, math.ceil(len(running) / 2)) :]:
        candidate.stop("dropped", "in the worse half on the sample")
    return sample


def _sample_of(dataset: Dataset, count: int) -> Dataset:
    """Return ``count`` random rows; the table itself if it has too few for a sample, or the sample lacks a class."""
    if dataset.n_rows <= 2 * count:
        return dataset
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(dataset.n_rows)[:count])
    try:
        return Dataset(
            dataset.name, dataset.task, dataset.values[rows], dataset.feature_names, dataset.target[rows],
            dataset.classes, dataset.categorical, dataset.categories,
            None if dataset.sizes is None else dataset.sizes[rows],
        )  # fmt: skip
    except Exception:  # a rare class is missing from the sample
        return dataset
