"""QWYC: the evaluation order and the early-stopping thresholds of an ensemble (§4, Algorithms 1 and 2).

The optimisation is exact. For a candidate, ε⁻ is the largest threshold that the error budget allows, and ε⁺ the
smallest threshold ≥ ε⁻ that the remaining budget allows. Both are partial sums of examples, or infinite. An example
whose sum equals a threshold does not stop, so ties are not divided. The thresholds of a position that stops no
training example are infinite (Algorithm 1, line 4). Where no candidate stops a training example (or none is active any
more), the cheapest remaining base model comes next.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_qwyc.bounds import Bounds
from bench_qwyc.checks import checked_costs, checked_order, checked_scores, error_budget

__all__ = ["Stopping", "optimise"]

Array = NDArray[Any]
WORTH_BOUNDING = 25_000
"""Minimum number of sums at a position, over all candidates, for computing bounds first; the result is the same."""


@dataclass(frozen=True, eq=False)
class Stopping:
    """An order of base models with early-stopping thresholds.

    Attributes:
        order: int64 (T,): base models in the order they are run.
        low: (T,), in the scores' type: ε⁻; after r + 1 base models, a partial sum below ``low[r]`` stops as negative.
            For several classes all are −inf.
        high: (T,): ε⁺; a partial sum above ``high[r]`` stops as positive. For several classes: the lead of the best
            class over the second above which an example stops. The last entries of both are infinite, because the
            full score decides there.
        exits: int64 (T,): number of training examples that stop at each position; they sum to N.
        errors: number of training examples whose decision differs from the full ensemble's.
        examples: number N of training examples.
    """

    order: NDArray[np.int64]
    low: Array
    high: Array
    exits: NDArray[np.int64]
    errors: int
    examples: int

    @property
    def mean_models(self) -> float:
        """Mean number of base models run on a training example."""
        return float((self.exits * np.arange(1, len(self.exits) + 1)).sum() / self.examples)

    @property
    def disagreement(self) -> float:
        """Share of training examples whose decision differs from the full ensemble's."""
        return self.errors / self.examples

    def mean_cost(self, costs: Array) -> float:
        """Mean evaluation cost of a training example: the objective of Eq. 2."""
        spent = np.cumsum(np.asarray(costs, dtype=np.float64)[self.order])
        return float((self.exits * spent).sum() / self.examples)


def optimise(
    scores: Array,
    alpha: float,
    *,
    order: Sequence[int] | Array | None = None,
    costs: Array | None = None,
    bias: Any = 0.0,
    beta: float = 0.0,
    two_sided: bool = True,
    threads: int = 1,
) -> Stopping:
    """Optimise order and thresholds (Algorithm 1), or only the thresholds of a given order (Algorithm 2).

    Args:
        scores: float32 or float64 (T, N), or (T, N, K) for K classes: score of each base model on each example. Sums
            are computed in this type. The array is not copied; beside it, 2 bytes per score are needed.
        alpha: share α of examples whose decision may differ from the full ensemble's, in [0, 1).
        order: base models in the order they are run; None optimises it.
        costs: (T,): price of each base model; None means 1 each. Only Algorithm 1 uses them.
        bias: start of the sums; (K,) for K classes.
        beta: decision threshold β: the full ensemble's decision is positive for a score ≥ β.
        two_sided: False for filter-and-score, where only negatives stop early (two classes only).
        threads: number of threads that scan candidates; the result does not depend on it.

    Raises:
        ValueError: scores are NaN, infinite or empty, α is outside [0, 1), ``order`` is not a permutation, prices are
            negative or not one per base model, or filter-and-score has several classes.
    """
    scores = checked_scores(scores, bias)
    models = scores.shape[0]
    prices = checked_costs(costs, models)
    fixed = None if order is None else checked_order(order, models)
    budget = error_budget(alpha, scores.shape[1])
    state: _State
    if scores.ndim == 2:
        state = _Binary(scores, scores.dtype.type(bias), scores.dtype.type(beta), two_sided, budget)
    elif two_sided:
        state = _Margins(scores, np.broadcast_to(np.asarray(bias, scores.dtype), scores.shape[2:]), budget)
    else:
        raise ValueError("filter-and-score is for two classes: only negatives stop early")
    with ThreadPoolExecutor(max(1, threads)) as pool:
        run = _Search(state, prices, pool, max(1, threads))
        return run.follow(fixed) if fixed is not None else run.search()


class _State:
    """Active examples and their partial sums."""

    scores: Array
    budget: int
    active: int

    def scan(self, rows: NDArray[np.int64], exits: Array, low: Array, high: Array) -> None:
        raise NotImplementedError

    def advance(self, model: int, low: Any, high: Any) -> int:
        raise NotImplementedError

    def most_exits(self, rows: NDArray[np.int64], pool: ThreadPoolExecutor, threads: int) -> Array | None:
        """Upper bounds on the exits; None where the exits themselves are as cheap."""


@dataclass
class _Search:
    """The search over positions and candidates."""

    state: _State
    prices: NDArray[np.float64]
    pool: ThreadPoolExecutor
    threads: int
    errors: int = 0

    def _thresholds(self, candidates: NDArray[np.int64]) -> tuple[Array, Array, Array]:
        count, dtype = len(candidates), self.state.scores.dtype
        exits = np.zeros(count, dtype=np.int64)
        low, high = np.empty(count, dtype=dtype), np.empty(count, dtype=dtype)
        if self.threads == 1 or count < 2 * self.threads or self.state.active * count < 50_000:
            self.state.scan(candidates, exits, low, high)
            return exits, low, high
        cuts = np.linspace(0, count, 4 * self.threads + 1).astype(int)
        parts = [slice(a, b) for a, b in itertools.pairwise(cuts) if a < b]
        list(self.pool.map(lambda s: self.state.scan(candidates[s], exits[s], low[s], high[s]), parts))
        return exits, low, high

    def _ratios(self, candidates: NDArray[np.int64], exits: Array) -> NDArray[np.float64]:
        """Price of a candidate on the active examples / its exits (Algorithm 1 minimises it); inf without exits."""
        ratio = np.full(len(candidates), np.inf)
        np.divide(self.prices[candidates] * self.state.active, exits, out=ratio, where=exits > 0)
        return ratio

    def _promising(self, candidates: NDArray[np.int64]) -> tuple[Array, Array, Array]:
        """Exits and thresholds of the candidates that may be the best, ties included; the others get 0 exits."""
        most = self.state.most_exits(candidates, self.pool, self.threads)
        if most is None:
            return self._thresholds(candidates)
        bound = self._ratios(candidates, most)
        exits = np.zeros(len(candidates), dtype=np.int64)
        low, high = np.empty((2, len(candidates)), dtype=self.state.scores.dtype)
        first = np.array([bound.argmin()])
        exits[first], low[first], high[first] = self._thresholds(candidates[first])
        may_be_better = (bound <= self._ratios(candidates[first], exits[first])) & np.isfinite(bound)
        may_be_better[first] = False
        others = np.flatnonzero(may_be_better)
        exits[others], low[others], high[others] = self._thresholds(candidates[others])
        return exits, low, high

    def search(self) -> Stopping:
        """Algorithm 1."""
        order = np.arange(len(self.prices))

        def best(position: int) -> tuple[int, int, Any, Any]:
            rest = order[position:]
            if self.state.active == 0:
                return position + int(self.prices[rest].argmin()), 0, 0, 0
            exits, low, high = self._promising(rest)
            at = int(self._ratios(rest, exits).argmin() if exits.any() else self.prices[rest].argmin())
            return position + at, int(exits[at]), low[at], high[at]

        return self._run(order, best)

    def follow(self, order: NDArray[np.int64]) -> Stopping:
        """Algorithm 2 along an order."""

        def given(position: int) -> tuple[int, int, Any, Any]:
            if self.state.active == 0:
                return position, 0, 0, 0
            exits, low, high = self._thresholds(order[position : position + 1])
            return position, int(exits[0]), low[0], high[0]

        return self._run(order.copy(), given)

    def _run(self, order: Array, choose: Callable[[int], tuple[int, int, Any, Any]]) -> Stopping:
        models, examples, dtype = len(order), self.state.active, self.state.scores.dtype
        lows, highs = np.full(models, -np.inf, dtype=dtype), np.full(models, np.inf, dtype=dtype)
        exits = np.zeros(models, dtype=np.int64)
        for position in range(models - 1):
            at, stopped, low, high = choose(position)
            order[position], order[at] = order[at], order[position]
            if stopped:
                lows[position], highs[position] = low + 0.0, high + 0.0  # turns −0 into 0
                exits[position] = stopped
            if self.state.active:
                wrong = self.state.advance(order[position], lows[position], highs[position])
                self.errors += wrong
                self.state.budget -= wrong
        exits[-1] = self.state.active
        return Stopping(order, lows, highs, exits, self.errors, examples)


@dataclass
class _Binary(_State):
    scores: Array
    bias: Any
    beta: Any
    two_sided: bool
    budget: int
    active: int = 0

    def __post_init__(self) -> None:
        from bench_qwyc._kernels_optimise import sum_scores

        full = sum_scores(self.scores, self.bias)
        self.pos = np.flatnonzero(full >= self.beta).astype(np.uint32)
        self.neg = np.flatnonzero(~(full >= self.beta)).astype(np.uint32)
        self.g_pos = np.full(len(self.pos), self.bias, dtype=self.scores.dtype)
        self.g_neg = np.full(len(self.neg), self.bias, dtype=self.scores.dtype)
        self.bounds: Bounds | None = None
        self.active = len(full)

    def scan(self, rows: NDArray[np.int64], exits: Array, low: Array, high: Array) -> None:
        from bench_qwyc._kernels_optimise import scan_binary

        scan_binary(
            self.scores, rows, self.pos, self.neg, self.g_pos, self.g_neg, self.budget, self.two_sided,
            exits, low, high,
        )  # fmt: skip

    def advance(self, model: int, low: Any, high: Any) -> int:
        from bench_qwyc._kernels_optimise import step_binary

        row = self.scores[model]
        self.pos, self.g_pos, wrong_low, _ = step_binary(row, self.pos, self.g_pos, low, high)
        self.neg, self.g_neg, _, wrong_high = step_binary(row, self.neg, self.g_neg, low, high)
        self.active = len(self.pos) + len(self.neg)
        return int(wrong_low + wrong_high)

    def most_exits(self, rows: NDArray[np.int64], pool: ThreadPoolExecutor, threads: int) -> Array | None:
        first = len(rows) == len(self.scores)  # many examples stop here, whose scores need not be rounded
        if first or self.active * len(rows) < WORTH_BOUNDING:
            return None
        if self.bounds is None:
            self.bounds = Bounds(self.scores, float(self.bias), pool, threads)
        return self.bounds.exits(rows, self.pos, self.neg, self.g_pos, self.g_neg, self.budget, self.two_sided)


@dataclass
class _Margins(_State):
    """Several classes: stopping by the lead of the best class over the second.

    The rule is ours; the paper says only that the extension is straightforward.
    """

    scores: Array
    bias: Array
    budget: int
    active: int = 0

    def __post_init__(self) -> None:
        full = np.array(np.broadcast_to(self.bias, self.scores.shape[1:]), order="C")
        for scores in self.scores:
            full += scores
        self.labels = full.argmax(axis=1)
        self.sums = np.array(np.broadcast_to(self.bias, full.shape), order="C")
        self.index = np.arange(len(full), dtype=np.uint32)
        self.active = len(full)

    def scan(self, rows: NDArray[np.int64], exits: Array, low: Array, high: Array) -> None:
        from bench_qwyc._kernels_optimise import scan_margins

        low[:] = -np.inf
        scan_margins(self.scores, rows, self.index, self.labels, self.sums, self.budget, exits, high)

    def advance(self, model: int, low: Any, high: Any) -> int:
        from bench_qwyc._kernels_optimise import step_margins

        self.index, self.labels, self.sums, wrong = step_margins(
            self.scores, model, self.index, self.labels, self.sums, high
        )
        self.active = len(self.index)
        return int(wrong)
