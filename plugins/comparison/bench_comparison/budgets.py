"""Budgets as questions to the records: what each trial answers at each budget.

At a budget b, a trial's answer is the policy with the best *validation* quality among those (of all grid points) whose
*validation* cost is at most b; ties go to the cheapest, then to the first. The numbers of the answer are this policy's
on the *test* part; nothing is chosen there. Every family is completed with the empty policy, which fits every budget.
If the records do not hold the empty policy, there may be budgets that no policy fits.

A split has one reference of quality for all methods, the *full model*: the answer at the full price of the method that
is best there on validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from bench_analysis import Quality, points_of
from bench_records import Records
from numpy.typing import NDArray

from bench_comparison.steps import NONE, ROUNDING, Steps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEVELS", "Answers", "answers_of", "relative"]

Numbers = NDArray[np.float64]

LEVELS = (0.95, 0.99)
"""Shares of the full model's quality that "cost to reach" is given for."""

BESIDE = "test.auc"
"""The metric that is shown beside accuracy."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of all trials of one data set under one cost scheme. Costs are shares of the full price.

    Attributes:
        dataset, costs: names of the data set and the cost scheme in the suite.
        quality: the quality of answers.
        budgets: ascending.
        methods: those with a done trial, in the suite's order.
        seeds: of the splits that at least one method has done, ascending.
        done: bool (methods, seeds).
        validation, test: float64 (methods, seeds, budgets): quality of the answer; NaN for no policy, and for trials
            that are not done.
        cost: float64 (methods, seeds, budgets): cost of the answer on the test part.
        area: float64 (methods, seeds): area below the step curve of test quality, over budgets from 0 to 1.
        reference: by seed, the method that is the full model.
        full: float64 (seeds,): test quality of the full model.
        whole_validation, whole_test: float64 (methods, seeds): quality of the answer to an unlimited budget.
        beside: float64 (methods, seeds, budgets): the answer's area under the ROC curve on the test part; NaN where
            the records do not hold it.
        reach: level → float64 (methods,): the mean test cost at the smallest budget at which the answers' mean test
            quality is at least that share of the full model's (means over splits); NaN where it never is.
        lacking: method → why it has no number here: ``not applicable``, ``over the limit``, ``failed``.
    """

    dataset: str
    costs: str
    quality: Quality
    budgets: tuple[float, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    done: NDArray[np.bool_]
    validation: Numbers
    test: Numbers
    cost: Numbers
    area: Numbers
    reference: tuple[str, ...]
    full: Numbers
    whole_validation: Numbers
    whole_test: Numbers
    beside: Numbers
    reach: Mapping[float, Numbers] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def shares(self) -> Numbers:
        """Quality as a share of the full model's (`relative`); float64 (methods, seeds, budgets)."""
        return relative(self.quality, self.test, self.full[None, :, None])

    def over(self, tolerance: float) -> NDArray[np.bool_]:
        """Whether an answer's test cost exceeds the budget by more than the tolerance; bool (methods, seeds, budgets).

        Args:
            tolerance: share of a budget by which it may be exceeded.
        """
        limit = np.asarray(self.budgets) * (1 + tolerance) * (1 + ROUNDING)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.cost > limit)

    def status(self, method: str, budget: int, tolerance: float) -> str:
        """How a method stands at a budget: ``ok``, or why it has no answer there that counts.

        ``incomplete`` (it lacks a split that others have done), ``no policy`` (on some split, none fits), ``over
        budget`` (its mean test cost over the splits exceeds the budget by more than the tolerance), or as in
        `lacking`.

        Args:
            method: its name.
            budget: position of a budget.
            tolerance: share of a budget by which it may be exceeded.
        """
        if method not in self.methods:
            return self.lacking.get(method, "not run")
        row = self.methods.index(method)
        if not self.done[row].all():
            return self.lacking.get(method, "incomplete")
        if np.isnan(self.test[row, :, budget]).any():
            return "no policy"
        mean = float(self.cost[row, :, budget].sum()) / len(self.seeds)
        return "over budget" if mean > self.budgets[budget] * (1 + tolerance) * (1 + ROUNDING) else "ok"


def relative(quality: Quality, values: Numbers, full: Numbers) -> Numbers:
    """Quality as a share of the full model's, more is better; NaN where the divisor is 0.

    More is better: values ÷ full. Less is better: measured from the worst value (error: 1), or full ÷ values if
    there is no worst value.

    Args:
        quality: the quality of ``values`` and ``full``.
        values: float64 of any shape that broadcasts with ``full``.
        full: float64.
    """
    if quality.goal == "max":
        above, below = values, full
    elif quality.worst is not None:
        above, below = quality.worst - values, quality.worst - full
    else:
        above, below = full, values
    above, below = np.broadcast_arrays(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0))


def answers_of(
    records: Records,
    cell: pd.DataFrame,
    methods: Sequence[str],
    quality: Quality,
    budgets: Sequence[float],
    cost: str | None = "cost",
    lacking: Mapping[str, str] | None = None,
) -> Answers | None:
    """The answers of one data set's trials under one cost scheme; None when none of the methods has a number.

    Args:
        records: the suite's records.
        cell: done policies, from `bench_analysis.points.cells_of`.
        methods: names, in order.
        quality: the quality of answers.
        budgets: ascending.
        cost: the metric of cost, see `bench_analysis.quality.cost_shares`; None for costs in the unit of
            the prices, in which the budgets are then given.
        lacking: method → why it has trials without a number.
    """
    frame = cell[cell["method"].isin(methods)]
    if frame.empty or not quality.known(frame):
        return None
    table = points_of(records, frame, quality, cost)
    if table.empty:
        return None
    present = set(table["method"].unique())
    names = [name for name in methods if name in present]
    seeds = np.unique(table["seed"].to_numpy())
    row = table["method"].map({name: i for i, name in enumerate(names)}).to_numpy(dtype=np.int64)
    trial = (row * len(seeds) + np.searchsorted(seeds, table["seed"].to_numpy())).astype(np.int64)
    column = {name: table[name].to_numpy(dtype=np.float64) for name in ("chosen_cost", "chosen_quality", "cost")}
    tested = table["quality"].to_numpy(dtype=np.float64)
    sign = 1.0 if quality.goal == "max" else -1.0
    shape = len(names), len(seeds)
    steps = Steps(trial, column["chosen_cost"], sign * column["chosen_quality"], len(names) * len(seeds))
    done = np.bincount(trial, minlength=len(names) * len(seeds)).reshape(shape) > 0
    asked = np.tile(np.asarray(budgets, dtype=np.float64), (len(names) * len(seeds), 1))
    places = steps.at(asked).reshape(*shape, len(budgets))
    whole = steps.at(np.full((len(asked), 1), np.inf)).reshape(shape)
    whole_validation, whole_test = _taken(column["chosen_quality"], whole), _taken(tested, whole)
    leader = _best_on_validation(whole_validation, quality)
    full = whole_test[leader, np.arange(len(seeds))]
    beside = np.full(len(table), np.nan)
    if BESIDE in frame:
        beside = frame.loc[table.index, BESIDE].to_numpy(dtype=np.float64)
    floor = quality.worst
    if floor is None:
        floor = float(tested.max() if quality.goal == "min" else tested.min())
    taken = {name: _taken(values, places) for name, values in column.items()}
    return Answers(
        dataset=str(frame["dataset"].iloc[0]),
        costs=str(frame["costs"].iloc[0]),
        quality=quality,
        budgets=tuple(float(budget) for budget in budgets),
        methods=tuple(names),
        seeds=tuple(int(seed) for seed in seeds),
        done=done,
        validation=taken["chosen_quality"],
        test=_taken(tested, places),
        cost=taken["cost"],
        area=steps.areas(tested, floor).reshape(shape),
        reference=tuple(names[i] for i in leader),
        full=full,
        whole_validation=whole_validation,
        whole_test=whole_test,
        beside=_taken(beside, places),
        reach=_reach(steps, column, tested, done, full, quality),
        lacking=lacking or {},
    )


def _taken(values: Numbers, places: NDArray[np.int64]) -> Numbers:
    """Values at places, NaN at `NONE`."""
    return np.where(places == NONE, np.nan, values[np.maximum(places, 0)])


def _best_on_validation(table: Numbers, quality: Quality) -> NDArray[np.int64]:
    """The best row of each column, the first among equals; NaN counts as the worst value."""
    worst = -np.inf if quality.goal == "max" else np.inf
    filled = np.where(np.isnan(table), worst, table)
    return np.asarray(filled.argmax(axis=0) if quality.goal == "max" else filled.argmin(axis=0))


def _reach(
    steps: Steps,
    column: Mapping[str, Numbers],
    tested: Numbers,
    done: NDArray[np.bool_],
    full: Numbers,
    quality: Quality,
) -> dict[float, Numbers]:
    """Level → float64 (methods,): see `Answers.reach`; each method over the splits that it has done."""
    methods, seeds = done.shape
    reach = {level: np.full(methods, np.nan) for level in LEVELS}
    grid = np.unique(column["chosen_cost"][steps.policies])
    places = steps.at(np.tile(grid, (methods * seeds, 1))).reshape(methods, seeds, len(grid))
    for row in range(methods):
        mine = places[row, done[row]]
        usable = (mine != NONE).all(axis=0)
        if not usable.any():
            continue
        mine = mine[:, usable]
        quality_there = tested[mine].sum(axis=0) / len(mine)
        cost_there = column["cost"][mine].sum(axis=0) / len(mine)
        whole = float(full[done[row]].sum()) / len(mine)
        for level in LEVELS:
            there = quality.reaches(quality_there, quality.target(whole, level))
            if there.any():
                reach[level][row] = cost_there[int(there.argmax())]
    return reach
