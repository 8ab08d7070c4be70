"""Trials: one unit of work, its name, and how it becomes a record."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import canonical_json, plain, sha256_text, writable
from bench_core.contract.costs import Costs, CostScheme
from bench_core.contract.dataset import Dataset, DataSource, Part
from bench_core.contract.decisions import Decisions, Outcome, Rows
from bench_core.contract.errors import BenchError, ContractError, DataError, DataWritten
from bench_core.contract.method import Family, Method, Policy, Problem, as_family
from bench_core.contract.metric import Metric, evaluate
from bench_core.contract.parameters import to_plain
from bench_core.contract.readonly import HOW_TO_WRITE, checksums, frozen, is_write_refusal, locked
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor
from bench_core.protocol.encode import fit_encoder
from bench_core.protocol.shuffle import shuffled
from bench_core.protocol.split import Split, SplitRule, make_split
from bench_core.run.distribution import distribution

__all__ = ["PolicyOutcome", "Prepared", "Trial", "TrialResult", "fragment", "prepare", "run_trial"]

RECORD_FORMAT = 2

TRIAL_VERSION = 1
"""Raised when the meaning of a trial changes; part of every trial's name."""


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
            f'{{"audit_rounds":{self.audit_rounds},"contract":{TRIAL_VERSION},'
            f'"costs":{fragment(self.costs_use, self.scheme)},'
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
class Shown:
    """A part's rows as policies see them: in an order of the core's choosing, with query ids from 0.

    Attributes:
        rows: read-only.
        place: int64 (rows,): where each of the part's rows stands among them.
    """

    rows: Rows
    place: NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """A data set split, encoded and priced: what all methods of one seed share. Its arrays are read-only.

    Attributes:
        problem: what methods are given (threshold and threads are set per trial).
        test: the test part.
        split: row numbers of the parts.
        auditor: substitutes for the test rows.
        shown: ``validation`` and ``test`` as policies see them.
        sums: checksums of the arrays that plugins are handed, by name.
    """

    problem: Problem
    test: Part
    split: Split
    auditor: Auditor
    shown: Mapping[str, Shown]
    sums: Mapping[str, int]

    def written(self) -> list[str]:
        """Names of the arrays that are not what they were."""
        now = checksums(_shared(self.problem, self.test, self.shown))
        return [name for name, sum_ in self.sums.items() if now[name] != sum_]


@dataclass(frozen=True)
class PolicyOutcome:
    """One policy's outcome on one part."""

    policy: int
    part: str
    outcome: Outcome


@dataclass(frozen=True)
class TrialResult:
    """What a trial produced: the record, and the decisions it was computed from (None when it failed).

    Attributes:
        written: names of shared arrays that were written to: what was prepared must not be used again.
    """

    record: dict[str, Any]
    outcomes: list[PolicyOutcome] | None
    rows: Mapping[str, NDArray[np.int64]] | None
    written: tuple[str, ...] = ()


def prepare(
    dataset: Dataset, scheme: CostScheme, rule: SplitRule, encode: str, seed: int, audit_rounds: int
) -> Prepared:
    """Split, encode and price a data set under a seed.

    Raises:
        DataError: it cannot be split, or the prices do not fit it.
    """
    split = make_split(dataset, rule, seed)
    encoder = fit_encoder(dataset, split.train, encode)
    costs = _price(dataset, scheme, split.train, seed)
    train, validation, test = (
        Part(
            X=frozen(encoder.transform(dataset.values[rows])),
            y=frozen(dataset.target[rows]),
            sizes=None if dataset.sizes is None else frozen(dataset.sizes[rows]),
            query=None if dataset.query is None else frozen(dataset.query[rows]),
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
        feature_of_column=frozen(encoder.feature_of_column),
        categorical=dataset.categorical,
        seed=seed,
    )
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0xA0D17]))
    auditor = Auditor.prepare(test.rows(), encoder.feature_of_column, train.X, rng, rounds=audit_rounds)
    shown = {
        name: _show(part, np.random.PCG64(np.random.SeedSequence([seed, 0x0DE5, number])))
        for number, (name, part) in enumerate((("validation", validation), ("test", test)))
    }
    return Prepared(problem, test, split, auditor, shown, checksums(_shared(problem, test, shown)))


def _price(dataset: Dataset, scheme: CostScheme, train: NDArray[np.int64], seed: int) -> Costs:
    """A scheme's prices, in arrays of the core's own.

    Raises:
        DataError: the prices do not fit the data set.
        ContractError: the scheme gave none, or wrote into the data set.
    """
    held = {
        "values": dataset.values,
        "target": dataset.target,
        "sizes": dataset.sizes,
        "query": dataset.query,
    }
    before = checksums(held)
    try:
        costs = scheme.price(dataset, train, seed)
    except DataError as error:
        named = repr(dataset.name) in str(error)
        raise (error if named else DataError(f"data set {dataset.name!r}, its prices: {error}")) from None
    after = checksums(held)
    written = [name for name, sum_ in before.items() if after[name] != sum_]
    if written:
        raise DataWritten(
            f"the cost scheme {type(scheme).__name__} wrote into the data set's {', '.join(written)}: {HOW_TO_WRITE}"
        )
    if type(costs) is not Costs or costs.n_features != dataset.n_features:
        priced = costs.n_features if isinstance(costs, Costs) else type(costs).__name__
        raise ContractError(f"{type(scheme).__name__} priced {priced} features of {dataset.n_features}")
    return replace(costs)  # checked again, and an object of the core's own


_PRICED = ("prices", "groups", "group_prices", "classes")


def _show(part: Part, bits: np.random.BitGenerator) -> Shown:
    """A part's rows, without labels, in a random order."""
    order, query = shuffled(bits, len(part), part.query)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = Rows(
        frozen(part.X[order]),
        None if part.sizes is None else frozen(part.sizes[order]),
        None if query is None else frozen(query),
    )
    return Shown(rows, place)


def _shared(problem: Problem, test: Part, shown: Mapping[str, Shown]) -> dict[str, NDArray[Any] | None]:
    """Every array that plugins are handed and other trials use, by the name that a plugin knows it by."""
    arrays: dict[str, NDArray[Any] | None] = {
        f"problem.costs.{name}": getattr(problem.costs, name) for name in _PRICED
    }
    arrays["problem.feature_of_column"] = problem.feature_of_column
    for name, part in (("train", problem.train), ("validation", problem.validation)):
        arrays |= {f"problem.{name}.{field}": getattr(part, field) for field in ("X", "y", "sizes", "query")}
    for name, seen in shown.items():
        arrays |= {f"rows.{field} of {name}": getattr(seen.rows, field) for field in ("X", "sizes", "query")}
    arrays |= {f"the test part's {field}": getattr(test, field) for field in ("y", "sizes", "query")}
    return arrays


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
    start = dict(record)
    try:
        outcomes, deciding = _filled(record, trial, dataset, prepared, metrics, threads, clock)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() in a method is its trial's failure, not the run's end
        failed = failed_record(start, error, clock.step, clock.seconds)
        return TrialResult(failed, None, None, tuple(prepared.written()))
    written = prepared.written()
    if written:
        said = ContractError(f"{', '.join(written)} was written to: {HOW_TO_WRITE}")
        return TrialResult(
            failed_record(start, said, "fit or decide", clock.seconds), None, None, tuple(written)
        )
    record["timings"] = {**clock.seconds, **deciding}
    rows = {part: getattr(prepared.split, part) for part in ("validation", "test")}
    return TrialResult(record, outcomes, rows)


def _filled(
    record: dict[str, Any],
    trial: Trial,
    dataset: Dataset,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    threads: int,
    clock: _Clock,
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Fill a record with what came of a trial; the outcomes, and seconds of deciding."""
    threshold = trial.threshold if trial.reject else None
    problem = _handed(prepared.problem, threshold=trial.threshold, threads=threads)
    with clock("fit"):
        family = as_family(trial.estimator.fit(problem), type(trial.estimator).__name__)
    clock.seconds["fit"] += float(family.reused_seconds)
    described = [_described(number, policy) for number, policy in enumerate(family.policies)]
    ranked = prepared.problem.task == "ranking" or prepared.test.query is not None
    agreement = Agreement(
        threshold=threshold,
        ranked=ranked or any(metric.order for metric in metrics.values()),
        scale=0.0 if dataset.classes else float(np.std(prepared.problem.train.y)),
    )
    auditor = replace(prepared.auditor, agreement=agreement)
    outcomes, deciding = _judge(family, described, prepared, auditor, threshold, clock)
    with clock("metrics"):
        record["policies"] = _table(described, outcomes, metrics)
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
    record["costs"] = prepared.problem.costs.as_plain()
    record["rows"] = {part: len(getattr(prepared.split, part)) for part in ("train", "validation", "test")}
    return outcomes, deciding


@dataclass(frozen=True)
class _Described:
    """What a policy says of itself, read once."""

    said: str
    label: str
    details: Any
    budget: float | None


def _described(number: int, policy: Policy) -> _Described:
    """Read a policy's label, details and budget.

    Raises:
        ContractError: the budget is not a number from 0.
    """
    label, budget = writable(str(policy.label)), policy.budget
    said = f"policy {number}" + (f" ({label})" if label else "")
    if budget is not None:
        try:
            budget = float(budget)
        except (TypeError, ValueError):
            budget = float("nan")
        if not budget >= 0:
            raise ContractError(f"{said}: budget must be a number from 0, or None, not {policy.budget!r}")
    return _Described(said, label, plain(dict(policy.details)), budget)


def failed_record(
    record: dict[str, Any], error: BaseException, step: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The record of a trial that failed: what went wrong, in which step, and where."""
    kept = {key: record[key] for key in ("format", "name", "trial", "provenance")}
    known = isinstance(error, BenchError)
    where = "" if known else "".join(traceback.format_exception(error)[-12:])
    try:
        message, refused = " ".join(str(error).split()), not known and is_write_refusal(error)
    except Exception:
        message, refused = "its message cannot be read", False
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):  # their message alone says nothing
        message = f"{type(error).__name__} was raised{f': {message}' if message else ''}"
    message = writable(message or type(error).__name__)
    if refused:
        message = f"{message}: {HOW_TO_WRITE}"
    said = {"type": type(error).__name__, "message": message, "step": step, "traceback": writable(where)}
    return {**kept, "status": "failed", "error": said, "timings": dict(seconds)}


def _judge(
    family: Family,
    described: list[_Described],
    prepared: Prepared,
    auditor: Auditor,
    threshold: float | None,
    clock: _Clock,
) -> tuple[list[PolicyOutcome], dict[str, Any]]:
    """Every policy's outcomes, and the processor's seconds that each took to decide on the test rows.

    Of all threads, waiting left out, after the policy had decided on validation.
    """
    problem = prepared.problem
    parts = {"validation": problem.validation, "test": prepared.test}
    full = {part: locked(problem.costs.total(len(rows), rows.sizes)) for part, rows in parts.items()}
    reference: dict[str, Decisions] = {}
    deciding: dict[str, Any] = {"decide_per_policy": []}
    if family.reference is not None:
        for part, shown in prepared.shown.items():
            with clock("decide"):
                given = family.reference.decide(_handed_rows(shown.rows))
            reference[part] = _received(given, shown, problem, "the reference policy")
        deciding["decide_reference"] = clock.busy
    judged = []
    for number, (policy, known) in enumerate(zip(family.policies, described, strict=True)):
        for part, rows in parts.items():
            shown = prepared.shown[part]
            with clock("decide"):
                given = policy.decide(_handed_rows(shown.rows))
            decisions = _received(given, shown, problem, known.said)
            if part == "test":
                deciding["decide_per_policy"].append(clock.busy)
                with clock("audit"):
                    auditor.check(policy, decisions, problem.feature_names, known.said)
            outcome = Outcome(
                task=problem.task,
                y=rows.y,
                decisions=decisions,
                bill=locked(problem.costs.bill(decisions.acquired, rows.sizes)),
                full_bill=full[part],
                evaluation_bill=locked(_evaluation_bill(decisions, problem.costs)),
                threshold=threshold,
                query=rows.query,
                reference=reference.get(part),
                budget=known.budget,
            )
            judged.append(PolicyOutcome(number, part, outcome))
    return judged, deciding


def _received(given: Any, shown: Shown, problem: Problem, said: str) -> Decisions:
    """The core's own copy of decisions on shown rows, in the part's order."""
    try:
        return Decisions.received(given, shown.place, len(shown.place), problem.n_features, problem.n_classes)
    except ContractError as error:
        raise ContractError(f"{said}: {error}") from None


def _evaluation_bill(decisions: Decisions, costs: Costs) -> NDArray[np.float64]:
    if decisions.evaluation_cost is not None:
        return np.asarray(decisions.evaluation_cost, dtype=np.float64)
    count = np.ones(len(decisions)) if decisions.evaluations is None else decisions.evaluations
    return np.asarray(count, dtype=np.float64) * costs.evaluation


def _table(
    described: list[_Described], outcomes: list[PolicyOutcome], metrics: Mapping[str, Metric]
) -> dict[str, Any]:
    """The family by columns: label, details, budget, and each metric on validation and test."""
    columns: dict[str, Any] = {
        "label": [one.label for one in described],
        "details": [one.details for one in described],
        "budget": plain([one.budget for one in described]),
        "validation": {},
        "test": {},
    }
    for judged in outcomes:
        for name, value in evaluate(judged.outcome, metrics).items():
            columns[judged.part].setdefault(metrics[name].key, []).append(plain(value))
    return columns


_MOST_USAGE = 6000
"""Numbers of usage kept per record: the first policies of a family come first."""


def _usage(outcomes: list[PolicyOutcome]) -> list[list[list[float]] | None]:
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


def _handed(problem: Problem, *, threshold: float | None, threads: int) -> Problem:
    """The problem of one trial: objects of its own over the shared arrays."""
    fields = {name: getattr(problem, name) for name in Problem.__dataclass_fields__}
    for name in ("train", "validation", "costs"):
        fields[name] = copy.copy(fields[name])
    return Problem(**{**fields, "threshold": threshold, "threads": threads})


def _handed_rows(rows: Rows) -> Rows:
    """Rows of one call: an object of its own over the shared arrays."""
    return Rows(rows.X, rows.sizes, rows.query)


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
