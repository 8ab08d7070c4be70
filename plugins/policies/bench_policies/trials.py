"""One method on one split of one's own data: prepared, fitted, audited and billed by the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench_core import (
    Apart,
    CostScheme,
    DataContext,
    Dataset,
    DataSource,
    Method,
    Metric,
    Outcome,
    Prepared,
    SplitRule,
    Trial,
    prepare,
    run_trial,
)

EXIT_THRESHOLD = 0.9
"""Where a row leaves that is sure enough, unless answers are refused below a threshold: then there."""


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
        record: the trial's record.
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
        exit_threshold: what methods that leave early hold their confidence against where nothing is refused.
        split: how rows are divided.
        threads: of a method's kernels.
        apart: where methods run; in this process when None.
    """

    dataset: Dataset
    scheme: CostScheme
    encode: str = "onehot"
    threshold: float | None = None
    exit_threshold: float = EXIT_THRESHOLD
    split: SplitRule = field(default_factory=SplitRule)
    threads: int = 1
    apart: Apart | None = None
    _prepared: dict[int, Prepared] = field(default_factory=dict)

    @property
    def fit_threshold(self) -> float | None:
        """The confidence that methods are given; None where there are no classes."""
        if not self.dataset.classes:
            return None
        return self.exit_threshold if self.threshold is None else self.threshold

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
        metrics: Mapping[str, Metric] | None = None,
        limit: float | None = None,
        until: float | None = None,
    ) -> Tried:
        """Try a method on a split. Whatever it raises is an error's text.

        Args:
            name, method: what to try.
            seed: of the split.
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
            threshold=self.fit_threshold,
            reject=self.threshold is not None,
            seed=seed,
            audit_rounds=1,
        )
        prepared = self.prepared(seed)
        if self.apart is None:
            result = run_trial(trial, self.dataset, prepared, metrics or {}, {}, self.threads)
        else:
            result = self.apart.run(
                trial, self.dataset, prepared, metrics or {}, {}, self.threads, seconds=limit, until=until
            )
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
