"""Race methods on a table: compare them split by split and stop those that cannot win.

This is successive halving (Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter
optimization, 2016): the rungs are a sample of the rows, and one, two, three … random splits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np
from bench_policies.goals import Goal, Judged
from bench_policies.judging import judge, row_values
from bench_policies.measuring import corrected_half_width
from bench_policies.trials import Bench, Tried
from numpy.typing import NDArray

from bench_core import Dataset, Method
from bench_recommend.nested import DECISION_SHARE, divided

Result = TypeVar("Result")

__all__ = ["BUDGET_SHARES", "Candidate", "behind", "each", "is_default", "judged_on", "prefers_default", "race"]

BUDGET_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Budgets of the trade-off curve, as shares of what all features cost."""

_LEAST_KEPT = (6, 4, 3)
"""Least number of methods kept after the first, second and third split, when the worse half is dropped."""
_DEFAULT_SHARE = 0.8
"""The share of the remaining time that a fit of the default method may take."""


@dataclass
class Candidate:
    """A method of the portfolio, and its results so far.

    Attributes:
        name: the entry's name.
        method: the method.
        use, parameters: the method's registered name, and the parameters that differ from its defaults.
        seconds: time of the longest fit; before the first split, of the fit on the sample.
        status: ``tried``, ``dropped``, ``failed``, ``left out`` or ``cannot`` (it does not apply).
        why: the reason for the status; empty if tried.
        on_sample: the goal's value on the sample's decision rows.
        sampled: the result on the sample.
        values: the goal's value on the decision rows, by split.
        rows: the value of each decision row, by split.
        met: whether the goal was met on the validation part, by split.
        least: mean cost of the cheapest policy on the validation part, by split.
        decided: quality and cost of the chosen policy on the decision rows, by split.
        chosen: quality and cost of the chosen policy on the report rows, by split: for the reported figures only.
        curve: budget share → quality and cost, on the report rows, of the best policy within that budget, by split.
    """

    name: str
    method: Method
    use: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    status: str = "tried"
    why: str = ""
    on_sample: float = -math.inf
    sampled: Tried | None = None
    values: list[float] = field(default_factory=list)
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    met: list[bool] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    decided: list[Judged] = field(default_factory=list)
    chosen: list[Judged] = field(default_factory=list)
    curve: dict[float, list[Judged]] = field(default_factory=dict)

    def stop(self, status: str, why: str) -> None:
        """Take the method out of the race."""
        self.status, self.why = status, why


def is_default(candidate: Candidate) -> bool:
    """Return whether a method is the default, recommended unless another is better; see `bench_recommend.choosing`.

    It is not tried on the sample, runs first on every split, and is not stopped for being in a worse half.
    """
    return candidate.use == "affordable-subset" and "model" not in candidate.parameters


def prefers_default(goal: Goal) -> bool:
    """Return whether the default is recommended unless another method is better: for the best quality at a price."""
    return goal.quality is None and goal.error_costs is None and (goal.budget is not None or goal.cap is not None)


def each(
    run: Callable[[tuple[int, Candidate]], Result], items: list[tuple[int, Candidate]], jobs: int
) -> Iterable[tuple[Candidate, Result]]:
    """Yield the candidate of every item with its result, in order; ``jobs`` items run at a time."""
    if jobs == 1:
        yield from ((item[1], run(item)) for item in items)
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from zip((item for _, item in items), pool.map(run, items), strict=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def race(
    portfolio: list[Candidate],
    bench: Bench,
    sample: Bench,
    goal: Goal,
    splits: int,
    end: float,
    full: float,
    progress: Callable[[str], None],
) -> int:
    """Run the methods split by split, and stop those that cannot win after each split.

    If no method finishes the first split, the methods are compared on the sample. If the goal prefers the default and
    the default does not finish the first split, they are compared on the sample, too: another method may replace the
    default only because it is better, not because it is faster.

    Args:
        portfolio: the methods, most promising first, which are updated with their results.
        bench: the data and protocol.
        sample: a sample of the rows, from `bench_recommend.sampling.time_on_sample`.
        goal: the goal.
        splits: the largest number of splits.
        end: time on the monotonic clock at which a running method is stopped.
        full: mean cost of all features together.
        progress: called with a line after every fit.

    Returns:
        The number of splits that were made; 0 if the time was too short for one: the results are then from the sample.
    """
    splits_done = 0
    for seed in range(1, splits + 1):
        # A method without a result on every split so far cannot be compared on a later one.
        running = [one for one in portfolio if one.status == "tried" and len(one.chosen) == splits_done]
        bench.prepared(seed)
        fit = partial(_fit, bench=bench, seed=seed, end=end, alone=len(running) == 1, portfolio=portfolio)
        for candidate, tried in each(fit, list(enumerate(running)), bench.jobs):
            if tried is None or tried.late:
                if not candidate.chosen:
                    candidate.stop("left out", "a fit takes longer than the time left")
                    if is_default(candidate) and prefers_default(goal):
                        break
                continue
            _take(candidate, tried, bench, goal, full)
            progress(f"split {seed}: {candidate.name}: {_result_text(candidate, goal, bench.dataset)}")
        if not any(len(candidate.chosen) >= seed for candidate in portfolio):
            break
        splits_done = seed
        _drop(portfolio, seed, goal, bench.dataset.classes)
        if time.monotonic() >= end:
            break
    if splits_done == 0:  # there was no time for a split of all rows
        for candidate in portfolio:
            if is_default(candidate) and candidate.sampled is None and time.monotonic() < end:
                tried = sample.run_all(candidate.use, candidate.method, 0, until=end)
                candidate.sampled = None if tried.late or tried.error else tried
            if candidate.sampled is not None and candidate.status in ("tried", "left out"):
                candidate.stop("tried", "on a sample of the rows only")
                _take(candidate, candidate.sampled, bench, goal, full)
    return splits_done


def _fit(
    at: tuple[int, Candidate], bench: Bench, seed: int, end: float, alone: bool, portfolio: list[Candidate]
) -> Tried | None:
    """Run a candidate on a split; return None if the remaining time is too short and a candidate has a result."""
    candidate, now = at[1], time.monotonic()
    if now + candidate.seconds > end and any(other.chosen for other in portfolio):
        return None
    share = _DEFAULT_SHARE if is_default(candidate) else 0.5
    until = end if alone else now + share * (end - now)  # one method must not use up all the time
    return bench.run_all(candidate.use, candidate.method, seed, until=until)


def judged_on(
    tried: Tried, goal: Goal, classes: tuple[str, ...]
) -> tuple[Judged, tuple[float, NDArray[np.float64], Judged], Judged]:
    """Choose a policy on the validation rows, and judge it.

    Returns:
        Quality and cost on the validation rows; the goal's value on the decision rows, that of each such row, and
        quality and cost on them; quality and cost on the report rows.
    """
    validation = [judge(outcome, classes, goal) for outcome in tried.validation]
    number = goal.choose(validation, len(tried.validation[0].y))
    decision, report = divided(tried.test[number])
    judged = judge(decision, classes, goal)
    value = goal.value_on_new_rows(validation[number], judged, len(decision.y))
    return validation[number], (value, row_values(decision, classes, goal), judged), judge(report, classes, goal)


def _take(candidate: Candidate, tried: Tried, bench: Bench, goal: Goal, full: float) -> None:
    if tried.error:
        candidate.stop("failed", tried.error)
        return
    # The time on the sample includes loading the plugin, so the first split replaces it.
    candidate.seconds = max(candidate.seconds, tried.seconds) if candidate.values else tried.seconds
    classes = bench.dataset.classes
    seen, (value, rows, decided), report = judged_on(tried, goal, classes)
    validation = [judge(outcome, classes, goal) for outcome in tried.validation]
    candidate.values.append(value)
    candidate.rows.append(rows)
    candidate.met.append(goal.met(seen))
    candidate.least.append(min(judged.cost for judged in validation))
    candidate.decided.append(decided)
    candidate.chosen.append(report)
    for share in BUDGET_SHARES:
        within = replace(goal, budget=share * full, quality=None, error_costs=None)
        number = within.choose(validation, len(tried.validation[0].y))
        if within.met(validation[number]):
            point = judge(divided(tried.test[number])[1], classes, goal)
            candidate.curve.setdefault(share, []).append(point)


def behind(leader: Candidate, other: Candidate, splits: int, goal: Goal) -> tuple[float, float]:
    """Return how far a method is behind another on the same decision rows, and half of the paired 95 % interval.

    With several splits, the interval is over splits, corrected for their overlap; with one split, it is over rows. The
    rows of one split do not show how certainly a policy reaches the goal's quality: then the interval is unbounded.
    """
    first, second = leader.values[:splits], other.values[:splits]
    by_split = [a - b for a, b in zip(first, second, strict=True)]
    if splits > 1:
        return float(np.mean(by_split)), corrected_half_width(by_split, DECISION_SHARE)
    if not (leader.met[0] and other.met[0]):
        return by_split[0], 0.0
    if goal.quality is not None:
        return by_split[0], math.inf
    by_row = leader.rows[0] - other.rows[0]
    return by_split[0], 1.96 * float(np.std(by_row)) / math.sqrt(max(len(by_row), 1))


def _drop(portfolio: list[Candidate], splits_done: int, goal: Goal, classes: Sequence[str]) -> None:
    """Stop methods that are worse than the best by more than the paired interval; early on, also the worse half."""
    running = sorted(
        (candidate for candidate in portfolio if candidate.status == "tried" and len(candidate.values) >= splits_done),
        key=lambda candidate: -float(np.mean(candidate.values)),
    )
    many = f"{splits_done} split{'s'[: splits_done > 1]}"
    for candidate in running[1:]:
        mean, half = behind(running[0], candidate, splits_done, goal)
        if mean <= half:
            continue
        if any(running[0].met) and not any(candidate.met):
            candidate.stop("dropped", f"no policy met the goal on the validation parts of {many}")
        else:
            why = goal.behind_text(running[0].name, mean, half, classes)
            candidate.stop("dropped", f"{why} on the decision rows of {many}")
    if splits_done <= len(_LEAST_KEPT):
        left = [candidate for candidate in running if candidate.status == "tried"]
        worse = left[max(_LEAST_KEPT[splits_done - 1], math.ceil(len(left) / 2)) :]
        for candidate in (one for one in worse if not is_default(one)):
            candidate.stop("dropped", f"in the worse half after split {splits_done}")


def _result_text(candidate: Candidate, goal: Goal, dataset: Dataset) -> str:
    if candidate.status == "failed":
        return f"failed: {candidate.why}"
    if candidate.status != "tried":
        return candidate.why
    last = candidate.chosen[-1]
    total = "" if goal.error_costs is None else f", {last.total:.4g} with errors"
    quality = goal.quality_text(last.quality, dataset.classes)
    return f"{quality} at a mean cost of {last.cost:.4g}{total} (rows kept for these figures)"
