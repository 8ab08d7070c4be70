"""The race of methods on a table: timed on a sample, then split after split, until what is behind is dropped."""

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
_LOOK, _LEAST_LOOK, _MOST_SHARES, _LOADING = 0.1, 3.0, 4.0, 20.0
"""What a method may take on the sample: a share of the whole time and no more than a few times what is left for each of
those that are still to be tried, but at least so many seconds; and what loading and compiling may take beside."""


@dataclass
class Candidate:
    """A method of the portfolio.

    Attributes:
        name, method: what is tried.
        seconds: longest fit, or that of the sample.
        status: ``tried``, ``dropped``, ``failed``, ``left out`` or ``cannot``.
        why: of the status.
        values: the goal's value on the validation part, by split.
        met: whether the goal was met there, by split.
        least: mean cost of its cheapest policy there, by split.
        chosen: what the policy chosen on validation achieves on the test part, by split.
        curve: by budget share, the same for the policy of best quality within the budget, by split.
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
        """Take it out of the race."""
        self.status, self.why = status, why


def time_on_sample(
    portfolio: list[Candidate], bench: Bench, start: float, seconds: float, progress: Callable[[str], None]
) -> None:
    """Fit every method on a few rows: what fails there fails soon, and the quick ones go first."""
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
            candidate.stop("left out", "no time was left to try it")
            continue
        fair = _MOST_SHARES * left / (len(waiting) - number)
        limit = min(max(min(_LOOK * seconds, fair), _LEAST_LOOK), left)
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
    """Run the methods split by split, and stop what is behind.

    Args:
        portfolio: the methods, the quickest first; what comes of them is noted there.
        bench: the data and what runs a method on a split.
        goal: what is wanted.
        splits: most splits.
        end: the time, on the monotonic clock, at which a method that is at work is ended.
        full: what all features cost.
        progress: told a line after every fit.

    Returns:
        How many splits were made.
    """
    splits_done = 0
    for seed in range(1, splits + 1):
        running = [candidate for candidate in portfolio if candidate.status == "tried"]
        for candidate in running:
            if time.monotonic() + candidate.seconds > end and (splits_done or any(other.chosen for other in portfolio)):
                if len(candidate.chosen) < max(splits_done, 1):
                    candidate.stop("left out", f"a fit takes {candidate.seconds:.0f} s, and the time was up")
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
        candidate.stop("left out", "it was ended when the time was up")
        return
    if tried.error:
        candidate.stop("failed", tried.error)
        return
    # On the sample its plugin had to be loaded as well.
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
    """Stop what is behind: half of them after the first split, later what is surely worse than the best."""
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
            candidate.stop("dropped", f"no policy of it met the goal on the validation parts of {splits_done} splits")
        else:
            candidate.stop("dropped", f"worse than {running[0].name} on {splits_done} splits, by more than chance")


def _result_text(candidate: Candidate, goal: Goal, dataset: Dataset) -> str:
    if candidate.status == "failed":
        return f"failed: {candidate.why}"
    if candidate.status != "tried":
        return candidate.why
    last = candidate.chosen[-1]
    quality = f"{100 * last.quality:.1f} % right" if dataset.classes else f"squared error {-last.quality:.4g}"
    total = "" if goal.error_costs is None else f", {last.total:.4g} with errors"
    return f"{quality} at a mean cost of {last.cost:.4g}{total}"
