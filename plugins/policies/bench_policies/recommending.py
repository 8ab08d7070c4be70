"""Which method for this table, these prices and this goal: a portfolio of installed methods on repeated splits.

Every method is first timed on a sample of the rows, which takes half of the time at most; then, the quickest first, on
split after split. Methods run in processes of their own, and are ended when the time is up. After the first split the
better half goes on (at least four); after every later one, what is worse than the best on the validation parts by more
than the paired 95 % interval stops. Methods are compared on the validation parts; what is printed was measured on the
test parts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bench_core import Apart, DataContext, Dataset, Method, Registry, RequestError, build, load_registry
from bench_policies.fitting import corrected_half_width, summary
from bench_policies.folder import policy_types
from bench_policies.goals import Goal, Judged, judge
from bench_policies.prices import Prices, read_prices
from bench_policies.tables import Data, facts_after_encoding, read_table
from bench_policies.trials import EXIT_THRESHOLD, Bench
from bench_policies.wording import with_half

if TYPE_CHECKING:
    import pandas as pd

BUDGET_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Budgets of the trade-off curve, as shares of what all features cost."""

_SAMPLE = 300
_LEAST_KEPT = 4
_LOOK, _LEAST_LOOK, _MOST_SHARES, _LOADING = 0.1, 3.0, 4.0, 20.0
"""What a method may take on the sample: a share of the whole time and no more than a few times what is left for each of
those that are still to be tried, but at least so many seconds; and what loading and compiling may take beside."""

_QUICK = (
    "cost-ordered", "stump", "single-stage", "lightgbm", "majority", "lasso", "c45", "cegb", "forward-selection", "eg2",
    "idx", "cs-id3", "cscc", "emsco",
)  # fmt: skip
"""Methods that take a second or two on a sample, of several kinds: they are looked at first, whatever time there is."""


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
    chosen: list[Judged] = field(default_factory=list)
    curve: dict[float, list[Judged]] = field(default_factory=dict)

    def stop(self, status: str, why: str) -> None:
        """Take it out of the race."""
        self.status, self.why = status, why


@dataclass(frozen=True)
class Recommendation:
    """What came of it.

    Attributes:
        best: name of the recommended method; None when none worked.
        goal: what was wanted.
        table: a row per method: status, splits, quality, cost, coverage, with half-widths of 95 % intervals.
        curve: a row per method and budget: mean cost and quality on the test parts, and whether it is on the front.
        text: the recommendation in words.
        dataset: the data's name, rows, features.
        full_cost: what all features cost.
        splits: made.
        seconds: taken.
    """

    best: str | None
    goal: Goal
    table: pd.DataFrame
    curve: pd.DataFrame
    text: str
    dataset: Mapping[str, Any]
    full_cost: float
    splits: int
    seconds: float


def recommend(
    data: Data,
    prices: Prices,
    *,
    target: str | None = None,
    goal: Goal | None = None,
    threshold: float | None = None,
    methods: Sequence[str] = (),
    splits: int = 8,
    seconds: float = 600.0,
    encode: str = "onehot",
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    size: str | None = None,
    task: str | None = None,
    exit_threshold: float = EXIT_THRESHOLD,
    threads: int = 1,
    isolation: Literal["full", "none"] = "full",
    progress: Callable[[str], None] = lambda line: None,
) -> Recommendation:
    """Try methods on a table and recommend one.

    Args:
        data: a path to CSV or Parquet, a DataFrame, or a data set.
        prices: by name, in order, as a file's path, or a cost scheme.
        target: the column to predict; None for a data set.
        goal: what is wanted; see `Goal`.
        threshold: answers less sure than this are refused.
        methods: names; every installed method that applies when empty.
        splits: most random splits.
        seconds: most time: a method that is still at work then is ended. What is not cut short is the loading of a
            plugin.
        encode, categorical, drop, size, task: of the data; see `bench_policies.fit_policy`.
        exit_threshold: what methods that leave early hold their confidence against where nothing is refused.
        threads: of the methods' kernels.
        isolation: ``full``, methods run in processes of their own; or ``none``, in this one, as a debugger needs it:
            nothing that has begun is cut short then.
        progress: told a line after every step.

    Raises:
        RequestError: a name, a price or the table is wrong; nothing has run then.
    """
    start = time.monotonic()
    registry, goal = load_registry(), goal or Goal()
    dataset = read_table(data, target, registry, categorical=categorical, drop=drop, size=size, task=task)
    if dataset.task == "ranking":
        raise RequestError("ranking data has queries; compare methods for it with a suite (bench run)")
    goal.check(dataset.task, dataset.classes)
    scheme = read_prices(prices, dataset.feature_names, registry, dataset.sizes is not None)
    bench = Bench(dataset, scheme, encode, threshold, exit_threshold, threads=threads)
    portfolio = _portfolio(registry, methods, bench)
    costs = bench.prepared(1).problem.costs
    full = float(costs.total(dataset.n_rows, dataset.sizes).mean())
    with Apart(registry, DataContext.from_environment().cache) if isolation == "full" else nullcontext() as bench.apart:
        _time_on_sample(portfolio, bench, start, seconds, progress)
        made = _race(portfolio, bench, goal, splits, start + seconds, full, progress)
    return _recommendation(portfolio, bench, goal, full, made, time.monotonic() - start)


def _portfolio(registry: Registry, names: Sequence[str], bench: Bench) -> list[Candidate]:
    costs = bench.prepared(1).problem.costs
    facts = facts_after_encoding(bench.dataset, costs, bench.encode, bench.fit_threshold)
    found = []
    quick = {name: place for place, name in enumerate(_QUICK)}
    for name in names or sorted(registry.methods, key=lambda name: (quick.get(name, len(quick)), name)):
        cls = registry.method(name)
        try:
            method = build(cls, {}, f"method {name!r}")
        except RequestError as error:
            if names:
                raise
            found.append(Candidate(name, None, status="cannot", why=str(error)))  # type: ignore[arg-type]
            continue
        one = Candidate(name, method)
        refused = method.inapplicable(facts) or _unkept(registry, name)
        if refused is not None:
            one.stop("cannot", refused)
        found.append(one)
    if all(one.status == "cannot" for one in found):
        raise RequestError("no method can be used here: " + "; ".join(f"{one.name}: {one.why}" for one in found[:5]))
    return found


def _unkept(registry: Registry, name: str) -> str | None:
    """Why a method's policies cannot be kept in a folder; what cannot be had is not recommended."""
    try:
        policy_types(registry, registry.plugin_of("methods", name).name)
    except RequestError as error:
        return f"bench fit cannot keep its policies: {error}"
    return None


def _time_on_sample(
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
    waiting = [one for one in portfolio if one.status == "tried"]
    for number, one in enumerate(waiting):
        left = end - time.monotonic()
        if left <= 0:
            one.stop("left out", "no time was left to try it")
            continue
        fair = _MOST_SHARES * left / (len(waiting) - number)
        limit = min(max(min(_LOOK * seconds, fair), _LEAST_LOOK), left)
        tried = sample.run(one.name, one.method, 0, limit=limit, until=min(end, time.monotonic() + limit + _LOADING))
        one.seconds = tried.seconds
        if tried.late:
            one.stop("left out", f"it takes longer than {limit:.1f} s on {dataset.n_rows} rows")
        elif tried.error:
            one.stop("failed", tried.error)
        progress(f"{one.name}: {one.why or f'{tried.seconds:.1f} s on {dataset.n_rows} rows'}")
    portfolio.sort(key=lambda one: (one.seconds, one.name))


def _race(
    portfolio: list[Candidate],
    bench: Bench,
    goal: Goal,
    splits: int,
    end: float,
    full: float,
    progress: Callable[[str], None],
) -> int:
    made = 0
    for seed in range(1, splits + 1):
        running = [one for one in portfolio if one.status == "tried"]
        for one in running:
            if time.monotonic() + one.seconds > end and (made or any(other.chosen for other in portfolio)):
                if len(one.chosen) < max(made, 1):
                    one.stop("left out", f"a fit takes {one.seconds:.0f} s, and the time was up")
                continue
            _try(one, bench, goal, seed, full, end)
            progress(f"split {seed}: {one.name}: {_said(one, goal, bench.dataset)}")
        if not any(len(one.chosen) >= seed for one in portfolio):
            break
        made = seed
        _drop(portfolio, seed, bench)
        if time.monotonic() >= end:
            break
    return made


def _try(one: Candidate, bench: Bench, goal: Goal, seed: int, full: float, end: float) -> None:
    tried = bench.run(one.name, one.method, seed, limit=max(end - time.monotonic(), 0.0), until=end)
    if tried.late:
        one.stop("left out", "it was ended when the time was up")
        return
    if tried.error:
        one.stop("failed", tried.error)
        return
    # On the sample its plugin had to be loaded as well.
    one.seconds = max(one.seconds, tried.seconds) if one.values else tried.seconds
    classes = bench.dataset.classes
    validation = [judge(outcome, classes, goal) for outcome in tried.validation]
    test = [judge(outcome, classes, goal) for outcome in tried.test]
    number = goal.choose(validation, len(tried.validation[0].y))
    one.values.append(goal.value(validation[number]))
    one.met.append(goal.met(validation[number]))
    one.chosen.append(test[number])
    for share in BUDGET_SHARES:
        within = Goal(budget=share * full)
        number = within.choose(validation, len(tried.validation[0].y))
        if within.met(validation[number]):
            one.curve.setdefault(share, []).append(test[number])


def _said(one: Candidate, goal: Goal, dataset: Dataset) -> str:
    if one.status == "failed":
        return f"failed: {one.why}"
    if one.status != "tried":
        return one.why
    last = one.chosen[-1]
    quality = f"{100 * last.quality:.1f} % right" if dataset.classes else f"squared error {-last.quality:.4g}"
    return f"{quality} at cost {last.cost:.4g}"


def _drop(portfolio: list[Candidate], made: int, bench: Bench) -> None:
    """Stop what is behind: half of them after the first split, later what is surely worse than the best."""
    running = sorted(
        (one for one in portfolio if one.status == "tried" and len(one.values) >= made),
        key=lambda one: -float(np.mean(one.values)),
    )
    if made == 1:
        for one in running[max(_LEAST_KEPT, math.ceil(len(running) / 2)) :]:
            one.stop("dropped", "in the worse half on the first split")
        return
    share = bench.split.test / (bench.split.train + bench.split.validation)
    for one in running[1:]:
        behind = np.array(running[0].values[:made]) - np.array(one.values[:made])
        half = corrected_half_width(behind.tolist(), share)
        if float(behind.mean()) <= half:
            continue
        if any(running[0].met) and not any(one.met):
            one.stop("dropped", f"no policy of it met the goal on the validation parts of {made} splits")
        else:
            one.stop("dropped", f"worse than {running[0].name} on {made} splits, by more than chance")


def _recommendation(
    portfolio: list[Candidate], bench: Bench, goal: Goal, full: float, made: int, seconds: float
) -> Recommendation:
    import pandas as pd

    share = bench.split.test / (bench.split.train + bench.split.validation)
    finished = [one for one in portfolio if one.chosen]
    # Those that ran to the end come before those that were dropped on the way.
    ranked = sorted(finished, key=lambda one: (-len(one.chosen), -float(np.mean(one.values))))
    best = next((one for one in ranked if one.status == "tried"), ranked[0] if ranked else None)
    if best is not None and goal == Goal():
        best = min([best, *_equals(best, ranked, share)], key=lambda one: float(np.mean([j.cost for j in one.chosen])))
    rows = []
    for one in sorted(portfolio, key=lambda one: ranked.index(one) if one in ranked else len(ranked)):
        row: dict[str, Any] = {"method": one.name, "status": one.status, "why": one.why, "fit seconds": one.seconds}
        rows.append({**row, **(summary(one.chosen, share) if one.chosen else {"splits": 0})})
    curve = _curve(finished, full, share)
    text = _words(best, finished, goal, bench, full, share)
    about = {"name": bench.dataset.name, "rows": bench.dataset.n_rows, "features": bench.dataset.n_features}
    about |= {"task": bench.dataset.task, "threshold": bench.threshold}
    return Recommendation(
        best.name if best else None, goal, pd.DataFrame(rows), curve, text, about, full, made, seconds
    )


def _curve(finished: Sequence[Candidate], full: float, share: float) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for one in finished:
        for budget, judged in sorted(one.curve.items()):
            if len(judged) == len(one.chosen):
                rows.append({"method": one.name, "budget": budget * full, **summary(judged, share)})
    frame = pd.DataFrame(rows, columns=["method", "budget", *summary([], share)])
    quality, cost = frame["quality"].to_numpy(dtype=float), frame["cost"].to_numpy(dtype=float)
    frame["front"] = [
        not bool(((quality >= q) & (cost <= c) & ((quality > q) | (cost < c))).any())
        for q, c in zip(quality, cost, strict=True)
    ]
    return frame


def _words(
    best: Candidate | None, finished: Sequence[Candidate], goal: Goal, bench: Bench, full: float, share: float
) -> str:
    if best is None:
        return "No method worked on this table; the reasons are in the table of methods."
    measured = summary(best.chosen, share)
    splits = len(best.chosen)
    quality = (
        f"it answers {with_half(measured, 'quality', 100, ' %')} of rows rightly"
        if bench.dataset.classes
        else f"its mean squared error is {with_half(measured, 'quality', -1)}"
    )
    said = f"Use {best.name}: {quality}, at a cost of {with_half(measured, 'cost', 1)} a row"
    if full > 0:
        said += f" ({100 * measured['cost'] / full:.0f} % of what all features cost)"
    said += f". Wanted was: {goal.in_words()}. Measured on the test parts of {splits} random split{'s'[: splits > 1]}"
    said += (
        ", ± half of the 95 % interval, or the interval in brackets."
        if splits > 1
        else "; with one split nothing can be said of the uncertainty."
    )
    if bench.threshold is not None:
        answered = with_half(measured, "coverage", 100, " %")
        said += f" Answers less sure than {bench.threshold:g} are refused: {answered} are answered."
    if not any(best.met):
        said += " No method reached that on the validation parts; this one came nearest."
    if not all(goal.met(one) for one in best.chosen):
        said += f" The goal is missed on {sum(not goal.met(one) for one in best.chosen)} of {splits} test parts."
    if measured["quality"] == 0 and bench.dataset.classes:
        said += " No row is answered rightly: raise the budget, or lower the threshold."
    equal = [one.name for one in _equals(best, finished, share)]
    if equal:
        said += f" By that measure {', '.join(equal)} cannot be told from it on these splits."
    return said


def _equals(best: Candidate, finished: Sequence[Candidate], share: float) -> list[Candidate]:
    """Methods that ran as long, met the goal as often, and are behind the best on validation by no more than chance."""
    equal = []
    for one in finished:
        if one is best or len(one.values) != len(best.values) or sum(one.met) != sum(best.met):
            continue
        # What misses the goal is worse by a whole class, which is no difference to average.
        pairs = zip(best.values, one.values, best.met, one.met, strict=True)
        behind = [a - b for a, b, met, met_too in pairs if (met and met_too) or not any(best.met)]
        if len(behind) >= 2 and abs(float(np.mean(behind))) <= corrected_half_width(behind, share):
            equal.append(one)
    return equal
