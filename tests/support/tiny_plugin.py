"""A small plugin for the end-to-end tests: blobs, honest and misbehaving methods."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np

from bench_core import (
    DataContext,
    DataError,
    Dataset,
    DataSource,
    DataUnavailable,
    Decisions,
    Family,
    Method,
    Metric,
    Outcome,
    Policy,
    Problem,
    Rows,
    hookimpl,
)


@dataclass(frozen=True)
class Blobs(DataSource):
    """Five features, the first of which determines the class."""

    rows: int = 80
    seed: int = 0

    def load(self, context: DataContext) -> Dataset:
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.rows, 5))
        y = (X[:, 0] + 0.5 * rng.normal(size=self.rows) > 0).astype(np.int64)
        return Dataset("blobs", "binary", X, ("a", "b", "c", "d", "e"), y, ("no", "yes"))


@dataclass(frozen=True)
class Gone(DataSource):
    """A data set that is not available."""

    def load(self, context: DataContext) -> Dataset:
        raise DataUnavailable("the table is on another planet", hint="run: bench data fetch gone")


@dataclass(frozen=True)
class Lent(DataSource):
    """Blobs that depend on the environment: with ``TINY_GONE`` they are not available, ``TINY_SEED`` changes them."""

    target: str = "y"

    def load(self, context: DataContext) -> Dataset:
        if os.environ.get("TINY_GONE"):
            raise DataUnavailable("the blobs are out on loan", hint="run: bench data fetch lent")
        if self.target != "y":
            raise DataError(f"there is no column {self.target!r}")
        return Blobs(seed=int(os.environ.get("TINY_SEED", "0"))).load(context)


@dataclass(frozen=True)
class OneClass(DataSource):
    """A data set with one class."""

    def load(self, context: DataContext) -> Dataset:
        return Dataset("one", "binary", np.zeros((4, 1)), ("a",), np.zeros(4, dtype=np.int64), ("only",))


@dataclass(frozen=True)
class Broken(DataSource):
    """A data set whose source raises an error, or returns nothing."""

    quiet: bool = False

    def load(self, context: DataContext) -> Dataset:
        if self.quiet:
            return None  # type: ignore[return-value]
        raise DataError("column 'x' is rotten")


class FirstFeature(Policy):
    """A logistic function of the first feature only."""

    def __init__(self, slope: float, features: int, peek: bool = False) -> None:
        self.slope, self.features, self.peek = slope, features, peek
        self.label = f"slope={slope:g}"
        self.details = {"slope": slope}

    def decide(self, rows: Rows) -> Decisions:
        z = self.slope * rows.X[:, 0] + (rows.X[:, 1] if self.peek else 0.0)
        p = 1 / (1 + np.exp(-z))
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        acquired[:, 0] = True
        return Decisions(acquired, np.stack([1 - p, p], axis=1))


@dataclass(frozen=True)
class Slopes(Method):
    """A family of slopes on the first feature."""

    slopes: tuple[float, ...] = (0.5, 1.0, 4.0)
    noise: float = 0.0
    seconds: float = 0.0

    def fit(self, problem: Problem) -> Family:
        if self.seconds:
            time.sleep(self.seconds)
        jitter = self.noise * problem.rng("slopes").normal(size=len(self.slopes))
        policies = [FirstFeature(s + j, problem.n_features) for s, j in zip(self.slopes, jitter, strict=True)]
        return Family(policies, history={"length": [1.0, 2.0]}, diagnostics={"slopes": len(policies)})


@dataclass(frozen=True)
class Peeker(Method):
    """Reads the second feature without paying."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [FirstFeature(1.0, problem.n_features, peek=True)]


@dataclass(frozen=True)
class Fails(Method):
    """Misbehaves as its parameter says."""

    how: str = "raise"

    def fit(self, problem: Problem) -> list[Policy]:
        if self.how == "raise":
            raise ZeroDivisionError("no reason | at `all`")
        if self.how == "exit":
            os._exit(7)
        if self.how == "hang":
            time.sleep(600)
        if self.how == "memory":
            return [np.ones(10**10) for _ in range(100)]  # type: ignore[misc]
        if self.how == "nothing":
            return []
        return [_Wrong(self.how, problem.n_features)]


class _Wrong(Policy):
    def __init__(self, how: str, features: int) -> None:
        self.how, self.features = how, features

    def decide(self, rows: Rows) -> Decisions:
        rows_, features = len(rows), self.features + (self.how == "shape")
        probabilities = np.full((rows_, 2), np.nan if self.how == "nan" else 0.5)
        return Decisions(np.zeros((rows_, features), dtype=bool), probabilities)


def accuracy_under(outcome: Outcome, k: int) -> float:
    """Accuracy of a policy that costs at most k on average; minus its cost otherwise."""
    paid = float(outcome.bill.mean())
    return float(outcome.correct.mean()) if paid <= k else -paid


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_datasets(register):  # type: ignore[no-untyped-def]
    register("blobs", Blobs)
    register("gone", Gone)
    register("lent", Lent)
    register("one-class", OneClass)
    register("broken", Broken)


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("slopes", Slopes)
    register("peeker", Peeker)
    register("fails", Fails)


@hookimpl
def bench_register_metrics(register):  # type: ignore[no-untyped-def]
    register(Metric("accuracy-under@k", accuracy_under, "max", "Accuracy, cost ≤ @k", missed=lambda value: value < 0))
    register(Metric("max-cost", lambda outcome: float(outcome.bill.max()), "min", "Dearest row"))
