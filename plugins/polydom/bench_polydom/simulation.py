"""The paper's simulation: random prices and accuracies of features, without rows or a learner (PolyDom, "Synthetic").

The features of a draw have prices a_0 + a_1·n + a_2·n² with a_0 ~ U[0, 100], a_1 ~ U[0, 1], a_2 ~ U[0, 0.001]. A
feature is helpful with probability p; then its accuracy is ~ U[0.7, 0.9], else ~ U[0.5, 0.6]. The accuracy of a set is
1 − Π (1 − a_i) over its k most accurate features: k = 1 is the combiner f_1 ("best"), k = d is f_d ("all").

Choices where the paper is silent or its numbers are not known: the empty set has accuracy 0.5 ("no better than random
for the low budgets"); a draw of d + 1 features extends the draw of d; Greedy's size is 250; accuracy is read at size
500.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval, Le, MinLen
from numpy.typing import NDArray

from bench_core import Decisions, Family, Method, Policy, Problem, Rows
from bench_polydom.candidates import prune, set_curves
from bench_polydom.greedy import LAMBDAS, GreedyIndex, grow
from bench_polydom.index import NOTHING, FullIndex, Index, NaiveScan, PolyDomIndex, lookup_microseconds
from bench_polydom.lattice import Covering, Expansion, expand_all, search

__all__ = ["Draw", "Simulation", "curves_of", "draw_features", "retrieved", "simulate"]

Algorithm = Literal[
    "polydom", "polydom-index-all", "polydom-index-expanded", "naive-lookup", "naive-expand-all",
    "greedy", "greedy-acc", "greedy-cost",
]  # fmt: skip
GUESS = 0.5


@dataclass(frozen=True, eq=False)
class Draw:
    """Simulated features.

    Attributes:
        prices: float64 (d, 3): price coefficients, lowest power first.
        single: float64 (d,): accuracy of each feature alone.
        combiner: ``best`` (f_1) or ``all`` (f_d).
    """

    prices: NDArray[np.float64]
    single: NDArray[np.float64]
    combiner: Literal["best", "all"]

    def accuracy(self, features: tuple[int, ...]) -> float:
        """Accuracy of a set of features; monotone in the set."""
        if not features:
            return GUESS
        values = [float(self.single[f]) for f in features]
        return max(values) if self.combiner == "best" else 1.0 - math.prod(1.0 - value for value in values)

    def first(self, d: int) -> Draw:
        """The draw of the first d features."""
        return Draw(self.prices[:d], self.single[:d], self.combiner)


def draw_features(d: int, combiner: Literal["best", "all"], rng: np.random.Generator, helpful: float = 0.5) -> Draw:
    """Draw features at random, with the distributions of the module's docstring."""
    # Separate products and sums of arrays: some processors fuse a compiled "low + range * u" and round it only once.
    prices = rng.random((d, 3)) * np.array([100.0, 1.0, 0.001])
    helps = rng.random(d) < helpful
    single = np.where(helps, 0.7 + (0.9 - 0.7) * rng.random(d), 0.5 + (0.6 - 0.5) * rng.random(d))
    return Draw(prices, single, combiner)


def simulate(
    draw: Draw,
    algorithm: Algorithm,
    *,
    alpha: float = 0.0,
    e: float = 0.0,
    covering: Covering = "below",
    train_size: float = 250.0,
    lambdas: tuple[float, ...] = LAMBDAS,
    indexed: bool = True,
) -> tuple[Expansion, Index | None]:
    """Run one algorithm on one draw; return its expanded sets and its index.

    Args:
        draw: the features.
        algorithm: a method's name; ``polydom-index-expanded`` is PolyDomIndexAll over all expanded sets, including
            dominated ones, instead of the candidates.
        alpha: accuracy that the lattice search may give up.
        e: the largest amount by which a superset may be less accurate than a subset.
        covering: pruning by Property 3.4; see `bench_polydom.lattice.search`.
        train_size: the item size that Greedy is built for.
        lambdas: Greedy's values of λ.
        indexed: whether to build the index.
    """
    d = len(draw.single)
    if algorithm.startswith("greedy"):
        rates = lambdas if algorithm == "greedy" else (0.0,)
        curves = curves_of(draw)
        by: Literal["gain", "cost"] = "cost" if algorithm == "greedy-cost" else "gain"
        growth = grow(draw.accuracy, d, curves, train_size, rates, by)
        return growth.expansion, GreedyIndex(growth, curves) if indexed else None
    if algorithm == "naive-expand-all":
        expansion = expand_all(draw.accuracy, d)
    else:
        expansion = search(draw.accuracy, d, alpha, e, covering=covering)
    if not indexed:
        return expansion, None
    expanded = expansion.candidates(draw.prices)
    if algorithm == "polydom-index-expanded":
        return expansion, FullIndex(expanded)
    candidates = prune(expanded)
    if algorithm == "naive-lookup":
        return expansion, NaiveScan(candidates)
    compact = PolyDomIndex.build(candidates)
    return expansion, FullIndex(candidates, compact) if algorithm == "polydom-index-all" else compact


def curves_of(draw: Draw) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """A function from sets of a draw's features, bit masks (sets,), to their cost curves, float64 (sets, 3)."""
    return lambda masks: set_curves(masks, draw.prices)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoClassifier(Policy):
    """The class frequencies of the training part, at no cost, because a simulation has no classifier."""

    shares: NDArray[np.float64]
    n_features: int

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        return Decisions(acquired, probabilities=np.repeat(self.shares[None, :], len(rows), axis=0))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.zeros_like(known)


@dataclass(frozen=True)
class Simulation(Method):
    """The paper's simulation of one algorithm: sets expanded, index size, look-ups, accuracy by budget.

    The method has no classifier and ignores the rows. The trial's seed draws the features, which are the same for every
    algorithm; the single policy predicts the class frequencies at no cost. The results are in the record:

    - ``history``, by number of features d (place d of the series): ``sets_expanded`` (Metric 1, to
      ``most_features``); ``candidates``, ``index_entries``, ``index_points`` (Metric 2) and ``lookup_steps``
      (Metric 3 without the machine), to ``features``;
    - ``history``, by place in ``budgets``: ``accuracy`` of the model retrieved at ``features`` features and
      ``item_size`` (Metric 4);
    - ``diagnostics``: the values at ``features`` features, ``mean_accuracy`` over the budgets, and, only with
      ``time_lookups``, ``lookup_microseconds`` (Metric 3 on this machine).

    Attributes:
        algorithm: the simulated algorithm; ``polydom-index-expanded`` is PolyDomIndexAll over all expanded sets (the
            paper's text indexes the candidates, but its numbers fit all expanded sets).
        combiner: ``best`` (f_1) or ``all`` (f_d).
        alpha: accuracy that PolyDom may give up.
        e: the largest amount by which a superset of features may be less accurate than a subset.
        covering: PolyDom's covering. Both combiners have diminishing returns, so ``below`` is the default here.
        helpful: probability p that a feature is helpful.
        features: number d of features for all results except Metric 1; above 15 a run takes long.
        most_features: the largest d of Metric 1.
        train_size: the item size that Greedy is built for.
        item_size: the item size at which accuracy is read.
        budgets: the budgets for which accuracy is read.
        sizes: number of item sizes at which look-ups are counted (and timed), evenly spaced over 1 … 500.
        lambdas: Greedy's values of λ, in accuracy per unit of cost.
        time_lookups: whether to measure look-up times; the record then depends on the machine.

    Source: "Indexing Cost Sensitive Prediction", synthetic experiments, Metrics 1–4.
    """

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True
    algorithm: Algorithm = "polydom"
    combiner: Literal["best", "all"] = "best"
    alpha: float = 0.0
    e: float = 0.0
    covering: Covering = "below"
    helpful: Annotated[float, Interval(ge=0, le=1)] = 0.5
    features: Annotated[int, Ge(0)] = 12
    most_features: Annotated[int, Le(20)] = 15
    train_size: Annotated[float, Ge(0)] = 250.0
    item_size: Annotated[float, Ge(0)] = 500.0
    budgets: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)] = (
        0.0,
        250.0,
        500.0,
        1000.0,
        1500.0,
        2000.0,
        3000.0,
        4000.0,
        5000.0,
        6000.0,
    )
    sizes: Annotated[int, Ge(1)] = 50
    lambdas: tuple[float, ...] = LAMBDAS
    time_lookups: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features > self.most_features:
            raise ValueError(f"features must not be above most_features, {self.most_features}, not {self.features}")

    def fit(self, problem: Problem) -> Family:
        """Draw features with the trial's seed, and run the algorithm on the first d of them, for every d."""
        draw = draw_features(self.most_features, self.combiner, problem.rng("simulation"), self.helpful)
        history: dict[str, list[float]] = {
            name: [] for name in ("sets_expanded", "candidates", "index_entries", "index_points", "lookup_steps")
        }
        diagnostics: dict[str, Any] = {}
        sizes = np.linspace(1.0, 500.0, self.sizes).tolist()
        for d in range(self.most_features + 1):
            expansion, index = simulate(
                draw.first(d), self.algorithm, alpha=self.alpha, e=self.e, covering=self.covering,
                train_size=self.train_size, lambdas=self.lambdas, indexed=d <= self.features,
            )  # fmt: skip
            history["sets_expanded"].append(expansion.n_expanded)
            if index is None:
                continue
            history["candidates"].append(len(index.candidates))
            history["index_entries"].append(index.entries)
            history["index_points"].append(getattr(index, "points", 1))
            history["lookup_steps"].append(float(np.mean([index.steps(size) for size in sizes])))
            if d == self.features:
                diagnostics = {name: values[-1] for name, values in history.items()}
                history["accuracy"] = [retrieved(index, self.item_size, budget) for budget in self.budgets]
                history["budgets"] = list(self.budgets)
                diagnostics["mean_accuracy"] = float(np.mean(history["accuracy"]))
                if self.time_lookups:
                    diagnostics["lookup_microseconds"] = lookup_microseconds(index, sizes, self.budgets)
        shares = np.bincount(problem.train.y, minlength=problem.n_classes) / max(1, len(problem.train))
        policy = NoClassifier(shares=shares, n_features=problem.n_features)
        return Family([policy], history=history, diagnostics=diagnostics)


def retrieved(index: Index, size: float, budget: float) -> float:
    """Accuracy of the model that an index returns for a size and a budget; 0 if it returns none."""
    candidate = index.lookup(size, budget)
    return 0.0 if candidate == NOTHING else float(index.candidates.accuracy[candidate])
