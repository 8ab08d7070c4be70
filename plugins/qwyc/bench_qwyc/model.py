"""An additive ensemble as flat arrays: f(x) = bias + Σ f_t(x), where every base model f_t can run alone (QWYC §3).

A base model is a tree (or one tree per class, for boosting with several classes; a forest's tree may hold all classes
in a leaf), or a small network on a few features. The features that it reads on a row are known, so that each row is
billed for exactly those.
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
    """Small networks f_t(x) = Σ_h w_th φ(a_th · x + b_th) on a few columns x, with φ close to tanh (see `near_tanh`).

    Attributes:
        start: int64 (T + 1,): base model t reads ``columns[start[t]:start[t + 1]]``.
        columns: int32: columns of X, base model by base model.
        inner: float64 (hidden, len(columns)): inner weights a.
        offset: float64 (T, hidden): offsets b.
        outer: float64 (T, hidden): outer weights w.
    """

    start: Array
    columns: Array
    inner: Array
    offset: Array
    outer: Array


class Packed(NamedTuple):
    """An ensemble in the form that the kernels read: trees or networks, the other kind being empty.

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
    """An empty set of trees on these columns."""
    wide, narrow = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    value, units = np.zeros((0, 1), dtype), np.require(feature_of_column, requirements="W")
    return FlatTrees(wide, narrow, np.zeros(0), narrow, np.zeros(0, np.int8), value, units)


def blank_subsets() -> Subsets:
    """An empty set of networks."""
    table = np.zeros((0, 0))
    return Subsets(np.zeros(1, np.int64), np.zeros(0, np.int32), table, table, table)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """An additive ensemble.

    For two classes there is one output, and a row is positive where f(x) ≥ ``beta``. For K > 2 classes there are K
    outputs; the greatest decides, the first among equals.

    Attributes:
        packed: the base models.
        models: number T of base models.
        bias: (outputs,): start of the sums, in the type in which scores are added.
        link: conversion of a partial score to a probability: ``logistic`` (sigmoid or softmax), ``mean`` (votes in
            about [−1, 1], or class frequencies, averaged over the base models run), or ``linear`` ((1 + score) / 2,
            clipped).
        classes: int64: class codes of the outputs (two codes for one output).
        n_classes: number of classes of the problem; classes that are not in ``classes`` have probability 0.
        n_features: number of features of the problem.
        beta: decision threshold β.
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
        """Rows in the form that the kernels read; see `bench_models.trees.checked_rows`."""
        return checked_rows(self.packed.trees, X)

    @property
    def binary(self) -> bool:
        """Whether there is one output."""
        return len(self.bias) == 1

    def first(self, models: int) -> Ensemble:
        """The ensemble of the first ``models`` base models; shares their arrays."""
        return replace(self, models=models)

    def scores(self, X: NDArray[np.float64], threads: int = 1) -> Array:
        """Scores of every base model on every row: (T, rows), or (T, rows, K) for K classes."""
        from bench_qwyc._kernels_models import score_models

        out = np.empty((self.models, len(X), len(self.bias)), dtype=self.bias.dtype)
        X = self.readable(X)
        run_ranges(lambda a, b: score_models(self.packed, X, a, b, out), len(X), threads, 512)
        return out[:, :, 0] if self.binary else out

    @cached_property
    def uses(self) -> NDArray[np.bool_]:
        """Features that each base model may read: bool (T, features)."""
        from bench_qwyc._kernels_models import features_of_models

        out = np.zeros((self.models, self.n_features), dtype=bool)
        features_of_models(self.packed, out)
        return out

    def path_lengths(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean number of tests (for a network: its number of columns) of each base model on the rows: float64 (T,)."""
        if not self.packed.is_trees:
            return np.diff(self.packed.subsets.start)[: self.models].astype(np.float64)
        from bench_models.trees.kernels import count_tests

        trees, X = self.packed.trees, self.readable(X)
        met = np.zeros((self.models, self.packed.trees_per_model))
        count_tests(trees, trees.depth(), X, met.reshape(-1))
        return np.asarray(met.sum(axis=1) / max(len(X), 1))
