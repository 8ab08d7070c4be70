"""Trees of one test: fitting one per feature, and choosing among them by price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Problem, Rows

__all__ = ["Stump", "best_by_price", "fit_stumps"]


@dataclass(frozen=True, eq=False)
class Stump(Policy):
    """One test of one column: every row pays for its feature.

    Attributes:
        n_features: number of features of the problem.
        feature: the acquired feature.
        column: the tested column; ``float32(x) <= threshold`` goes left, as in scikit-learn.
        threshold: threshold of the test.
        missing_left: whether a missing value goes left.
        answers: float64 (2, classes): left and right; (2, 1) for a value.
        classes: whether the answers are probabilities.
    """

    n_features: int
    feature: int
    column: int
    threshold: float
    missing_left: bool
    answers: NDArray[np.float64]
    classes: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        acquired[:, self.feature] = True
        with np.errstate(over="ignore"):
            values = rows.X[:, self.column].astype(np.float32)
        left = np.where(np.isnan(values), self.missing_left, values <= self.threshold)
        answers = self.answers[np.where(left, 0, 1)]
        if self.classes:
            return Decisions(acquired, probabilities=answers)
        return Decisions(acquired, score=np.ascontiguousarray(answers[:, 0]))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The one feature."""
        return np.asarray((np.arange(self.n_features) == self.feature) & ~known)

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        missing = 1 if self.missing_left else 2
        test = {"column": self.column, "threshold": self.threshold, "left": 1, "right": 2, "missing": missing}
        leaves = [{"value": answer.tolist() if self.classes else float(answer[0])} for answer in self.answers]
        return {"features": [self.feature], "model": {"kind": "tree", "single": True, "nodes": [test, *leaves]}}


def fit_stumps(problem: Problem, min_samples_leaf: int) -> list[Stump]:
    """A stump for every feature that has a test at all, by ascending price, then by feature.

    A feature's price includes its group's; if prices depend on item size, it is the mean over the training rows.
    """
    costs, sizes = problem.costs, problem.train.sizes if problem.costs.depends_on_size else None
    stumps = []
    for feature in range(problem.n_features):
        acquired = np.zeros((len(problem.train) if sizes is not None else 1, problem.n_features), dtype=bool)
        acquired[:, feature] = True
        stump = _fit(problem, feature, float(costs.bill(acquired, sizes).mean()), min_samples_leaf)
        if stump is not None:
            stumps.append(stump)
    return sorted(stumps, key=lambda stump: (stump.details["price"], stump.feature))


def _fit(problem: Problem, feature: int, price: float, min_samples_leaf: int) -> Stump | None:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if problem.n_classes else DecisionTreeRegressor
    columns = problem.columns_of(feature)
    if not len(columns):
        return None
    model = kind(max_depth=1, min_samples_leaf=min_samples_leaf, random_state=0)
    model.fit(problem.train.X[:, columns], problem.train.y)
    tree = model.tree_
    if tree.node_count < 3:
        return None
    sides = np.array([tree.children_left[0], tree.children_right[0]])
    answers = np.asarray(tree.value[sides, 0, :], dtype=np.float64)
    if problem.n_classes:
        table = np.zeros((2, problem.n_classes))
        table[:, np.asarray(model.classes_, dtype=np.int64)] = answers / answers.sum(axis=1, keepdims=True)
        answers = table
    name = problem.feature_names[feature]
    return Stump(
        problem.n_features, feature, int(columns[tree.feature[0]]), float(tree.threshold[0]),
        bool(tree.missing_go_to_left[0]), answers, problem.n_classes > 0, name, {"feature": name, "price": price},
    )  # fmt: skip


def best_by_price(prices: Sequence[float], scores: Sequence[float]) -> list[int]:
    """The candidates that are the best at or below some price; in a tie, the earlier one.

    Args:
        prices: ascending.
        scores: greater is better.

    Returns:
        Positions, by ascending price.
    """
    chosen: list[int] = []
    at_price: int | None = None
    best = -np.inf
    for i, (price, score) in enumerate(zip(prices, scores, strict=True)):
        if score > best:
            best = score
            if at_price is not None and prices[at_price] == price:
                chosen.pop()
            chosen.append(i)
            at_price = i
    return chosen
