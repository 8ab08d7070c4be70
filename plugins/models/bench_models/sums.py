"""Boosted trees as running sums: a row's score after each tree, and the features read by then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_models.columns import BoostedTrees, Boosting, boost
from bench_models.targets import Target

__all__ = ["Additive", "boost_outputs", "kept_prefixes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHUNK = 4096
"""Number of rows whose tree values are in memory at a time."""


@dataclass(frozen=True, eq=False)
class Additive:
    """The sum ``base + h_1(x) + … + h_T(x)`` of one boosting (CSTC §5), after any number of trees.

    Attributes:
        trees: the boosting.
        used: bool (T + 1, features): features that the first t trees split on.
        evaluation: float64 (T + 1,): sum of e_t over the first t trees.
    """

    trees: BoostedTrees
    used: NDArray[np.bool_]
    evaluation: Floats

    @classmethod
    def of(cls, trees: BoostedTrees, n_features: int) -> Additive:
        """Build the sums with their bills."""
        count = len(trees.features_of)
        used = np.zeros((count + 1, n_features), dtype=bool)
        for t, features in enumerate(trees.features_of):
            used[t + 1] = used[t]
            used[t + 1, features] = True
        price = trees.evaluation if trees.evaluation is not None else np.zeros(count)
        return cls(trees, used, np.concatenate([[0.0], np.cumsum(price)]))

    @property
    def count(self) -> int:
        """T."""
        return len(self.used) - 1

    def partial(self, X: Floats, at: Sequence[int] | Ints) -> Floats:
        """Scores after some numbers of trees, summed in order, so that a row's scores are the same in any batch.

        Args:
            X: float64 (rows, columns).
            at: numbers of trees, 0 to T, ascending.

        Returns:
            float64 (rows, len(at)).
        """
        cuts = np.asarray(at, dtype=np.int64)
        most = int(cuts.max(initial=0))
        out = np.full((len(X), len(cuts)), self.trees.base)
        if not most:
            return out
        rows = np.arange(most)
        for start in range(0, len(X), _CHUNK):
            block = X[start : start + _CHUNK]
            leaf = self.trees.booster.predict(block, pred_leaf=True, num_iteration=most, num_threads=1)
            values = self.trees.leaf_values[rows, leaf.reshape(len(block), most).astype(np.int64)]
            running = np.cumsum(values, axis=1)
            inner = cuts > 0
            out[start : start + len(block), inner] += running[:, cuts[inner] - 1]
        return out


def boost_outputs(problem: Problem, targets: Sequence[Target], how: Boosting) -> tuple[Additive, ...]:
    """One boosting per target, by `bench_models.columns.boost`, as ``cstc`` has with ``features = "boosted"``."""
    return tuple(Additive.of(boost(problem, target.y, how, target.weights), problem.n_features) for target in targets)


def kept_prefixes(wanted: str | tuple[int, ...], rounds: int) -> list[int]:
    """Numbers of rounds that become policies: ``all``, ``geometric`` (1, 2, 4, … and the last), or as given."""
    if wanted == "all":
        return list(range(1, rounds + 1))
    if wanted == "geometric":
        asked = [2**i for i in range(rounds.bit_length() + 1)] + [rounds]
    else:
        asked = [int(r) for r in wanted]
    return sorted({min(r, rounds) for r in asked} - {0})
