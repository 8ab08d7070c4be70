"""Fitting a policy for use: on all rows, at the operating point that serves a goal, measured on repeated splits."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import (
    CONTRACT_VERSION,
    Dataset,
    Encoder,
    Family,
    Method,
    Part,
    Policy,
    Problem,
    Registry,
    RequestError,
    SplitRule,
    as_family,
    can_be_asked,
    fit_encoder,
    load_registry,
    make_split,
    outcome_of,
    plain,
    replay,
)
from bench_policies.evaluating import method_of
from bench_policies.fitted import FittedPolicy
from bench_policies.goals import Goal, Judged, judge
from bench_policies.prices import Prices, read_prices
from bench_policies.substitution import AskedBySubstitution, background_of
from bench_policies.tables import Data, facts_after_encoding, read_table
from bench_policies.trials import EXIT_THRESHOLD, Bench


def fit_policy(
    method: str | Method,
    data: Data,
    prices: Prices,
    *,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    goal: Goal | None = None,
    threshold: float | None = None,
    splits: int = 5,
    encode: str = "onehot",
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    size: str | None = None,
    task: str | None = None,
    seed: int = 0,
    exit_threshold: float = EXIT_THRESHOLD,
    threads: int = 1,
    target_name: str = "",
) -> FittedPolicy:
    """Fit a method on all rows and take the policy of its family that serves a goal.

    Three quarters of the rows train, the others choose (a method may also use them, for calibration say); none is left
    out. What the policy costs and how good it is, is measured apart, on ``splits`` random splits with a test part.

    Args:
        method: a registered name, or a method.
        data: a DataFrame, a path to CSV or Parquet, or a data set.
        prices: by name, in order, as a file's path, or a cost scheme.
        target: the column to predict; None for a data set.
        parameters: of a method given by name.
        goal: what is wanted; see `Goal`.
        threshold: answers less sure than this are refused.
        splits: random splits to measure on; 0 measures nothing.
        encode: ``onehot``, ``ordinal``, ``impute`` or ``raw``.
        categorical, drop, size, task: see `bench_policies.tables.read_table`.
        seed: of the division into rows that train and rows that choose, and of the method.
        exit_threshold: what methods that leave early hold their confidence against where nothing is refused.
        threads: of the method's kernels.
        target_name: what the card calls the target of a data set.

    Raises:
        RequestError: a name, a price or the table is wrong, or the method cannot do it.
    """
    registry, goal = load_registry(), goal or Goal()
    dataset = read_table(data, target, registry, categorical=categorical, drop=drop, size=size, task=task)
    if dataset.task == "ranking":
        raise RequestError("a policy for use answers row by row; ranking data has queries")
    goal.check(dataset.task, dataset.classes)
    scheme = read_prices(prices, dataset.feature_names, registry, dataset.sizes is not None)
    name, estimator = method_of(method, parameters, registry)
    bench = Bench(dataset, scheme, encode, threshold, exit_threshold, threads=threads)
    problem, encoder = _problem(bench, seed)
    refused = estimator.inapplicable(facts_after_encoding(dataset, problem.costs, encode, bench.fit_threshold))
    if refused is not None:
        raise RequestError(f"{name} cannot be used here: {refused}")
    family = as_family(estimator.fit(problem), name)
    number, judged = _chosen(family, problem, bench, goal)
    policy = family.policies[number]
    askable: Policy = policy
    if not can_be_asked(policy):
        background = background_of(problem.train.X, problem.feature_of_column, seed)
        askable = AskedBySubstitution(policy, background, np.array(problem.feature_of_column))
    about = {
        "method": name,
        "plugin": _plugin(registry, name),
        "parameters": _parameters(estimator),
        "policy": {"label": policy.label, "details": plain(dict(policy.details)), "of": len(family.policies)},
        "goal": goal.as_plain(),
        "goal_in_words": goal.in_words(),
        "encode": encode,
        "seed": seed,
        "data": {"name": dataset.name, "rows": dataset.n_rows, "content": dataset.content},
        "target": target or target_name,
        "measured": _measured(bench, name, estimator, goal, splits),
        "full_cost": float(problem.costs.total(dataset.n_rows, dataset.sizes).mean()),
        "validation": {"quality": judged.quality, "cost": judged.cost},
        "usage": _usage(policy, askable, problem),
        "versions": _versions(registry, name),
    }
    return FittedPolicy(
        policy=askable,
        encoder=encoder,
        costs=problem.costs,
        feature_names=dataset.feature_names,
        categories={f: tuple(texts) for f, texts in dataset.categories.items()},
        numeric_categories=_numeric_categories(dataset),
        classes=dataset.classes,
        task=dataset.task,
        threshold=threshold,
        takes_missing=type(estimator).takes_missing and encode == "raw",
        size_column=size,
        about=about,
    )


def _problem(bench: Bench, seed: int) -> tuple[Problem, Encoder]:
    """All rows: the training and the test part of a random split train, its validation part chooses."""
    dataset = bench.dataset
    split = make_split(dataset, SplitRule(), seed)
    train = np.sort(np.concatenate([split.train, split.test]))
    encoder = fit_encoder(dataset, train, bench.encode)

    def part(rows: NDArray[np.int64]) -> Part:
        sizes = None if dataset.sizes is None else dataset.sizes[rows]
        return Part(encoder.transform(dataset.values[rows]), dataset.target[rows], sizes)

    problem = Problem(
        train=part(train),
        validation=part(split.validation),
        costs=bench.scheme.price(dataset, train, seed),
        task=dataset.task,
        n_classes=len(dataset.classes),
        feature_names=dataset.feature_names,
        feature_of_column=encoder.feature_of_column,
        categorical=dataset.categorical,
        threshold=bench.fit_threshold,
        seed=seed,
        threads=bench.threads,
    )
    return problem, encoder


def _chosen(family: Family, problem: Problem, bench: Bench, goal: Goal) -> tuple[int, Judged]:
    judged = []
    for policy in family.policies:
        decisions = policy.decide(problem.validation.rows())
        decisions = decisions.checked(len(problem.validation), problem.n_features, problem.n_classes)
        outcome = outcome_of(decisions, problem.validation, problem.costs, problem.task, threshold=bench.threshold)
        judged.append(judge(outcome, bench.dataset.classes, goal))
    number = goal.choose(judged, len(problem.validation))
    return number, judged[number]


def corrected_half_width(values: Sequence[float], test_share: float) -> float:
    """Half of the 95 % interval of a mean over random splits, corrected for their overlap (Nadeau and Bengio 2003).

    Args:
        values: one per split.
        test_share: test rows over training rows.
    """
    count = len(values)
    if count < 2:
        return math.nan
    from scipy.stats import t

    variance = float(np.var(values, ddof=1)) * (1.0 / count + test_share)
    return float(t.ppf(0.975, count - 1)) * math.sqrt(variance)


def summary(chosen: Sequence[Judged], test_share: float) -> dict[str, Any]:
    """Means over splits with half-widths of 95 % intervals, as plain values."""
    out: dict[str, Any] = {"splits": len(chosen)}
    for name in ("quality", "cost", "coverage", "accuracy", "loss"):
        values = [getattr(judged, name) for judged in chosen]
        out[name] = float(np.mean(values)) if values else math.nan
        out[f"{name}_half"] = corrected_half_width(values, test_share)
    return out


def _measured(bench: Bench, name: str, method: Method, goal: Goal, splits: int) -> dict[str, Any]:
    chosen: list[Judged] = []
    classes = bench.dataset.classes
    for seed in range(1, splits + 1):
        tried = bench.run(name, method, seed)
        if tried.error:
            raise RequestError(f"{name} failed on split {seed}: {tried.error}")
        number = goal.choose(
            [judge(outcome, classes, goal) for outcome in tried.validation], len(tried.validation[0].y)
        )
        chosen.append(judge(tried.test[number], classes, goal))
    return summary(chosen, bench.split.test / (bench.split.train + bench.split.validation)) if chosen else {"splits": 0}


_ASKED_ROWS = 300


def _usage(policy: Policy, askable: Policy, problem: Problem) -> dict[str, Any]:
    """On all rows: how often each feature is bought, by exit stage; what an answer costs, by exit stage.

    On the first few of them: in which step a feature is asked for, the mean over the rows that ask; None for never.
    """
    X = np.concatenate([problem.train.X, problem.validation.X])
    sizes = None
    if problem.train.sizes is not None and problem.validation.sizes is not None:
        sizes = np.concatenate([problem.train.sizes, problem.validation.sizes])
    rows = replace(problem.train.rows(), X=X, sizes=sizes, query=None)
    decided = policy.decide(rows)
    stage = np.ones(len(X), dtype=np.int64) if decided.stage is None else decided.stage
    bill = problem.costs.bill(np.asarray(decided.acquired), sizes)
    stages = [
        {
            "stage": int(number),
            "share": float(np.mean(stage == number)),
            "cost": float(bill[stage == number].mean()),
            "bought": np.asarray(decided.acquired)[stage == number].mean(axis=0).round(6).tolist(),
        }
        for number in np.unique(stage)
    ]
    asked = replay(askable, rows.take(np.arange(min(len(X), _ASKED_ROWS))), problem.feature_of_column).bought_in
    steps = [float(step[step > 0].mean().round(2)) if step.any() else None for step in asked.T]
    bought = np.asarray(decided.acquired).mean(axis=0).round(6).tolist()
    return {"rows": len(X), "bought": bought, "steps": steps, "stages": stages}


def _numeric_categories(dataset: Dataset) -> dict[int, tuple[float, ...]]:
    return {
        f: tuple(np.unique(dataset.values[~np.isnan(dataset.values[:, f]), f]).tolist())
        for f in dataset.categorical
        if f not in dataset.categories
    }


def _parameters(method: Method) -> dict[str, Any]:
    fields = getattr(type(method), "__dataclass_fields__", {})
    return {name: plain(getattr(method, name)) for name, field in fields.items() if field.init}


def _plugin(registry: Registry, name: str) -> str:
    return registry.plugin_of("methods", name).name if name in registry.methods else ""


def _versions(registry: Registry, name: str) -> dict[str, str]:
    out = {"contract": str(CONTRACT_VERSION), "python": platform.python_version()}
    distributions = ["budgetbench", "budgetbench-policies", "numpy", "scikit-learn"]
    if name in registry.methods:
        distributions.append(registry.plugin_of("methods", name).distribution)
    for distribution in distributions:
        try:
            out[distribution] = version(distribution)
        except PackageNotFoundError:
            continue
    return out
