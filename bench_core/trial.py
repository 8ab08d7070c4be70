"""Trials: one unit of work, its name, and how it becomes a record."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import CONTRACT_VERSION
from bench_core.audit import Auditor
from bench_core.canonical import canonical_json, plain, sha256_text
from bench_core.costs import Costs, CostScheme
from bench_core.dataset import Dataset, DataSource, Part
from bench_core.decisions import Decisions, Outcome
from bench_core.distribution import distribution
from bench_core.encode import fit_encoder
from bench_core.errors import BenchError, ContractError, DataError
from bench_core.method import Family, Method, Policy, Problem, as_family
from bench_core.metrics import Metric, evaluate
from bench_core.parameters import to_plain
from bench_core.split import Split, SplitRule, make_split

__all__ = ["Judged", "Prepared", "Trial", "TrialResult", "fragment", "prepare", "run_trial"]

RECORD_FORMAT = 2


@dataclass(frozen=True)
class Trial:
    """Data set × split seed × cost scheme × method × parameters.

    The labels (``dataset``, ``costs``, ``method``, ``point``) are the suite's words for it and not part of its
    name; the rest is.
    """

    dataset: str
    dataset_use: str
    source: DataSource
    costs: str
    costs_use: str
    scheme: CostScheme
    method: str
    method_use: str
    estimator: Method
    point: int
    split: SplitRule
    encode: str
    threshold: float | None
    reject: bool
    seed: int
    audit_rounds: int = 2

    def identity(self, content: str) -> str:
        """Canonical JSON of all that determines the result.

        Args:
            content: the data set's content hash.
        """
        # Written key by key, in sorted order: the fragments are shared by thousands of trials.
        return (
            f'{{"contract":{CONTRACT_VERSION},"costs":{fragment(self.costs_use, self.scheme)},'
            f'"dataset":"{content}","encode":"{self.encode}",'
            f'"method":{fragment(self.method_use, self.estimator)},'
            f'"reject":{"true" if self.reject else "false"},"seed":{self.seed},'
            f'"split":{_split_fragment(self.split)},"threshold":{_number(self.threshold)}}}'
        )

    def name(self, content: str) -> str:
        """SHA-256 of `identity`: the trial's name in the store."""
        return sha256_text(self.identity(content))


_FRAGMENTS: dict[int, tuple[object, str]] = {}


def fragment(use: str, thing: Any) -> str:
    """Canonical JSON of a registered thing: its name, version and parameters. Remembered per instance."""
    kept = _FRAGMENTS.get(id(thing))
    if kept is not None and kept[0] is thing:
        return kept[1]
    text = canonical_json({"use": use, "version": type(thing).version, "parameters": to_plain(thing)})
    if len(_FRAGMENTS) > 200_000:
        _FRAGMENTS.clear()
    _FRAGMENTS[id(thing)] = (thing, text)
    return text


@lru_cache(maxsize=1024)
def _split_fragment(rule: SplitRule) -> str:
    return canonical_json(to_plain(rule))


def _number(value: float | None) -> str:
    return canonical_json(value)


@dataclass(frozen=True)
class Prepared:
    """A data set split, encoded and priced: what all methods of one seed share.

    Attributes:
        problem: what methods are given (threshold and threads are set per trial).
        test: the test part.
        split: row numbers of the parts.
        auditors: substitutes for the validation and the test rows.
    """

    problem: Problem
    test: Part
    split: Split
    auditor: Auditor


@dataclass(frozen=True)
class Judged:
    """One policy's outcome on one part."""

    policy: int
    part: str
    outcome: Outcome


@dataclass(frozen=True)
class TrialResult:
    """What a trial produced: the record, and the decisions it was computed from (None when it failed)."""

    record: dict[str, Any]
    outcomes: list[Judged] | None
    rows: Mapping[str, NDArray[np.int64]] | None


def prepare(
    dataset: Dataset, scheme: CostScheme, rule: SplitRule, encode: str, seed: int, audit_rounds: int
) -> Prepared:
    """Split, encode and price a data set under a seed.

    Raises:
        DataError: it cannot be split, or the prices do not fit it.
    """
    split = make_split(dataset, rule, seed)
    encoder = fit_encoder(dataset, split.train, encode)
    try:
        costs = scheme.price(dataset, split.train, seed)
    except DataError as error:
        named = repr(dataset.name) in str(error)
        raise (error if named else DataError(f"data set {dataset.name!r}, its prices: {error}")) from None
    if not isinstance(costs, Costs) or costs.n_features != dataset.n_features:
        priced = costs.n_features if isinstance(costs, Costs) else type(costs).__name__
        raise ContractError(f"{type(scheme).__name__} priced {priced} features of {dataset.n_features}")
    train, validation, test = (
        Part(
            X=encoder.transform(dataset.values[rows]),
            y=dataset.target[rows],
            sizes=None if dataset.sizes is None else dataset.sizes[rows],
            query=None if dataset.query is None else dataset.query[rows],
        )
        for rows in (split.train, split.validation, split.test)
    )
    problem = Problem(
        train=train,
        validation=validation,
        costs=costs,
        task=dataset.task,
        n_classes=len(dataset.classes),
        feature_names=dataset.feature_names,
        feature_of_column=encoder.feature_of_column,
        categorical=dataset.categorical,
        seed=seed,
    )
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0xA0D17]))
    auditor = Auditor.prepare(test.rows(), encoder.feature_of_column, train.X, rng, rounds=audit_rounds)
    return Prepared(problem, test, split, auditor)


def run_trial(
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    provenance: Mapping[str, Any],
    threads: int = 1,
) -> TrialResult:
    """Fit, decide, audit, bill and judge. Whatever a plugin raises becomes a failed record.

    Args:
        trial: what to do.
        dataset: its data set.
        prepared: from `prepare`.
        metrics: what to compute, by name.
        provenance: kept in the record: versions, host, date.
        threads: how many threads the method may use.
    """
    clock = _Clock()
    name = trial.name(dataset.content)
    record: dict[str, Any] = {
        "format": RECORD_FORMAT,
        "name": name,
        "trial": trial.identity(dataset.content),
        "provenance": dict(provenance),
    }
    try:
        threshold = trial.threshold if trial.reject else None
        problem = _with(prepared.problem, threshold=trial.threshold, threads=threads)
        with clock("fit"):
            family = as_family(trial.estimator.fit(problem), type(trial.estimator).__name__)
        clock.seconds["fit"] += float(family.reused_seconds)
        outcomes, deciding = _judge(family, problem, prepared, threshold, clock)
        with clock("metrics"):
            record["policies"] = _table(family, outcomes, metrics)
            record["usage"] = _usage(outcomes)
            tested = [judged.outcome for judged in outcomes if judged.part == "test"]
            spread = distribution([one.decisions for one in tested], tested[0].reference)
            if spread is not None:
                record["evaluations"] = spread
        record["status"] = "ok"
        record["task"] = dataset.task
        record["history"] = plain(dict(family.history))
        record["diagnostics"] = plain(dict(family.diagnostics))
        record["features"] = list(dataset.feature_names)
        record["costs"] = problem.costs.as_plain()
        record["rows"] = {
            part: len(getattr(prepared.split, part)) for part in ("train", "validation", "test")
        }
    except Exception as error:
        return TrialResult(failed_record(record, error, clock.step, clock.seconds), None, None)
    record["timings"] = {**clock.seconds, **deciding}
    rows = {part: getattr(prepared.split, part) for part in ("validation", "test")}
    return TrialResult(record, outcomes, rows)


def failed_record(
    record: dict[str, Any], error: BaseException, step: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The record of a trial that failed: what went wrong, in which step, and where."""
    kept = {key: record[key] for key in ("format", "name", "trial", "provenance")}
    known = isinstance(error, BenchError)
    where = "" if known else "".join(traceback.format_exception(error)[-12:])
    message = " ".join(str(error).split()) or type(error).__name__
    said = {"type": type(error).__name__, "message": message, "step": step, "traceback": where}
    return {**kept, "status": "failed", "error": said, "timings": dict(seconds)}


def _judge(
    family: Family, problem: Problem, prepared: Prepared, threshold: float | None, clock: _Clock
) -> tuple[list[Judged], dict[str, Any]]:
    """Every policy's outcomes, and the processor's seconds that each took to decide on the test rows.

    Of all threads, waiting left out, after the policy had decided on validation.
    """
    parts = {"validation": problem.validation, "test": prepared.test}
    full = {part: problem.costs.total(len(rows), rows.sizes) for part, rows in parts.items()}
    reference: dict[str, Decisions] = {}
    deciding: dict[str, Any] = {"decide_per_policy": []}
    if family.reference is not None:
        for part, rows in parts.items():
            with clock("decide"):
                reference[part] = _decide(family.reference, rows, problem, "the reference policy")
        deciding["decide_reference"] = clock.busy
    judged = []
    for number, policy in enumerate(family.policies):
        said = f"policy {number}" + (f" ({policy.label})" if policy.label else "")
        for part, rows in parts.items():
            with clock("decide"):
                decisions = _decide(policy, rows, problem, said)
            if part == "test":
                deciding["decide_per_policy"].append(clock.busy)
                with clock("audit"):
                    prepared.auditor.check(policy, decisions, problem.feature_names, said)
            outcome = Outcome(
                task=problem.task,
                y=rows.y,
                decisions=decisions,
                bill=problem.costs.bill(decisions.acquired, rows.sizes),
                full_bill=full[part],
                evaluation_bill=_evaluation_bill(decisions, problem.costs),
                threshold=threshold,
                query=rows.query,
                reference=reference.get(part),
                budget=policy.budget,
            )
            judged.append(Judged(number, part, outcome))
    return judged, deciding


def _decide(policy: Policy, rows: Part, problem: Problem, said: str) -> Decisions:
    decisions = policy.decide(rows.rows())
    if not isinstance(decisions, Decisions):
        raise ContractError(f"{said}: decide must return Decisions, not {type(decisions).__name__}")
    try:
        return decisions.checked(len(rows), problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{said}: {error}") from None


def _evaluation_bill(decisions: Decisions, costs: Costs) -> NDArray[np.float64]:
    if decisions.evaluation_cost is not None:
        return np.asarray(decisions.evaluation_cost, dtype=np.float64)
    count = np.ones(len(decisions)) if decisions.evaluations is None else decisions.evaluations
    return np.asarray(count, dtype=np.float64) * costs.evaluation


def _table(family: Family, outcomes: list[Judged], metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """The family by columns: label, details, budget, and each metric on validation and test."""
    columns: dict[str, Any] = {
        "label": [str(policy.label) for policy in family.policies],
        "details": [plain(dict(policy.details)) for policy in family.policies],
        "budget": plain([policy.budget for policy in family.policies]),
        "validation": {},
        "test": {},
    }
    for judged in outcomes:
        for name, value in evaluate(judged.outcome, metrics).items():
            columns[judged.part].setdefault(name, []).append(plain(value))
    return columns


_MOST_USAGE = 6000
"""Numbers of usage kept per record: the first policies of a family come first."""


def _usage(outcomes: list[Judged]) -> list[list[list[float]] | None]:
    """Per policy, per exit stage, per feature: share of test rows that left there with the feature acquired.

    None for the later policies of families that would need more than `_MOST_USAGE` numbers.
    """
    kept: list[list[list[float]] | None] = []
    left = _MOST_USAGE
    for judged in outcomes:
        if judged.part != "test":
            continue
        acquired, stage = judged.outcome.decisions.acquired, judged.outcome.decisions.stage
        stages = 1 if stage is None else int(stage.max(initial=1))
        left -= stages * acquired.shape[1]
        if left < 0 or not len(acquired):
            kept.append(None)
        elif stage is None:
            kept.append([np.round(acquired.mean(axis=0), 6).tolist()])
        else:
            shares = [acquired[stage == s].sum(axis=0) / len(acquired) for s in range(1, stages + 1)]
            kept.append(np.round(np.stack(shares), 6).tolist())
    return kept


def _with(problem: Problem, *, threshold: float | None, threads: int) -> Problem:
    fields = {name: getattr(problem, name) for name in Problem.__dataclass_fields__}
    return Problem(**{**fields, "threshold": threshold, "threads": threads})


class _Clock:
    """Seconds by step, summed over the times a step was entered.

    Attributes:
        busy: processor's seconds of this process, all threads, in the step entered last.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.step = "start"
        self.busy = 0.0
        self._since = self._busy_since = 0.0

    def __call__(self, step: str) -> _Clock:
        self.step = step
        return self

    def __enter__(self) -> None:
        self._since, self._busy_since = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._since
        self.busy = time.process_time() - self._busy_since
        self.seconds[self.step] = self.seconds.get(self.step, 0.0) + spent
