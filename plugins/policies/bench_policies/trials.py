"""One method on one split of one's own data: prepared, fitted, audited and billed by the core."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench_core import CostScheme, DataContext, Dataset, DataSource, Method, Metric, Outcome, SplitRule
from bench_core.execution import Conditions, Prepared, prepare, run_trial
from bench_core.suites import Trial
from bench_policies.isolated_trials import IsolatedTrials

EXIT_THRESHOLDS = (0.5, 0.7, 0.85, 0.95)
"""Confidences that a method is fitted with that stops early by confidence, where nothing is refused; the validation
rows choose among them. Where answers are refused below a threshold, rows stop there."""


@dataclass(frozen=True)
class _Given(DataSource):
    """Data that is there already."""

    def load(self, context: DataContext) -> Dataset:
        raise NotImplementedError


@dataclass(frozen=True)
class Tried:
    """A method on a split.

    Attributes:
        error: why it failed; empty when it did not.
        late: it was ended because it took too long.
        record: the trial's record; empty where several were made.
        validation, test: outcomes by policy.
        seconds: to fit.
    """

    error: str
    record: Mapping[str, Any]
    validation: Sequence[Outcome] = ()
    test: Sequence[Outcome] = ()
    seconds: float = 0.0
    late: bool = False


@dataclass
class Bench:
    """Data, prices and protocol; splits are made once.

    Attributes:
        dataset, scheme: what is priced.
        encode: encoding; see `bench_core.fit_encoder`.
        threshold: answers less sure than this are refused; None: none is.
        exit_threshold: the confidence at which methods stop early that need one, where nothing is refused; None: chosen
            on the validation rows among `EXIT_THRESHOLDS`.
        split: how rows are divided.
        threads: of a method's kernels.
        isolated: where methods run; in this process when None.
    """

    dataset: Dataset
    scheme: CostScheme
    encode: str = "onehot"
    threshold: float | None = None
    exit_threshold: float | None = None
    split: SplitRule = field(default_factory=SplitRule)
    threads: int = 1
    isolated: IsolatedTrials | None = None
    _prepared: dict[int, Prepared] = field(default_factory=dict)

    @property
    def test_share(self) -> float:
        """Test rows over training rows, validation rows among them."""
        return self.split.test / (self.split.train + self.split.validation)

    def thresholds(self, method: Method) -> tuple[float | None, ...]:
        """The confidences that a method is fitted with, one after the other; ``(None,)`` where it needs none."""
        if not self.dataset.classes:
            return (None,)
        if self.threshold is not None or not method.needs_threshold:
            return (self.threshold,)
        return EXIT_THRESHOLDS if self.exit_threshold is None else (self.exit_threshold,)

    def prepared(self, seed: int) -> Prepared:
        """The split, encoding and prices of a seed."""
        if seed not in self._prepared:
            self._prepared[seed] = prepare(self.dataset, self.scheme, self.split, self.encode, seed, 1)
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
        """Try a method on a split. Whatever it raises is an error's text.

        Args:
            name, method: what to try.
            seed: of the split.
            threshold: one of `thresholds`.
            metrics: to compute, by name.
            limit: seconds after which it is ended, where methods run in processes of their own.
            until: when it is ended at the latest, on the monotonic clock.
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
            estimator=method,
            point=0,
            split=self.split,
            encode=self.encode,
            threshold=threshold,
            reject=self.threshold is not None,
            seed=seed,
            audit_rounds=1,
        )
        given = trial, self.dataset, self.prepared(seed), metrics or {}, Conditions(threads=self.threads)
        if self.isolated is None:
            result = run_trial(*given)
        else:
            self.isolated.limit(limit, until)
            result = self.isolated.run(*given)
        if result.written:
            del self._prepared[seed]
        if result.outcomes is None:
            error = result.record["error"]
            return Tried(str(error["message"]), result.record, late=error["kind"] == "time")
        parts: dict[str, list[Outcome]] = {"validation": [], "test": []}
        for judged in result.outcomes:
            parts[judged.part].append(judged.outcome)
        seconds = float(result.record["timings"].get("fit", 0.0))
        return Tried("", result.record, parts["validation"], parts["test"], seconds)

    def run_all(self, name: str, method: Method, seed: int, until: float | None = None) -> Tried:
        """Try a method on a split with each of its `thresholds`: their policies together, or the first error."""
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
