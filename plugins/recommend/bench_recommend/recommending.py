"""Recommend a method for a table, prices and a goal, by comparing methods on repeated nested splits.

The methods are those of `bench_recommend.portfolio`. All are first fitted on a sample of the rows, in about a third of
the time at most. Then they run split by split, the most promising first, and those that cannot win are stopped
(`bench_recommend.race`). They run in processes of their own, which are stopped at the time limit. Methods are compared
on rows that none of them saw or tuned on; the figures shown are measured on further such rows
(`bench_recommend.nested`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bench_policies.columns import column_notes
from bench_policies.fitting import beyond_budget
from bench_policies.goals import Goal
from bench_policies.measuring import measure_trivial, summary
from bench_policies.prices import Prices, read_prices
from bench_policies.tables import Columns, Data, apart_from_features, check_rows, merge_rare, read_table
from bench_policies.trials import Bench, Setup

from bench_core import DataContext, RequestError
from bench_core.execution import one_blas_thread
from bench_core.suites import load_registry
from bench_recommend.choosing import preferred, ranked
from bench_recommend.isolated_trials import IsolatedTrials
from bench_recommend.nested import REPORT_SHARE, RULE, report_rows
from bench_recommend.portfolio import candidates, entries
from bench_recommend.race import Candidate, race
from bench_recommend.sampling import time_on_sample
from bench_recommend.words import text_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Recommendation:
    """A recommendation and the measurements behind it.

    Attributes:
        best: name of the recommended entry; None if no method worked, or none kept to the budget.
        method, parameters: the method's registered name and the parameters that differ from its defaults; empty if no
            method is recommended.
        goal: the goal.
        table: a row per method: status, splits, quality, cost, coverage, with half-widths of 95 % intervals.
        trivial: a row per answer that needs no feature (``answer``), with the same figures as ``table``, best first;
            empty for regression.
        curve: a row per method and budget: mean cost and quality on the report rows, and whether it is on the front.
            Only methods that ran on all splits are in it.
        text: the recommendation as text.
        dataset: the data's name, numbers of rows and features, task and threshold.
        full_cost: mean cost of all features together, in the unit of the prices.
        notes: sentences on columns that are probably identifiers, dates or numbers with decimal commas.
        splits: number of splits that were made.
        seconds: time taken.
    """

    best: str | None
    method: str
    parameters: Mapping[str, Any]
    goal: Goal
    table: pd.DataFrame
    trivial: pd.DataFrame
    curve: pd.DataFrame
    text: str
    dataset: Mapping[str, Any]
    full_cost: float
    notes: Sequence[str]
    splits: int
    seconds: float

    def as_plain(self) -> dict[str, Any]:
        """Return all attributes but the goal as JSON values; NaN in tables becomes None."""
        frames = {name: getattr(self, name).to_json(orient="records") for name in ("table", "trivial", "curve")}
        return {
            "best": self.best,
            "method": self.method,
            "parameters": dict(self.parameters),
            "notes": list(self.notes),
            "text": self.text,
            "dataset": dict(self.dataset),
            "full_cost": self.full_cost,
            "splits": self.splits,
            "seconds": self.seconds,
            **{name: json.loads(rows) for name, rows in frames.items()},
        }


def recommend(
    data: Data,
    prices: Prices,
    *,
    target: str | None = None,
    columns: Columns | None = None,
    goal: Goal | None = None,
    setup: Setup | None = None,
    methods: Sequence[str] = (),
    splits: int = 8,
    seconds: float = 600.0,
    jobs: int = 1,
    isolation: str = "process",
    progress: Callable[[str], None] = lambda line: None,
) -> Recommendation:
    """Compare methods on a table and recommend one.

    Args:
        data: a path to CSV or Parquet, a DataFrame, or a data set.
        prices: prices by name or in the columns' order, a file's path, or a cost scheme.
        target: the column to predict; None for a data set.
        columns: how the other columns of a DataFrame or file are read; see `Columns`.
        goal: the goal; None: best quality. See `Goal`.
        setup: encoding, threshold and threads; see `Setup`.
        methods: names; empty: every installed method that applies.
        splits: the largest number of random splits.
        seconds: time limit, at which a running method is stopped. Loading a plugin is not interrupted.
        jobs: number of methods that run at a time; always 1 without isolation.
        isolation: ``process`` or ``strict``: methods run in processes of their own; ``none``: they run in this process,
            for a debugger, and a running method is not stopped at the time limit.
        progress: called with a line after every step.

    Raises:
        RequestError: a name, a price or the table is invalid, or no method applies; raised before anything runs.
    """
    start = time.monotonic()
    registry, goal = load_registry(), goal or Goal()
    table = read_table(data, target, registry, columns)
    dataset = merge_rare(table)
    if dataset.task == "ranking":
        raise RequestError("recommend does not support ranking data; compare methods with a suite (bench run)")
    goal.check(dataset.task, dataset.classes)
    goal = goal.on(dataset.target, dataset.classes)
    check_rows(dataset)
    apart = apart_from_features(target, columns or Columns())
    scheme = read_prices(prices, dataset.feature_names, registry, dataset.sizes is not None, apart)
    bench = Bench(dataset, scheme, setup or Setup(), split=RULE, cap=goal.cap)
    costs = bench.prepared(1).problem.costs
    full = float(costs.total(dataset.n_rows, dataset.sizes).mean())
    tried = entries(registry, methods, goal, full, costs.depends_on_size)
    portfolio = candidates(registry, tried, bench, bool(methods))
    with ExitStack() as stack, one_blas_thread():
        if isolation != "none":
            cache = DataContext.from_environment().cache
            isolated = [stack.enter_context(IsolatedTrials(registry, cache, isolation, goal.cap)) for _ in range(jobs)]
            bench = replace(bench, isolated=isolated)
        sample = time_on_sample(portfolio, bench, goal, start, seconds, progress)
        splits_done = race(portfolio, bench, sample, goal, splits, start + seconds, full, progress)
    found = _recommendation(portfolio, bench, goal, full, splits_done, time.monotonic() - start)
    return replace(found, notes=column_notes(table))


def _recommendation(
    portfolio: list[Candidate], bench: Bench, goal: Goal, full: float, splits_done: int, seconds: float
) -> Recommendation:
    import pandas as pd

    finished = [candidate for candidate in portfolio if candidate.chosen]
    order = ranked(finished)
    common = min((len(candidate.values) for candidate in finished if candidate.status == "tried"), default=1)
    splits = max(splits_done, min(len(finished), 1))
    trivial = measure_trivial(bench, goal, splits, REPORT_SHARE, report_rows)
    best = preferred(order, goal)
    if best is not None and (beyond := _beyond(best, finished, goal)):
        best = None
        text = f"No method is recommended: {beyond}. This was checked on the validation parts."
    elif best is not None:
        text = text_of(best, finished, goal, bench, full, trivial)
    elif any(candidate.status == "left out" for candidate in portfolio):
        text = (
            "The time was too short to compare methods on this table: give it more (--time). The table gives reasons."
        )
    else:
        text = "No method worked on this table; the table of methods gives the reasons."
    about = {"name": bench.dataset.name, "rows": bench.dataset.n_rows, "features": bench.dataset.n_features}
    about |= {"task": bench.dataset.task, "threshold": bench.setup.threshold}
    name, use, parameters = (best.name, best.use, best.parameters) if best else (None, "", {})
    return Recommendation(
        name, use, parameters, goal, _table(portfolio, order), pd.DataFrame(trivial),
        _curve(finished, full, REPORT_SHARE, common), text, about, full, (), splits_done, seconds,
    )  # fmt: skip


def _beyond(best: Candidate, finished: Sequence[Candidate], goal: Goal) -> str:
    """Return why the best method cannot be recommended: it never keeps to the budget or the cap. Empty if it does."""
    if any(best.met):
        return ""
    if goal.budget is not None:
        return beyond_budget(goal.budget, {candidate.name: max(candidate.least) for candidate in finished})
    return f"no method here keeps every row at {goal.cap:g} or below" if goal.cap is not None else ""


def _table(portfolio: Sequence[Candidate], order: list[Candidate]) -> pd.DataFrame:
    """Return a row per method, best first, then those without results."""
    import pandas as pd

    places = {candidate.name: place for place, candidate in enumerate(order)}
    rows = []
    for candidate in sorted(portfolio, key=lambda candidate: places.get(candidate.name, len(order))):
        row: dict[str, Any] = {
            "method": candidate.name,
            "status": candidate.status,
            "why": candidate.why,
            "fit seconds": candidate.seconds,
        }
        rows.append({**row, **(summary(candidate.chosen, REPORT_SHARE) if candidate.chosen else {"splits": 0})})
    return pd.DataFrame(rows)


def _curve(finished: Sequence[Candidate], full: float, share: float, splits: int) -> pd.DataFrame:
    """Return the curve over the first ``splits`` splits, of the methods that ran on all of these."""
    import pandas as pd

    rows = []
    for candidate in (one for one in finished if len(one.chosen) >= splits):
        for budget, judged in sorted(candidate.curve.items()):
            if len(judged) == len(candidate.chosen):
                rows.append({"method": candidate.name, "budget": budget * full, **summary(judged[:splits], share)})
    frame = pd.DataFrame(rows, columns=["method", "budget", *summary([], share)])
    quality, cost = frame["quality"].to_numpy(dtype=float), frame["cost"].to_numpy(dtype=float)
    frame["front"] = [
        not bool(((quality >= q) & (cost <= c) & ((quality > q) | (cost < c))).any())
        for q, c in zip(quality, cost, strict=True)
    ]
    return frame
