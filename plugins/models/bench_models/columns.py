"""The columns of a classifier: the encoded features, or boosted trees (the boosting trick, CSTC §5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["BoostedTrees", "Boosting", "Columns", "PlainColumns", "boost", "divisors", "price_of_evaluation"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def divisors(mean: Floats, spread: Floats) -> Floats:
    """What standardising divides by: the spread of each column, or 1 for a constant column.

    The standard deviation of equal values may be a rounding error instead of 0.

    Args:
        mean, spread: float64 (columns,): means and standard deviations.
    """
    return np.where(spread > 1e-12 * np.abs(mean), spread, 1.0)


class Columns(Protocol):
    """A map from rows to the columns that classifiers weight.

    Attributes:
        features_of: per column, the features that must be acquired to compute it.
        evaluation: float64 (columns,): price of evaluating each column, or None if they need no evaluation.
    """

    @property
    def features_of(self) -> list[Ints]: ...

    @property
    def evaluation(self) -> Floats | None: ...

    def values(self, X: Floats) -> Floats:
        """The columns' values on rows: float64 (rows, columns)."""


@dataclass(frozen=True, eq=False)
class PlainColumns:
    """The encoded features, unchanged."""

    features_of: list[Ints]
    evaluation: Floats | None = None

    @classmethod
    def of(cls, problem: Problem) -> PlainColumns:
        """The columns of a problem."""
        return cls([np.array([feature]) for feature in problem.feature_of_column])

    def values(self, X: Floats) -> Floats:
        """``X`` itself."""
        return X


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Gradient-boosted regression trees h_1 … h_T as columns: φ(x) = [h_1(x), …, h_T(x)].

    Attributes:
        booster: the LightGBM model.
        leaf_values: float64 (trees, most leaves): prediction of each leaf.
        features_of: per tree, the features that it splits on.
        evaluation: float64 (trees,): price e_t of evaluating each tree.
        base: the constant with which boosting started.
    """

    booster: Any
    leaf_values: Floats
    features_of: list[Ints]
    evaluation: Floats | None = field(default=None)
    base: float = 0.0

    def values(self, X: Floats) -> Floats:
        """The trees' predictions on rows: float64 (rows, trees)."""
        if not len(X):
            return np.zeros((0, len(self.features_of)))
        leaf = self.booster.predict(X, pred_leaf=True, num_threads=1).reshape(len(X), -1).astype(np.int64)
        return np.asarray(self.leaf_values[np.arange(len(self.features_of)), leaf])


def price_of_evaluation(problem: Problem, evaluation: float | Literal["scheme"]) -> float:
    """The price e_t of evaluating a tree: as given, or the cost scheme's price of an evaluation."""
    return problem.costs.evaluation if evaluation == "scheme" else float(evaluation)


@dataclass(frozen=True)
class Boosting:
    """Settings of boosting.

    Attributes:
        trees: number of trees.
        depth: depth of a tree, which has at most ``2**depth`` leaves.
        learning_rate: shrinkage of each tree.
        price: price e_t of evaluating a tree.
    """

    trees: int
    depth: int
    learning_rate: float
    price: float


def boost(problem: Problem, y: Floats, how: Boosting, weights: Floats | None = None) -> BoostedTrees:
    """Boost squared loss on the training part with LightGBM.

    Args:
        problem: the training part and the columns.
        y: float64 (rows,).
        how: settings: number, depth, learning rate and price of the trees.
        weights: float64 (rows,) or None.
    """
    import lightgbm as lgb

    X = problem.train.X
    base = float(np.average(y, weights=weights)) if len(y) else 0.0
    least = max(1, min(20, len(y) // 20))
    parameters = {
        "objective": "regression",
        "learning_rate": how.learning_rate,
        "max_depth": how.depth,
        "num_leaves": 2**how.depth,
        "min_data_in_leaf": least,
        "min_data_in_bin": 1 if len(y) < 2000 else 3,
        "boost_from_average": False,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": problem.threads,
        "seed": 0,
        "verbosity": -1,
    }
    data = lgb.Dataset(X, label=y - base, weight=weights, params={"verbosity": -1}, free_raw_data=True)
    booster = lgb.train(parameters, data, num_boost_round=how.trees)
    leaf_values, features_of = [], []
    for tree in booster.dump_model()["tree_info"]:
        values: dict[int, float] = {}
        columns: set[int] = set()
        _read(tree["tree_structure"], values, columns)
        features_of.append(np.unique(problem.feature_of_column[sorted(columns)]))
        leaf_values.append([values[i] for i in range(len(values))])
    width = max((len(row) for row in leaf_values), default=1)
    table = np.zeros((len(leaf_values), width))
    for t, row in enumerate(leaf_values):
        table[t, : len(row)] = row
    return BoostedTrees(booster, table, features_of, np.full(len(features_of), how.price), base)


def _read(node: dict[str, Any], values: dict[int, float], columns: set[int]) -> None:
    if "leaf_value" in node:
        values[int(node.get("leaf_index", 0))] = float(node["leaf_value"])
        return
    columns.add(int(node["split_feature"]))
    _read(node["left_child"], values, columns)
    _read(node["right_child"], values, columns)
