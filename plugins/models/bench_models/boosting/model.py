"""A LightGBM model of some columns: picklable, and a row's answer does not depend on its batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_models.boosting.training import objective_of, train

if TYPE_CHECKING:
    import lightgbm

__all__ = ["BoostedModel", "fit_boosted", "probabilities_of"]


def probabilities_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """LightGBM's link: sigmoid of one output, softmax of several; float64 (rows, classes)."""
    if scores.shape[1] > 1:
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        table: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return table
    small = np.exp(-np.abs(scores[:, 0]))
    second = np.where(scores[:, 0] >= 0, 1.0, small) / (1.0 + small)
    return np.column_stack([1.0 - second, second])


@dataclass(frozen=True, eq=False)
class BoostedModel:
    """Boosted trees that read some columns.

    Attributes:
        booster: LightGBM's model; pickled with all digits, so that a copy gives the same answers.
        columns: int64 (c,): the columns that it reads, in the model's order.
        n_classes: width of the answer; 0 for a value or a ranking score.
    """

    booster: lightgbm.Booster
    columns: NDArray[np.int64]
    n_classes: int

    @property
    def trees(self) -> int:
        """Number of trees."""
        return int(self.booster.num_trees())

    def raw(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """LightGBM's scores before its link: float64 (rows, outputs). X has all columns of the problem."""
        if not len(X):
            return np.zeros((0, self.n_classes if self.n_classes > 2 else 1))
        read = np.ascontiguousarray(X[:, self.columns])
        scores = np.asarray(self.booster.predict(read, raw_score=True, num_threads=1), dtype=np.float64)
        return scores.reshape(len(X), -1)

    def probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The class probabilities: float64 (rows, n_classes). X has all columns of the problem."""
        return probabilities_of(self.raw(X))

    def score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value, or the ranking score; float64 (rows,)."""
        return np.ascontiguousarray(self.raw(X)[:, 0])

    def exported(self) -> dict[str, Any]:
        """The model as JSON values, in the form that ``bench fit --export`` writes."""
        from bench_models.boosting.flat import flat_trees
        from bench_models.trees import NAN_LEFT

        flat = flat_trees(self.booster, self.columns)
        trees = []
        for first, last in zip(flat.root, [*flat.root[1:], len(flat.column)], strict=True):
            nodes: list[dict[str, Any]] = []
            for node in range(first, last):
                if flat.column[node] < 0:
                    nodes.append({"value": float(flat.value[node, 0])})
                    continue
                left = int(flat.left[node] - first)
                test = {"column": int(self.columns[flat.column[node]]), "threshold": float(flat.threshold[node])}
                missing = left + (flat.missing[node] != NAN_LEFT)
                nodes.append({**test, "left": left, "right": left + 1, "missing": int(missing)})
            trees.append(nodes)
        return {
            "kind": "boosted",
            "outputs": self.n_classes if self.n_classes > 2 else 1,
            "classes": self.n_classes,
            "trees": trees,
        }


def fit_boosted(
    problem: Problem,
    columns: NDArray[np.int64],
    n_estimators: int = 100,
    max_leaf_nodes: int = 31,
    learning_rate: float = 0.1,
    min_samples_leaf: int = 20,
    ranking: str = "lambdarank",
    row_share: float = 1.0,
    column_share: float = 1.0,
) -> BoostedModel:
    """LightGBM on some columns of the training part; the defaults are LightGBM's own.

    Args:
        problem: any task; values may be missing.
        columns: int64: at least one.
        n_estimators: boosting rounds (one tree per class in each for more than two classes).
        max_leaf_nodes, learning_rate, min_samples_leaf: LightGBM's ``num_leaves``, ``learning_rate`` and
            ``min_data_in_leaf``.
        ranking: ``lambdarank`` or ``pointwise``, see `objective_of`.
        row_share, column_share: the share of the rows, and of the columns, that each tree is grown on, drawn at random;
            LightGBM's ``bagging_fraction`` and ``feature_fraction``.

    Raises:
        ValueError: lambdarank is used with grades that are not integers from 0 to 30.
    """
    settings = {
        **objective_of(problem, ranking),
        "num_leaves": max_leaf_nodes,
        "learning_rate": learning_rate,
        "min_data_in_leaf": min_samples_leaf,
    }
    if row_share < 1:
        settings |= {"bagging_fraction": row_share, "bagging_freq": 1}
    if column_share < 1:
        settings["feature_fraction"] = column_share
    columns = np.asarray(columns, dtype=np.int64)
    return BoostedModel(train(problem, n_estimators, settings, columns), columns, problem.n_classes)
