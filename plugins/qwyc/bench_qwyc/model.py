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
from numpy.typing import NDArray

__all__ = ["Ensemble", "Link", "Packed", "Subsets", "Trees", "blank_subsets", "blank_trees"]

Array = NDArray[Any]
Link = Literal["logistic", "mean", "linear"]


class Trees(NamedTuple):
    """Binary trees, node by node.

    A row goes left where ``x <= threshold``, a missing value where ``missing_left`` says.

    Attributes:
        root: int32 (T, trees of a base model).
        column: int32 (nodes,): column of X a node tests; −1 for a leaf.
        threshold: float64 (nodes,).
        child: int32 (nodes,): the left child; the right one is the next node.
        missing_left: bool (nodes,).
        value: (nodes, outputs of a tree), in the type in which scores are added.
    """

    root: Array
    column: Array
    threshold: Array
    child: Array
    missing_left: Array
    value: Array


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
    """What the kernels need of an ensemble; one of the two kinds is empty."""

    is_trees: bool
    trees: Trees
    subsets: Subsets
    feature_of_column: Array


def blank_trees(dtype: Any) -> Trees:
    """No trees."""
    whole, real = np.zeros(0, dtype=np.int32), np.zeros(0)
    return Trees(np.zeros((0, 1), np.int32), whole, real, whole, np.zeros(0, bool), np.zeros((0, 1), dtype))


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
        single: values are rounded to float32 before trees compare them.
    """

    packed: Packed
    models: int
    bias: Array
    link: Link
    classes: NDArray[np.int64]
    n_classes: int
    n_features: int
    beta: float = 0.0
    single: bool = False

    def readable(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows as the kernels read them: contiguous, and rounded where the base models compare float32.

        Always read-only, as the core's arrays are, so that a kernel is compiled for one type only.
        """
        with np.errstate(over="ignore"):
            made = np.ascontiguousarray(X.astype(np.float32) if self.single else X, dtype=np.float64).view()
        made.flags.writeable = False
        return made

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
        from bench_qwyc._threads import run_ranges

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
        from bench_qwyc._kernels_models import count_tests

        return np.asarray(count_tests(self.packed, self.models, self.readable(X)))
