"""Fit a policy for use: on all rows, at the operating point that serves a goal, measured on repeated splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import (
    Dataset,
    Method,
    Part,
    Policy,
    Problem,
    RequestError,
    SplitRule,
    as_family,
    fit_encoder,
    outcome_of,
    plain,
)
from bench_core.execution import Capped, Encoder, can_be_asked, make_split, replay
from bench_core.suites import load_registry
from bench_policies.budgets import within_budget
from bench_policies.capping import CappedMethod, refitted
from bench_policies.evaluating import method_of
from bench_policies.exporting import to_export
from bench_policies.fitted import FittedPolicy
from bench_policies.goals import Goal, Judged, within
from bench_policies.judging import judge, paid
from bench_policies.measuring import measure
from bench_policies.prices import Prices, read_prices
from bench_policies.substitution import AskedBySubstitution, background_of
from bench_policies.tables import (
    Columns,
    Data,
    apart_from_features,
    check_rows,
    facts_after_encoding,
    merge_rare,
    read_table,
)
from bench_policies.trials import Bench, Setup, stopped_at
from bench_policies.versions import plugin_of, versions_of


def fit_policy(
    method: str | Method,
    data: Data,
    prices: Prices,
    *,
    target: str | None = None,
    columns: Columns | None = None,
    parameters: Mapping[str, Any] | None = None,
    goal: Goal | None = None,
    setup: Setup | None = None,
    splits: int = 5,
    seed: int = 0,
    exportable: bool = False,
) -> FittedPolicy:
    """Fit a method on all rows and choose the policy of its family that serves a goal best.

    Three quarters of the rows are training rows. The others are validation rows: they choose the policy, and a method
    may use them too, for calibration for example. Cost and quality are measured separately, by fitting again on
    ``splits`` random splits with a test part.

    Args:
        method: a registered name, or a method.
        data: a DataFrame, a path to CSV or Parquet, or a data set.
        prices: prices by name or in the columns' order, a file's path, or a cost scheme.
        target: the column to predict; for a data set, the target's name on the card, or None.
        columns: how the other columns of a DataFrame or file are read; see `Columns`.
        parameters: parameters of a method given by name. A method with a parameter ``budgets`` gets the goal's budget
            where ``budgets`` is not given.
        goal: the goal; None: best quality. See `Goal`.
        setup: encoding, threshold and threads; see `Setup`.
        splits: number of random splits to measure on; 0 measures nothing.
        seed: seed of the split into training and validation rows, and of the method.
        exportable: whether to refuse a policy that cannot be exported, before it is measured.

    Raises:
        RequestError: a name, a price or the table is invalid, the method does not apply to the data, or none of its
            policies keeps to the budget on the validation rows; the message names the least budget that works.
    """
    registry, goal, setup, columns = load_registry(), goal or Goal(), setup or Setup(), columns or Columns()
    dataset = merge_rare(read_table(data, target, registry, columns))
    if dataset.task == "ranking":
        raise RequestError("a policy answers single rows, so it cannot be fitted on ranking data, which has queries")
    goal.check(dataset.task, dataset.classes)
    goal = goal.on(dataset.target, dataset.classes)
    if splits:
        check_rows(dataset)
    apart = apart_from_features(target, columns)
    scheme = read_prices(prices, dataset.feature_names, registry, dataset.sizes is not None, apart)
    bench = Bench(dataset, scheme, setup, cap=goal.cap)
    problem, encoder = _problem(bench, seed)
    if isinstance(method, str):
        full = float(problem.costs.total(dataset.n_rows, dataset.sizes).mean())
        parameters = within_budget(parameters or {}, registry.method(method), goal, full, problem.costs.depends_on_size)
    name, estimator = method_of(method, parameters, registry)
    thresholds = bench.thresholds(estimator)
    refused = estimator.inapplicable(facts_after_encoding(dataset, problem.costs, setup.encode, thresholds[0]))
    if refused is not None:
        raise RequestError(f"{name} cannot be used here: {refused}")
    fitted_by = estimator if goal.cap is None else CappedMethod(estimator, goal.cap)
    family = [
        (exit_at, policy)
        for exit_at in thresholds
        for policy in as_family(fitted_by.fit(replace(problem, threshold=exit_at)), name).policies
    ]
    number, judged = _chosen(name, [policy for _, policy in family], problem, bench, goal)
    exit_at, policy = family[number]
    if goal.cap is None:
        policy = refitted(estimator, policy, problem)
    elif isinstance(policy, Capped):
        policy = replace(policy, policy=refitted(estimator, policy.policy, problem, goal.cap))
    if exportable:
        to_export(policy, problem.costs, problem.n_features, name)
    measured, trivial = measure(bench, name, estimator, goal, splits)
    askable: Policy = policy
    if not can_be_asked(policy):
        background = background_of(problem.train.X, problem.feature_of_column, seed)
        askable = AskedBySubstitution(policy, background, np.array(problem.feature_of_column))
    about = {
        "method": name,
        "plugin": plugin_of(registry, name),
        "parameters": _parameters(estimator),
        "policy": {"label": policy.label, "details": plain(dict(policy.details)), "of": len(family)},
        "exit_threshold": stopped_at(exit_at, estimator, policy.details) if setup.threshold is None else None,
        "goal": goal.as_plain(),
        "goal_in_words": goal.in_words(bool(dataset.classes)),
        "encode": setup.encode,
        "seed": seed,
        "data": {"name": dataset.name, "rows": dataset.n_rows, "content": dataset.content},
        "target": target or "",
        "table": columns.of_file(),
        "measured": measured,
        "trivial": trivial,
        "full_cost": float(problem.costs.total(dataset.n_rows, dataset.sizes).mean()),
        "validation": {"rows": len(problem.validation), "met": goal.met(judged), **_plain(judged)},
        "truth_values": _truth_values(dataset),
        "group_names": list(getattr(scheme, "groups", {})),
        "usage": _usage(policy, askable, problem),
        "versions": versions_of(registry, name),
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
        answering=goal.answering(dataset.classes, setup.threshold),
        takes_missing=type(estimator).takes_missing and setup.encode == "raw",
        size_column=columns.size,
        about=about,
    )


def _problem(bench: Bench, seed: int) -> tuple[Problem, Encoder]:
    """Return the problem on all rows, with the validation part of a random split; all other rows are for training."""
    dataset = bench.dataset
    split = make_split(dataset, SplitRule(), seed)
    train = np.sort(np.concatenate([split.train, split.test]))
    encoder = fit_encoder(dataset, train, bench.setup.encode)

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
        seed=seed,
        threads=bench.setup.threads,
    )
    return problem, encoder


def _chosen(name: str, family: Sequence[Policy], problem: Problem, bench: Bench, goal: Goal) -> tuple[int, Judged]:
    judged = []
    for policy in family:
        decisions = policy.decide(problem.validation.rows())
        decisions = decisions.checked(len(problem.validation), problem.n_features, problem.n_classes)
        outcome = outcome_of(
            decisions, problem.validation, problem.costs, problem.task, threshold=bench.setup.threshold
        )
        judged.append(judge(outcome, bench.dataset.classes, goal))
    number = goal.choose(judged, len(problem.validation))
    if goal.budget is not None and not goal.met(judged[number]):
        raise RequestError(beyond_budget(goal.budget, {name: min(one.cost for one in judged)}))
    if goal.cap is not None and not within(judged[number].most, goal.cap):
        raise RequestError(f"{name} cannot be cut at a cap of {goal.cap:g}: prices that grow with sizes exceed it")
    return number, judged[number]


def beyond_budget(budget: float, least: Mapping[str, float]) -> str:
    """Return the message that no method keeps to a budget, with the least budget that works.

    Args:
        budget: mean cost of a row.
        least: mean cost of each method's cheapest policy on the validation rows, by name.
    """
    name = min(least, key=lambda name: least[name])
    enough = Context(prec=6, rounding=ROUND_CEILING).create_decimal(least[name])
    subject = f"{name} cannot" if len(least) == 1 else "no method here can"
    return (
        f"{subject} keep to a mean cost of {budget:g} a row; the least budget that works is {float(enough):g}"
        + f" ({name})" * (len(least) > 1)
    )


def _plain(judged: Judged) -> dict[str, float]:
    return {name: getattr(judged, name) for name in ("quality", "cost", "loss", "total", "most")}


_REPLAYED_ROWS = 300


def _usage(policy: Policy, askable: Policy, problem: Problem) -> dict[str, Any]:
    """Return the share of rows that buy each feature, also by exit stage, and the mean cost by exit stage.

    ``steps`` holds the mean step in which each feature is asked for, by replaying the first `_REPLAYED_ROWS` rows; None
    where none of them asks for it.
    """
    X = np.concatenate([problem.train.X, problem.validation.X])
    sizes = None
    if problem.train.sizes is not None and problem.validation.sizes is not None:
        sizes = np.concatenate([problem.train.sizes, problem.validation.sizes])
    rows = replace(problem.train.rows(), X=X, sizes=sizes, query=None)
    decided = policy.decide(rows)
    stage = np.ones(len(X), dtype=np.int64) if decided.stage is None else decided.stage
    bill = paid(decided, problem.costs, sizes)
    stages = [
        {
            "stage": int(number),
            "share": float(np.mean(stage == number)),
            "cost": float(bill[stage == number].mean()),
            "bought": np.asarray(decided.acquired)[stage == number].mean(axis=0).round(6).tolist(),
        }
        for number in np.unique(stage)
    ]
    asked = replay(askable, rows.take(np.arange(min(len(X), _REPLAYED_ROWS))), problem.feature_of_column).bought_in
    steps = [float(step[step > 0].mean().round(2)) if step.any() else None for step in asked.T]
    bought = np.asarray(decided.acquired).mean(axis=0).round(6).tolist()
    return {"rows": len(X), "bought": bought, "steps": steps, "stages": stages}


def _numeric_categories(dataset: Dataset) -> dict[int, tuple[float, ...]]:
    return {
        f: tuple(np.unique(dataset.values[~np.isnan(dataset.values[:, f]), f]).tolist())
        for f in dataset.categorical
        if f not in dataset.categories
    }


def _truth_values(dataset: Dataset) -> list[int]:
    held = np.isnan(dataset.values) | np.isin(dataset.values, (0, 1))
    return [int(f) for f in np.flatnonzero(held.all(axis=0)) if f not in dataset.categories]


def _parameters(method: Method) -> dict[str, Any]:
    fields = getattr(type(method), "__dataclass_fields__", {})
    return {name: plain(getattr(method, name)) for name, field in fields.items() if field.init}
