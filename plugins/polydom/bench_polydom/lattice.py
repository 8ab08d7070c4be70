r"""Lattice search: the feature sets to train (PolyDom, "Feature Set Pruning", Properties 3.3–3.5, 3.9–3.11).

Sets are bit masks. The search proceeds from both ends of the lattice to the middle, one layer of sets of equal size at
a time. A set is skipped if two expanded sets sandwich it. To decide this, the best accuracy found below the set is
compared with the least accuracy found above it. This suffices, because every subset of a set is a subset of all its
supersets.

Without covering, every skipped set is within α of a cheaper expanded set, provided that the learner obeys
A(S) ≤ A(S') + e for S ⊂ S'.

Covering (Property 3.4) prunes more. From below: if S is as good as each of S ∪ {i}, S ∪ {j}, …, no set between S and
their union is trained, because S is cheaper than all of these sets. This is sound, up to α for each added feature,
where features have diminishing returns. If two features help only together (parity, for example), it prunes the pair
and loses the best model. The inverse, from above: if T is no better than each of T \ {i}, T \ {j}, …, no set between
their intersection and T is trained. But the pruned sets are *cheaper* than the sets that dominate T, so a budget may
afford one of them and no set that is as good. Example with four features: A(S) = 0.5, 0.7, 0.9, 0.9, 0.9 for
|S| = 0 … 4. No three features are worse than all four, so every pair is pruned, and a budget for two features gets 0.7
instead of 0.9. So the inverse is unsound even where returns diminish. It is a separate option, ``covering="both"``,
the paper's algorithm.

Property 3.9 states that a search with a smaller α expands a superset. It fails for two separate searches by layers: the
search with the smaller α may expand a set that the other one skips, and may then skip a set that the other one expands
(a test shows such a learner). It holds in the progressive mode (`bench_polydom.progressive`), where each search
continues from the expanded sets of the previous ones, and always for the best-first order of
`bench_polydom.best_first`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates, features_of, set_curves

__all__ = [
    "MAX_FEATURES",
    "Accuracy",
    "Covering",
    "Expansion",
    "Lattice",
    "OutOfBudget",
    "checked_count",
    "checked_tolerances",
    "expand_all",
    "grown_sets",
    "layers",
    "search",
    "tried",
]

MAX_FEATURES = 22
"""Maximum number of features d: the search stores all 2^d sets of the lattice."""

Covering = Literal["none", "below", "both"]
"""Directions of pruning by Property 3.4: none, from below, or both from below and (the inverse) from above."""

Accuracy = Callable[[tuple[int, ...]], float]
"""A function that trains a model on a set of features (ascending indices) and returns its accuracy."""


@dataclass(frozen=True)
class Expansion:
    """The result of a search.

    Attributes:
        accuracy: accuracy of each expanded set (mask), in the order of expansion.
        failures: for each set whose model could not be trained, the reason; these sets count as expanded.
        n_features: number d of features.
        alpha: tolerance that the search was completed for; infinity if it was completed for none.
        stopped: whether a precomputation budget stopped the search.
    """

    accuracy: Mapping[int, float]
    failures: Mapping[int, str] = field(default_factory=dict)
    n_features: int = 0
    alpha: float = 0.0
    stopped: bool = False

    @property
    def n_expanded(self) -> int:
        """Number of sets for which training was tried (Metric 1)."""
        return len(self.accuracy) + len(self.failures)

    def candidates(self, prices: NDArray[np.float64]) -> Candidates:
        """The expanded sets with their cost curves, from prices, float64 (features, degree + 1)."""
        return self.candidates_by(lambda masks: set_curves(masks, prices))

    def candidates_by(self, curves: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> Candidates:
        """The expanded sets with their cost curves, from a function of the masks that returns (sets, degree + 1)."""
        masks = np.fromiter(self.accuracy, dtype=np.int64, count=len(self.accuracy))
        accuracy = np.fromiter(self.accuracy.values(), dtype=np.float64, count=len(self.accuracy))
        return Candidates(masks, accuracy, curves(masks))


def layers(n_features: int) -> NDArray[np.int64]:
    """Number of features of every set: int64 (2^d,)."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_features):
        counts = np.concatenate([counts, counts + 1])
    return counts


def grown_sets(n_features: int, best: Callable[[list[int]], int]) -> tuple[int, ...]:
    """The sets from the empty one to all features, each with one feature more than the one before.

    Args:
        n_features: number d of features.
        best: returns the next set. Its argument is every set with one feature more than the last one, in the order of
            the added feature.
    """
    sets = [0]
    for _ in range(n_features):
        sets.append(best([sets[-1] | 1 << feature for feature in range(n_features) if not sets[-1] >> feature & 1]))
    return tuple(sets)


def tried(accuracy: Accuracy, mask: int) -> float | str:
    """The accuracy of a set's model, or the reason why it could not be trained."""
    try:
        value = float(accuracy(features_of(mask)))
    except Exception as error:  # the learner is a black box: any exception is a failure of this set
        return f"{type(error).__name__}: {error}"
    return value if math.isfinite(value) else f"its accuracy is {value}"


def checked_count(n_features: int) -> None:
    """Check the number of features.

    Raises:
        ValueError: there are more than `MAX_FEATURES` features.
    """
    if not 0 <= n_features <= MAX_FEATURES:
        raise ValueError(
            f"the lattice of {n_features} features has 2^{n_features} sets; choose at most {MAX_FEATURES} "
            "features first, or acquire features in groups"
        )


def checked_tolerances(alpha: float, e: float) -> None:
    """Check tolerances.

    Raises:
        ValueError: α or e is negative or not finite.
    """
    if not alpha >= 0 or not math.isfinite(alpha):
        raise ValueError(f"alpha must be finite and not negative, not {alpha}")
    if not e >= 0 or not math.isfinite(e):
        raise ValueError(f"e must be finite and not negative, not {e}")


class OutOfBudget(Exception):
    """The precomputation budget is used up."""


class Lattice:
    """State of the search: arrays over all 2^d sets."""

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
            raise OutOfBudget
        self.tried[mask] = True
        value = tried(self.ask, mask)
        if isinstance(value, str):
            self.failures[mask] = value
            return
        self.accuracies[mask] = value
        self.known[mask] = value

    def grow(self) -> None:
        """From no feature on, add the feature that gives the most accurate set; expand every set that is compared."""

        def best(larger: list[int]) -> int:
            for mask in larger:
                self.expand(mask)
            return max(larger, key=lambda mask: self.accuracies.get(mask, -math.inf))

        self.expand(0)
        grown_sets(self.d, best)

    def best_within(self) -> NDArray[np.float64]:
        """Best known accuracy of each set and its subsets: float64 (2^d,); −inf if none is known."""
        best = np.where(np.isnan(self.known), -np.inf, self.known)
        for bit in range(self.d):
            pairs = best.reshape(-1, 2, 1 << bit)
            np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        return best

    def least_above(self) -> NDArray[np.float64]:
        """Least known accuracy of each set and its supersets: float64 (2^d,); +inf if none is known."""
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
        """Mark the sets that are covered by a layer and its neighbouring layer.

        From below: let S dominate some expanded sets with one feature more; all sets strictly between S and their union
        are covered. From above: let some expanded sets with one feature less dominate T; all sets strictly between
        their intersection and T are covered.
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
    """Expand all sets that may be the best for some size and budget.

    Args:
        accuracy: trains a model on a set of features and returns its accuracy. An exception, or an accuracy that is
            not finite, is recorded as a failure of that set.
        n_features: number d of features, from 0 to `MAX_FEATURES`.
        alpha: accuracy that may be given up.
        e: the largest amount by which a superset may be less accurate than a subset (Axiom 3.10).
        covering: pruning by Property 3.4; the module's docstring says what each direction can lose.

    Raises:
        ValueError: there are too many features, or a tolerance is negative or not finite.
    """
    checked_tolerances(alpha, e)
    lattice = Lattice(n_features, accuracy, math.inf, math.inf)
    lattice.run(alpha, e, covering)
    return Expansion(lattice.accuracies, lattice.failures, n_features, alpha)


def expand_all(accuracy: Accuracy, n_features: int) -> Expansion:
    """NaiveExpandAll: expand every set."""
    lattice = Lattice(n_features, accuracy, math.inf, math.inf)
    for mask in range(1 << n_features):
        lattice.expand(mask)
    return Expansion(lattice.accuracies, lattice.failures, n_features, 0.0)
