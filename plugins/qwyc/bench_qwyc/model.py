"""An additive ensemble as flat arrays: f(x) = bias + Σ f_t(x), every f_t runnable by itself (§3).

A base model is a tree (for several boosted classes one tree per class; a forest's tree may hold all classes in a
leaf), or a small network on a few features. What it reads on a row is known, so that features are billed as they are
read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from bench_models.threads import run_ranges
from bench_models.trees import FlatTrees, checked_rows
from numpy.typing import NDArray

__all__ = ["Ensemble", "Link", "Packed", "Subsets", "blank_subsets", "blank_trees"]

Array = NDArray[Any]
Link = Literal["logistic", "mean", "linear"]


class Subsets(NamedTuple):
    """Small networks: f_t(x) = Σ_h w_th φ(a_th · x + b_th), x a few columns, φ nearly the hyperbolic tangent.

    Attributes:
        start: int64 (T + 1,): base model t reads ``columns[start[t]:start[t + 1]]``.
        columns: int32.
        inner: float64 (hidden, len(columns)).
        offset, outer: float64 (T, hidden).
    """

    start: Array
    columns: Array
    inner: Array
    offset: Array
    outer: Array


class Packed(NamedTuple):
    """What the kernels need of an ensemble; one of the two kinds is empty.

    Base model t has the trees ``t * trees_per_model`` … ``(t + 1) * trees_per_model − 1``, whose units are features.
    """

    is_trees: bool
    trees: FlatTrees
    trees_per_model: int
    subsets: Subsets

    @property
    def feature_of_column(self) -> Array:
        """int64 (columns,): the feature of each column."""
        return self.trees.unit_of_column


def blank_trees(dtype: Any, feature_of_column: NDArray[np.int64]) -> FlatTrees:
    """No trees on these columns."""
    whole, narrow = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    value = np.zeros((0, 1), dtype)
    return FlatTrees(whole, narrow, np.zeros(0), narrow, np.zeros(0, np.int8), value, feature_of_column)


def blank_subsets() -> Subsets:
    """No networks."""
    table = np.zeros((0, 0))
    return Subsets(np.zeros(1, np.int64), np.zeros(0, np.int32), table, table, table)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """An additive ensemble.

    Two classes have one output, positive where f(x) ≥ ``beta``; K > 2 classes have K, the greatest wins (the first
    among equals).

    Attributes:
        packed: the base models.
        models: T.
        bias: (outputs,), in the type in which scores are added.
        link: how a partial score becomes a probability: ``logistic`` (sigmoid or softmax), ``mean`` (votes of about
            [−1, 1], or class shares, averaged over the base models run), ``linear`` ((1 + score) / 2, clipped).
        classes: int64: the class codes that the outputs mean (two for one output).
        n_classes: classes of the problem; those not in ``classes`` have probability 0.
        n_features: features of the problem.
        beta: decision threshold.
    """

    packed: Packed
    models: int
    bias: Array
    link: Link
    classes: NDArray[np.int64]
    n_classes: int
    n_features: int
    beta: float = 0.0

    def readable(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows as the kernels read them, see `bench_models.trees.checked_rows`."""
        return checked_rows(self.packed.trees, X)

    @property
    def binary(self) -> bool:
        """Whether there is one output."""
        return len(self.bias) == 1

    def first(self, models: int) -> Ensemble:
        """The ensemble of the first so many base models (the base models themselves are shared)."""
        return replace(self, models=models)

    def scores(self, X: NDArray[np.float64], threads: int = 1) -> Array:
        """Scores of every base model on every row: (T, rows), or (T, rows, K); written once, where they stay."""
        from bench_qwyc._kernels_models import score_models

        out = np.empty((self.models, len(X), len(self.bias)), dtype=self.bias.dtype)
        X = self.readable(X)
        run_ranges(lambda a, b: score_models(self.packed, X, a, b, out), len(X), threads, 512)
        return out[:, :, 0] if self.binary else out

    @cached_property
    def uses(self) -> NDArray[np.bool_]:
        """bool (T, features): the features that each base model may read."""
        from bench_qwyc._kernels_models import features_of_models

        out = np.zeros((self.models, self.n_features), dtype=bool)
        features_of_models(self.packed, out)
        return out

    def path_lengths(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean number of tests (features for a network) of each base model on the rows: (T,)."""
        if not self.packed.is_trees:
            return np.diff(self.packed.subsets.start)[: self.models].astype(np.float64)
        from bench_models.trees.kernels import count_tests

        trees, X = self.packed.trees, self.readable(X)
        met = np.zeros((self.models, self.packed.trees_per_model))
        count_tests(trees, trees.depth(), X, met.reshape(-1))
        return np.asarray(met.sum(axis=1) / max(len(X), 1))
