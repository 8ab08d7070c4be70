"""ICET's search for a bias of EG2: the coding of biases as bit strings, and their cost (Turney 1995, §3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_cost_trees.criteria import Criterion
from bench_cost_trees.fitness import mean_cost
from bench_cost_trees.genetic import Evolution, Settings, evolve, from_gray, to_gray
from bench_cost_trees.induction import Grower, Limits, grow_compiled
from bench_cost_trees.prices import Prices
from bench_cost_trees.pruning import pruned, pruned_leaves
from bench_cost_trees.tree import Tree

__all__ = ["Bias", "BiasSearch"]

_BITS = 12
_COSTS = (1.0, 10_000.0)
_OMEGA = (0.0, 1.0)
_CONFIDENCE = (1.0, 100.0)


@dataclass(frozen=True, eq=False)
class Bias:
    """The parameters of one run of EG2.

    Attributes:
        costs: float64 (features,): pseudo-prices; infinite for a feature that may not be tested.
        omega: exponent ω of EG2, in [0, 1].
        confidence: confidence factor CF of pruning, in (0, 1].
    """

    costs: NDArray[np.float64]
    omega: float
    confidence: float


@dataclass(frozen=True, eq=False)
class BiasSearch:
    """The space of biases on one training table.

    Attributes:
        grower: the training table.
        prices: the true prices.
        limits: size limits of every tree.
        kind: what the bits of a feature mean. ``costs`` and ``seeded``: its pseudo-price (``seeded`` also puts EG2
            with the true prices into the first generation). ``subsets``: whether it may be tested, at its true price.
    """

    grower: Grower
    prices: Prices
    limits: Limits
    kind: Literal["costs", "seeded", "subsets"] = "costs"

    @property
    def bits(self) -> int:
        """Number of bits of a string."""
        return len(self.prices.first) * (1 if self.kind == "subsets" else _BITS) + 2 * _BITS

    def bias(self, string: NDArray[np.bool_]) -> Bias:
        """Decode a string, bool (bits,): the features' bits in order, then ω, then CF."""
        own, rest = string[: -2 * _BITS], string[-2 * _BITS :].reshape(2, _BITS)
        if self.kind == "subsets":
            costs = np.where(own, self.prices.first, np.inf)
        else:
            costs = from_gray(own.reshape(-1, _BITS), *_COSTS)
        omega, confidence = from_gray(rest[:1], *_OMEGA)[0], from_gray(rest[1:], *_CONFIDENCE)[0] / 100.0
        return Bias(costs, float(omega), float(confidence))

    def grown(self, bias: Bias, rows: NDArray[np.int64]) -> Tree:
        """The unpruned tree that EG2 grows on the given rows."""
        allowed = np.isfinite(bias.costs)
        costs = np.where(allowed, bias.costs, 0.0)
        prices = Prices(costs, costs, np.full(len(costs), -1, dtype=np.int64))
        criterion = Criterion("eg2", bias.omega)
        return grow_compiled(self.grower, rows, criterion, prices, self.limits, by_path=False, allowed=allowed)

    def cost(self, bias: Bias, error_cost: float, rng: np.random.Generator) -> float:
        """Mean cost of tests and errors, at true prices, of a tree grown on a random half of the rows.

        The cost is measured on the other half, in the unit of the prices.
        """
        drawn = rng.permutation(len(self.grower.y))
        half = len(drawn) // 2
        tree = self.grown(bias, drawn[:half])
        tree = tree.ended(pruned_leaves(tree, bias.confidence))
        return mean_cost(tree, self.grower, drawn[half:], self.prices, error_cost)

    def known(self) -> list[NDArray[np.bool_]]:
        """Strings put into the first generation: for ``seeded``, EG2 with ω = 1 and CF = 25 % (§4.3.3)."""
        if self.kind != "seeded":
            return []
        costs = to_gray(self.prices.first, *_COSTS, _BITS).ravel()
        rest = [to_gray(np.array([value]), *ends, _BITS)[0] for value, ends in ((1.0, _OMEGA), (25.0, _CONFIDENCE))]
        return [np.concatenate([costs, *rest])]

    def run(self, error_cost: float, settings: Settings, rng: np.random.Generator) -> Evolution:
        """Evolve a bias for one error cost, given in the unit of the prices."""

        def cost(string: NDArray[np.bool_]) -> float:
            return self.cost(self.bias(string), error_cost, rng)

        return evolve(cost, self.bits, settings, rng, self.known())

    def final_tree(self, bias: Bias) -> Tree:
        """The pruned tree that a bias gives on all rows."""
        return pruned(self.grown(bias, np.arange(len(self.grower.y))), bias.confidence)
