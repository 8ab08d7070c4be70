"""Run a method on a split of your own data; the core prepares, audits and bills it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from bench_core import (
    Costs,
    CostScheme,
    DataContext,
    Dataset,
    DataSource,
    Method,
    Metric,
    Outcome,
    RequestError,
    SplitRule,
)
from bench_core.execution import Conditions, Prepared, TrialResult, prepare, run_trial
from bench_core.suites import Trial
from bench_policies.capping import CappedMethod
from bench_policies.tables import facts_after_encoding

_STEPS = (2, 4, 6, 8, 9)
"""Confidences, in tenths of the way from 1/k (for k classes) to 1, of a method that is fitted once for each."""


@dataclass(frozen=True)
class Setup:
    """How methods are run on a table.

    Attributes:
        encode: ``onehot``, ``ordinal``, ``impute`` or ``raw``; see `bench_core.fit_encoder`.
        threshold: rows whose highest class probability is below it are refused; None: no row is.
        exit_threshold: the class probability at which a method with early stopping stops, where no row is refused;
            None: chosen on the validation rows; see `Bench.thresholds`.
        threads: number of threads of a method's kernels.
    """

    encode: str = "onehot"
    threshold: float | None = None
    exit_threshold: float | None = None
    threads: int = 1


class Runner(Protocol):
    """Runs trials outside this process, one after another, within a time limit."""

    def limit(self, seconds: float | None, until: float | None) -> None:
        """Set the seconds that each later trial may take, and a deadline on the monotonic clock."""

    def run(
        self, trial: Trial, dataset: Dataset, prepared: Prepared, metrics: Mapping[str, Metric], conditions: Conditions
    ) -> TrialResult:
        """Run a trial as `bench_core.execution.run_trial` does."""


@dataclass(frozen=True)
class _Given(DataSource):
    """A placeholder for data in memory, which `Bench.run` hands to the core; it is never loaded."""

    def load(self, context: DataContext) -> Dataset:
        raise NotImplementedError


@dataclass(frozen=True)
class Tried:
    """The result of a method on a split.

    Attributes:
        error: the error's message; empty if the method did not fail.
        record: the trial's record; empty where several trials were joined.
        validation, test: outcomes by policy.
        seconds: time to fit.
        late: whether the method was stopped at a time limit.
    """

    error: str
    record: Mapping[str, Any]
    validation: Sequence[Outcome] = ()
    test: Sequence[Outcome] = ()
    seconds: float = 0.0
    late: bool = False


@dataclass
class Bench:
    """Data, prices and protocol, on which methods are run. The splits are prepared once.

    Attributes:
        dataset: the data.
        scheme: the cost scheme that prices it.
        setup: how methods are run.
        split: the rule that splits rows into training, validation and test parts.
        isolated: runners with processes of their own; each runs one method at a time. Empty: methods run in this
            process.
        cap: the most that the features of a row may cost; policies are cut at it where methods run in this process.

    Raises:
        RequestError: a threshold is given for data without classes.
    """

    dataset: Dataset
    scheme: CostScheme
    setup: Setup = field(default_factory=Setup)
    split: SplitRule = field(default_factory=SplitRule)
    isolated: Sequence[Runner] = ()
    cap: float | None = None
    _prepared: dict[int, Prepared] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.setup.threshold is not None and not self.dataset.classes:
            raise RequestError(f"a threshold needs classes; the task is {self.dataset.task}")
        self._idle: SimpleQueue[Runner] = SimpleQueue()
        for isolated in self.isolated:
            self._idle.put(isolated)

    @property
    def jobs(self) -> int:
        """Number of methods that run at a time."""
        return max(len(self.isolated), 1)

    @property
    def test_share(self) -> float:
        """Number of test rows divided by the number of training and validation rows."""
        return self.split.test / (self.split.train + self.split.validation)

    def thresholds(self, method: Method) -> tuple[float | None, ...]:
        """Return the confidence thresholds that a method is fitted with in turn; ``(None,)`` where it needs none.

        If no threshold is set, the first is 1/k for k classes, at which every row stops at once. A method that also
        takes data without a threshold then gets None: it offers policies for several confidences from one fit
        (`bench_core.Problem.exit_thresholds`). Any other method is fitted with five more; for two classes, with 0.6,
        0.7, 0.8, 0.9 and 0.95.
        """
        if not self.dataset.classes:
            return (None,)
        setup = self.setup
        if setup.threshold is not None or not method.needs_threshold:
            return (setup.threshold,)
        if setup.exit_threshold is not None:
            return (setup.exit_threshold,)
        least = 1 / max(len(self.dataset.classes), 2)
        facts = facts_after_encoding(self.dataset, Costs(np.zeros(self.dataset.n_features)), setup.encode, None)
        if method.inapplicable(facts) == method.inapplicable(replace(facts, threshold=least)):
            return (least, None)
        return (least, *(round(least + (1 - least) * step / 10, 9) for step in _STEPS))

    def prepared(self, seed: int) -> Prepared:
        """Return the split, encoding and prices of a seed, from a cache."""
        if seed not in self._prepared:
            self._prepared[seed] = prepare(self.dataset, self.scheme, self.split, self.setup.encode, seed, 1)
        return self._prepared[seed]

    def run(
        self,
        name: str,
        method: Method,
        seed: int,
        threshold: float | None,
        metrics: Mapping[str, Metric] | None = None,
        limit: float | None = None,
        until: float | None = None,
    ) -> Tried:
        """Run a method on a split. An exception of the method becomes the result's ``error``.

        Args:
            name, method: the method and its name.
            seed: seed of the split.
            threshold: one of `thresholds`.
            metrics: the metrics to compute, by name.
            limit: seconds after which it is stopped, where methods run in processes of their own.
            until: time on the monotonic clock at which it is stopped at the latest.
        """
        trial = Trial(
            dataset=self.dataset.name,
            dataset_use="given",
            source=_Given(),
            costs="prices",
            costs_use="prices",
            scheme=self.scheme,
            method=name,
            method_use=name,
            estimator=method if self.cap is None or self.isolated else CappedMethod(method, self.cap),
            point=0,
            split=self.split,
            encode=self.setup.encode,
            threshold=threshold,
            reject=self.setup.threshold is not None,
            seed=seed,
            audit_rounds=1,
        )
        given = trial, self.dataset, self.prepared(seed), metrics or {}, Conditions(threads=self.setup.threads)
        if not self.isolated:
            result = run_trial(*given)
        else:
            isolated = self._idle.get()
            try:
                isolated.limit(limit, until)
                result = isolated.run(*given)
            finally:
                self._idle.put(isolated)
        if result.written:
            self._prepared.pop(seed, None)
        if result.outcomes is None:
            error = result.record["error"]
            return Tried(str(error["message"]), result.record, late=error["kind"] == "time")
        parts: dict[str, list[Outcome]] = {"validation": [], "test": []}
        for judged in result.outcomes:
            parts[judged.part].append(judged.outcome)
        seconds = float(result.record["timings"].get("fit", 0.0))
        return Tried("", result.record, parts["validation"], parts["test"], seconds)

    def run_all(self, name: str, method: Method, seed: int, until: float | None = None) -> Tried:
        """Run a method on a split with each of its `thresholds`; return all policies, or the first failed result."""
        parts = []
        for threshold in self.thresholds(method):
            limit = None if until is None else max(until - time.monotonic(), 0.0)
            parts.append(self.run(name, method, seed, threshold, limit=limit, until=until))
            if parts[-1].error:
                return parts[-1]
        return Tried(
            "",
            {},
            [outcome for tried in parts for outcome in tried.validation],
            [outcome for tried in parts for outcome in tried.test],
            sum(tried.seconds for tried in parts),
        )


def stopped_at(threshold: float | None, method: Method, details: Mapping[str, Any]) -> float | None:
    """Return the confidence at which a policy stops early, where no row is refused; None: its method needs none.

    Args:
        threshold: the confidence threshold of the fit, one of `Bench.thresholds`; None if the fit had none.
        method: the method.
        details: the policy's details. A method that offers several confidences names the policy's as ``threshold``.
    """
    return details.get("threshold") if threshold is None and method.needs_threshold else threshold
