r"""Lattice search: which feature sets to train (PolyDom, "Feature Set Pruning", Properties 3.3–3.5, 3.9–3.11).

Sets are bit masks. The search goes from both ends towards the middle, one layer of sets of equal size at a time. A
set is left out when two sets that were expanded sandwich it: with the best accuracy found below it, and the least
found above it, that is one comparison, since every set below a set is also below every set above it.

Without covering, whatever is left out is within α of something cheaper that was expanded, provided that the learner
obeys A(S) ≤ A(S') + e for S ⊂ S'.

Covering (Property 3.4) prunes more. From below: S is as good as each of S ∪ {i}, S ∪ {j}, …, so nothing between S and
their union is trained; S is cheaper than all of it. That is sound, up to α for each feature added, where features have
diminishing returns. Where two features only help together (their parity, say), it prunes the pair and loses the best
model. The inverse, from above: T is no better than each of T \ {i}, T \ {j}, …, so nothing between their intersection
and T is trained. But those sets are *cheaper* than what dominates T, and a budget may afford one of them and nothing
as good. Four features, A(S) = 0.5, 0.7, 0.9, 0.9, 0.9 for |S| = 0 … 4: no three features are worse than all four, so
every pair is pruned, and a budget for two features gets 0.7 instead of 0.9. So the inverse is unsound even where
returns diminish; it is an option of its own, ``covering="both"``, which is the paper's algorithm.

Property 3.9 says that a smaller α expands a superset. For two separate searches by layers that is not so: what the
larger α skipped may be what lets the smaller one skip something else (a test shows such a learner). It holds in the
progressive mode, where a search goes on from what the searches before it expanded, and always for the best-first
order of `bench_polydom.best_first`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates, features_of, set_curves

__all__ = [
    "MAX_FEATURES",
    "PROGRESSIVE_ALPHAS",
    "Accuracy",
    "Covering",
    "Expansion",
    "checked_count",
    "checked_tolerances",
    "expand_all",
    "layers",
    "progressive_search",
    "search",
    "tried",
]

MAX_FEATURES = 22
"""The lattice is kept whole, 2^d sets; beyond this, choose features first."""

PROGRESSIVE_ALPHAS = (2.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)

Covering = Literal["none", "below", "both"]
"""Which direction of Property 3.4 prunes: none, from below, or from below and, the inverse, from above."""

Accuracy = Callable[[tuple[int, ...]], float]
"""Trains on a set of features (indices, ascending) and says how accurate the model is."""


@dataclass(frozen=True)
class Expansion:
    """What a search found.

    Attributes:
        accuracy: expanded set (mask) → accuracy, in the order of expansion.
        failures: set → why its model could not be trained; skipped, and counted as expanded.
        n_features: number of features d.
        alpha: the tolerance that the search was completed for; infinity when none was.
        stopped: whether a precomputation budget stopped it.
    """

    accuracy: Mapping[int, float]
    failures: Mapping[int, str] = field(default_factory=dict)
    n_features: int = 0
    alpha: float = 0.0
    stopped: bool = False

    @property
    def n_expanded(self) -> int:
        """Sets that a model was trained for, or tried (Metric 1)."""
        return len(self.accuracy) + len(self.failures)

    def candidates(self, prices: NDArray[np.float64]) -> Candidates:
        """The expanded sets with their cost curves; prices float64 (features, degree + 1)."""
        return self.candidates_by(lambda masks: set_curves(masks, prices))

    def candidates_by(self, curves: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> Candidates:
        """The expanded sets with cost curves that are made of their masks: float64 (sets, degree + 1)."""
        masks = np.fromiter(self.accuracy, dtype=np.int64, count=len(self.accuracy))
        accuracy = np.fromiter(self.accuracy.values(), dtype=np.float64, count=len(self.accuracy))
        return Candidates(masks, accuracy, curves(masks))


def layers(n_features: int) -> NDArray[np.int64]:
    """How many features every set has: int64 (2^d,)."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_features):
        counts = np.concatenate([counts, counts + 1])
    return counts


def tried(accuracy: Accuracy, mask: int) -> float | str:
    """The accuracy of a set's model, or why there is none."""
    try:
        value = float(accuracy(features_of(mask)))
    except Exception as error:  # the learner is a black box: whatever it raises is this set's failure
        return f"{type(error).__name__}: {error}"
    return value if math.isfinite(value) else f"its accuracy is {value}"


def checked_count(n_features: int) -> None:
    """Refuse a lattice that is too large.

    Raises:
        ValueError: more than `MAX_FEATURES` features.
    """
    if not 0 <= n_features <= MAX_FEATURES:
        raise ValueError(
            f"the lattice of {n_features} features has 2^{n_features} sets; choose at most {MAX_FEATURES} "
            "features first, or acquire features in groups"
        )


def checked_tolerances(alpha: float, e: float) -> None:
    """Refuse senseless tolerances.

    Raises:
        ValueError: α or e is negative or not finite.
    """
    if not alpha >= 0 or not math.isfinite(alpha):
        raise ValueError(f"alpha must be finite and not negative, not {alpha}")
    if not e >= 0 or not math.isfinite(e):
        raise ValueError(f"e must be finite and not negative, not {e}")


class _OutOfBudget(Exception):
    """The precomputation budget is used up."""


class _Lattice:
    """Everything known of every set: arrays over all 2^d masks."""

    def __init__(self, n_features: int, accuracy: Accuracy, max_sets: float, deadline: float) -> None:
        checked_count(n_features)
        self.d, self.ask, self.max_sets, self.deadline = n_features, accuracy, max_sets, deadline
        self.accuracies: dict[int, float] = {}
        self.failures: dict[int, str] = {}
        count = 1 << n_features
        self.known = np.full(count, np.nan)
        self.tried = np.zeros(count, dtype=bool)
        self.layer = layers(n_features)
        self.covered = np.zeros(count, dtype=bool)

    def expand(self, mask: int) -> None:
        if self.tried[mask]:
            return
        if len(self.accuracies) + len(self.failures) >= self.max_sets or time.monotonic() > self.deadline:
            raise _OutOfBudget
        self.tried[mask] = True
        value = tried(self.ask, mask)
        if isinstance(value, str):
            self.failures[mask] = value
            return
        self.accuracies[mask] = value
        self.known[mask] = value

    def best_within(self) -> NDArray[np.float64]:
        """For every set the best accuracy known of it or a subset; −inf for none."""
        best = np.where(np.isnan(self.known), -np.inf, self.known)
        for bit in range(self.d):
            pairs = best.reshape(-1, 2, 1 << bit)
            np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        return best

    def least_above(self) -> NDArray[np.float64]:
        """For every set the least accuracy known of it or a superset; +inf for none."""
        least = np.where(np.isnan(self.known), np.inf, self.known)
        for bit in range(self.d):
            pairs = least.reshape(-1, 2, 1 << bit)
            np.minimum(pairs[:, 0], pairs[:, 1], out=pairs[:, 0])
        return least

    def run(self, alpha: float, e: float, covering: Covering) -> None:
        """Expand layers from both ends until all are done."""
        self.covered[:] = False
        slack = alpha - e
        layers = [k for pair in zip(range(self.d + 1), range(self.d, -1, -1), strict=True) for k in pair]
        for layer in dict.fromkeys(layers):
            sets = np.flatnonzero((self.layer == layer) & ~self.tried & ~self.covered)
            if len(sets):
                with np.errstate(invalid="ignore"):
                    sandwiched = self.best_within()[sets] >= self.least_above()[sets] - slack
                for mask in sets[~sandwiched].tolist():
                    self.expand(mask)
            upward = 2 * layer > self.d
            if covering == "both" or (covering == "below" and not upward):
                self._cover(layer, slack, upward)

    def _cover(self, layer: int, slack: float, upward: bool) -> None:
        """After a layer: mark what the sets beside it cover.

        From below, a set S and the expanded sets with one feature more that it dominates: everything strictly
        between S and their union. From above the inverse: T, the expanded sets with one feature less that dominate
        it, and everything strictly between their intersection and T.
        """
        bases = np.flatnonzero((self.layer == layer + (1 if upward else -1)) & ~np.isnan(self.known))
        free = np.zeros(len(bases), dtype=np.int64)
        for bit in range(self.d):
            near = bases ^ (1 << bit)
            fewer, more = (near, bases) if upward else (bases, near)
            with np.errstate(invalid="ignore"):
                dominated = self.known[fewer] >= self.known[more] - slack
            free |= np.where(dominated & ((more >> bit) & 1 == 1), 1 << bit, 0)
        for base, bits in zip(bases.tolist(), free.tolist(), strict=True):
            if bits & (bits - 1):
                some = np.zeros(1, dtype=np.int64)
                for feature in features_of(bits):
                    some = np.concatenate([some, some | (1 << feature)])
                self.covered[base ^ some[1:-1]] = True


def search(
    accuracy: Accuracy, n_features: int, alpha: float = 0.0, e: float = 0.0, *, covering: Covering = "none"
) -> Expansion:
    """Expand what may be the best model for some size and budget.

    Args:
        accuracy: trains on a set of features and says how accurate the model is; what it raises, or an accuracy
            that is not finite, is recorded as that set's failure, and the set is skipped.
        n_features: d, from 0 to `MAX_FEATURES`.
        alpha: how much accuracy may be given up.
        e: by how much a superset may be less accurate (Axiom 3.10).
        covering: prune by Property 3.4 too; see the module's docstring for what each direction can lose.

    Raises:
        ValueError: too many features, or a negative tolerance.
    """
    checked_tolerances(alpha, e)
    lattice = _Lattice(n_features, accuracy, math.inf, math.inf)
    lattice.run(alpha, e, covering)
    return Expansion(lattice.accuracies, lattice.failures, n_features, alpha)


def expand_all(accuracy: Accuracy, n_features: int) -> Expansion:
    """NaiveExpandAll: every set."""
    lattice = _Lattice(n_features, accuracy, math.inf, math.inf)
    for mask in range(1 << n_features):
        lattice.expand(mask)
    return Expansion(lattice.accuracies, lattice.failures, n_features, 0.0)


def progressive_search(
    accuracy: Accuracy,
    n_features: int,
    alphas: Sequence[float] = PROGRESSIVE_ALPHAS,
    e: float = 0.0,
    *,
    covering: Covering = "none",
    max_sets: float = math.inf,
    max_seconds: float = math.inf,
) -> Expansion:
    """The smallest α that a precomputation budget allows: the largest first, each going on from the one before.

    Args:
        accuracy, n_features, e, covering: as in `search`.
        alphas: tolerances to go through, in any order; the largest comes first.
        max_sets: how many models may be trained. Deterministic.
        max_seconds: for how long no new model is begun after the start. Depends on the machine.

    Returns:
        All sets expanded; `Expansion.alpha` is the last tolerance that was completed (infinity when none was), and
        every model trained beyond it is kept.

    Raises:
        ValueError: no alphas, a negative one, too many features.
    """
    if not alphas:
        raise ValueError("progressive search needs at least one alpha")
    for alpha in alphas:
        checked_tolerances(alpha, e)
    lattice = _Lattice(n_features, accuracy, max_sets, time.monotonic() + max_seconds)
    done, stopped = math.inf, False
    try:
        for alpha in sorted(set(alphas), reverse=True):
            lattice.run(alpha, e, covering)
            done = alpha
    except _OutOfBudget:
        stopped = True
    return Expansion(lattice.accuracies, lattice.failures, n_features, done, stopped)
