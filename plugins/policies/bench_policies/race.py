"""Race methods on a table: time them on a sample, then compare them split by split and drop the worse ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bench_core import Dataset, Method
from bench_policies.goals import Goal, Judged, judge
from bench_policies.measuring import corrected_half_width
from bench_policies.trials import Bench

__all__ = ["BUDGET_SHARES", "Candidate", "race", "time_on_sample"]

BUDGET_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Budgets of the trade-off curve, as shares of what all features cost."""

_SAMPLE = 300
_LEAST_KEPT = 4
_SAMPLE_SHARE, _LEAST_SECONDS, _MOST_SHARES, _LOADING = 0.1, 3.0, 4.0, 20.0
"""The time limit of a method on the sample: this share of the total time, at least so many seconds, at most so many
times an equal share of the time left; and the seconds allowed in addition for loading and compiling."""


@dataclass
class Candidate:
    """A method of the portfolio, and its results so far.

    Attributes:
        name, method: the method and its name.
        seconds: time of the longest fit, or of the fit on the sample before any other.
        status: ``tried``, ``dropped``, ``failed``, ``left out`` or ``cannot`` (it does not apply).
        why: the reason for the status; empty if tried.
        values: the goal's value on the validation part, by split.
        met: whether the goal was met on the validation part, by split.
        least: mean cost of the cheapest policy on the validation part, by split.
        chosen: quality and cost of the chosen policy on the test part, by split.
        curve: budget share → quality and cost, on the test part, of the best policy within that budget, by split.
    """

    name: str
    method: Method
    seconds: float = 0.0
    status: str = "tried"
    why: str = ""
    values: list[float] = field(default_factory=list)
    met: list[bool] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    chosen: list[Judged] = field(default_factory=list)
    curve: dict[float, list[Judged]] = field(default_factory=dict)

    def stop(self, status: str, why: str) -> None:
        """Take the method out of the race."""
        self.status, self.why = status, why


def time_on_sample(
    portfolio: list[Candidate], bench: Bench, start: float, seconds: float, progress: Callable[[str], None]
) -> None:
    """Fit every method on a sample of rows, to find failing methods early and to sort the portfolio by time.

    Args:
        portfolio: the methods; their status and seconds are updated, and the list is sorted, quickest first.
        bench: the data and protocol.
        start: start of the recommendation, in seconds of the monotonic clock.
        seconds: the total time, of which half may be used here.
        progress: called with a line after every fit.
    """
    dataset = bench.dataset
    if dataset.n_rows > 2 * _SAMPLE:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.permutation(dataset.n_rows)[:_SAMPLE])
        try:
            dataset = Dataset(
                dataset.name, dataset.task, dataset.values[rows], dataset.feature_names, dataset.target[rows],
                dataset.classes, dataset.categorical, dataset.categories,
                None if dataset.sizes is None else dataset.sizes[rows],
            )  # fmt: skip
        except Exception:  # a rare class is missing from the sample
            dataset = bench.dataset
    sample = replace(bench, dataset=dataset, _prepared={})
    end = start + seconds / 2
    waiting = [candidate for candidate in portfolio if candidate.status == "tried"]
    for number, candidate in enumerate(waiting):
        left = end - time.monotonic()
        if left <= 0:
            candidate.stop("left out", "the time limit was reached before it was tried")
            continue
        fair = _MOST_SHARES * left / (len(waiting) - number)
        limit = min(max(min(_SAMPLE_SHARE * seconds, fair), _LEAST_SECONDS), left)
        until = min(end, time.monotonic() + limit + _LOADING)
        thresholds = sample.thresholds(candidate.method)
        tried = sample.run(candidate.name, candidate.method, 0, thresholds[0], limit=limit, until=until)
        candidate.seconds = tried.seconds * len(thresholds)
        if tried.late:
            candidate.stop("left out", f"it takes longer than {limit:.1f} s on {dataset.n_rows} rows")
        elif tried.error:
            candidate.stop("failed", tried.error)
        progress(f"{candidate.name}: {candidate.why or f'{tried.seconds:.1f} s on {dataset.n_rows} rows'}")
    portfolio.sort(key=lambda candidate: (candidate.seconds, candidate.name))


def race(
    portfolio: list[Candidate],
    bench: Bench,
    goal: Goal,
    splits: int,
    end: float,
    full: float,
    progress: Callable[[str], None],
) -> int:
    """Run the methods split by split, and drop the worse ones after each split.

    Args:
        portfolio: the methods, quickest first, which are updated with their results.
        bench: the data and protocol.
        goal: the goal.
        splits: the largest number of splits.
        end: time on the monotonic clock at which a running method is stopped.
        full: mean cost of all features together.
        progress: called with a line after every fit.

    Returns:
        The number of splits that were made.
    """
    splits_done = 0
    for seed in range(1, splits + 1):
        running = [candidate for candidate in portfolio if candidate.status == "tried"]
        for candidate in running:
            if time.monotonic() + candidate.seconds > end and (splits_done or any(other.chosen for other in portfolio)):
                if len(candidate.chosen) < max(splits_done, 1):
                    candidate.stop("left out", f"a fit takes {candidate.seconds:.0f} s, longer than the time left")
                continue
            _try(candidate, bench, goal, seed, full, end)
            progress(f"split {seed}: {candidate.name}: {_result_text(candidate, goal, bench.dataset)}")
        if not any(len(candidate.chosen) >= seed for candidate in portfolio):
            break
        splits_done = seed
        _drop(portfolio, seed, bench)
        if time.monotonic() >= end:
            break
    return splits_done


def _try(candidate: Candidate, bench: Bench, goal: Goal, seed: int, full: float, end: float) -> None:
    tried = bench.run_all(candidate.name, candidate.method, seed, until=end)
    if tried.late:
        candidate.stop("left out", "it was stopped at the time limit")
        return
    if tried.error:
        candidate.stop("failed", tried.error)
        return
    # The time on the sample includes loading the plugin, so the first split replaces it.
    candidate.seconds = max(candidate.seconds, tried.seconds) if candidate.values else tried.seconds
    classes = bench.dataset.classes
    validation = [judge(outcome, classes, goal) for outcome in tried.validation]
    test = [judge(outcome, classes, goal) for outcome in tried.test]
    number = goal.choose(validation, len(tried.validation[0].y))
    candidate.values.append(goal.value(validation[number]))
    candidate.met.append(goal.met(validation[number]))
    candidate.least.append(min(judged.cost for judged in validation))
    candidate.chosen.append(test[number])
    for share in BUDGET_SHARES:
        within = Goal(budget=share * full)
        number = within.choose(validation, len(tried.validation[0].y))
        if within.met(validation[number]):
            candidate.curve.setdefault(share, []).append(test[number])


def _drop(portfolio: list[Candidate], splits_done: int, bench: Bench) -> None:
    """Drop the worse half after the first split; later, methods that are significantly worse than the best."""
    running = sorted(
        (candidate for candidate in portfolio if candidate.status == "tried" and len(candidate.values) >= splits_done),
        key=lambda candidate: -float(np.mean(candidate.values)),
    )
    if splits_done == 1:
        for candidate in running[max(_LEAST_KEPT, math.ceil(len(running) / 2)) :]:
            candidate.stop("dropped", "in the worse half on the first split")
        return
    for candidate in running[1:]:
        behind = np.array(running[0].values[:splits_done]) - np.array(candidate.values[:splits_done])
        half = corrected_half_width(behind.tolist(), bench.test_share)
        if float(behind.mean()) <= half:
            continue
        if any(running[0].met) and not any(candidate.met):
            candidate.stop("dropped", f"no policy met the goal on the validation parts of {splits_done} splits")
        else:
            candidate.stop("dropped", f"significantly worse than {running[0].name} on {splits_done} splits")


def _result_text(candidate: Candidate, goal: Goal, dataset: Dataset) -> str:
    if candidate.status == "failed":
        return f"failed: {candidate.why}"
    if candidate.status != "tried":
        return candidate.why
    last = candidate.chosen[-1]
    quality = f"{100 * last.quality:.1f} % right" if dataset.classes else f"squared error {-last.quality:.4g}"
    total = "" if goal.error_costs is None else f", {last.total:.4g} with errors"
    return f"{quality} at a mean cost of {last.cost:.4g}{total}"
