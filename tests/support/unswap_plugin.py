"""Tables of two-level features, and policies that buy nothing and undo the substitutions of a predictable audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import DataContext, Dataset, DataSource, Decisions, Method, Policy, Problem, Rows, hookimpl
from bench_core.protocol.shuffle import shuffled

BENCH_CONTRACT_VERSION = 1
MARKERS = 9


@dataclass(frozen=True)
class Switches(DataSource):
    """The first feature determines the class; nine others are nearly always 1, so that a swapped row is recognised.

    Attributes:
        numbers: columns of real numbers, as in credit data.
        noise: share of labels that the first feature predicts wrongly.
    """

    numbers: int = 0
    noise: float = 0.02

    def load(self, context: DataContext) -> Dataset:
        rng = np.random.default_rng(7)
        rows = 690
        first = rng.random(rows) < 0.5
        X = np.column_stack([first, rng.random((rows, MARKERS)) < 0.95, rng.normal(size=(rows, self.numbers))])
        y = (first ^ (rng.random(rows) < self.noise)).astype(np.int64)
        names = tuple(f"x{number}" for number in range(X.shape[1]))
        return Dataset("switches", "binary", X.astype(np.float64), names, y, ("no", "yes"))


@dataclass
class Unswaps(Policy):
    """Swaps back the rows whose markers are swapped, and then repeats its answers by place."""

    low: NDArray[np.float64]
    said: NDArray[np.float64] | None = None

    def decide(self, rows: Rows) -> Decisions:
        high = self.low < rows.X
        swapped = high[:, 1 : MARKERS + 1].sum(axis=1) < MARKERS / 2
        yes = high[:, 0] ^ swapped
        if self.said is not None and len(self.said) == len(yes):
            yes = self.said
        elif swapped.any():
            self.said = yes
        return _free(rows, yes)


@dataclass
class KnowsTheSeed(Policy):
    """Computes each row's place in the audit of commit 0f4003d from the trial's seed, and answers by place."""

    low: NDArray[np.float64]
    seed: int
    said: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        count = len(rows)
        if count in self.said:
            return _free(rows, self.said[count])
        yes = rows.X[:, 0] > self.low[0]
        shown, _ = shuffled(np.random.PCG64(np.random.SeedSequence([self.seed, 0x0DE5, 1])), count, None)
        X, answers = np.empty_like(rows.X), np.empty_like(yes)
        X[shown], answers[shown] = rows.X, yes
        self.said[count + count // 4] = answers[self._source(X)]
        return _free(rows, yes)

    def _source(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """The row at each place of the audit's batch."""
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 0xA0D17]))
        rng.random(X.shape)
        rng.random(X.shape[1])
        random, extremes = rng.bit_generator.random_raw(len(X)), np.zeros(len(X))
        for end in (X.min(axis=0), X.max(axis=0)):
            extremes += ((end == X) / (end == X).sum(axis=0)).sum(axis=1)
        twice = np.sort(np.lexsort((random, extremes))[: len(X) // 4])
        both = np.concatenate([np.arange(len(X)), twice])
        return both[shuffled(rng.bit_generator, len(both), None)[0]]


def _free(rows: Rows, yes: NDArray[np.bool_]) -> Decisions:
    second = np.where(yes, 0.9, 0.1)
    return Decisions(np.zeros(rows.X.shape, dtype=bool), np.column_stack([1 - second, second]))


@dataclass
class RemembersPaid(Policy):
    """Buys the last feature, answers by the first one, and recognises a row by its bought value.

    Attributes:
        buys_all: whether it buys everything, and so sees each row's first feature in its audit.
        known: bought value → answer, shared by a family's policies in one process.
    """

    low: NDArray[np.float64]
    buys_all: bool
    known: dict[float, bool]

    def decide(self, rows: Rows) -> Decisions:
        yes = rows.X[:, 0] > self.low[0]
        if self.buys_all:
            self.known.update(zip(rows.X[:, -1].tolist(), yes.tolist(), strict=True))
        else:
            yes = np.array(
                [self.known.get(value, bool(y)) for value, y in zip(rows.X[:, -1].tolist(), yes, strict=True)]
            )
        decisions = _free(rows, yes)
        decisions.acquired[:, -1] = True
        if self.buys_all:
            decisions.acquired[:] = True
        return decisions


@dataclass(frozen=True)
class Foresees(Method):
    """A cheat of a chosen kind."""

    way: Literal["unswaps", "knows the seed", "remembers paid"] = "unswaps"

    def fit(self, problem: Problem) -> list[Policy]:
        low = (problem.train.X.min(axis=0) + problem.train.X.max(axis=0)) / 2
        if self.way == "unswaps":
            return [Unswaps(low)]
        if self.way == "knows the seed":
            return [KnowsTheSeed(low, problem.seed)]
        known: dict[float, bool] = {}
        return [RemembersPaid(low, True, known), RemembersPaid(low, False, known)]


@hookimpl
def bench_register_datasets(register):  # type: ignore[no-untyped-def]
    register("switches", Switches)


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("foresees", Foresees)
