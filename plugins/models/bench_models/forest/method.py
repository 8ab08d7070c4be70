"""The base of methods that start from a forest: the forest's parameters, and growing it.

Two methods with the same parameters grow the same forest on the same problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from bench_core import Method, Problem, RequestError
from bench_models.forest.flat import FlatForest, from_sklearn
from bench_models.forest.policy import ForestPolicy

__all__ = ["ForestMethod"]


@dataclass(frozen=True)
class ForestMethod(Method):
    """A method that grows a forest first; the base class of those that prune it.

    Attributes:
        n_estimators: number of trees.
        ensemble: ``random-forest`` (bootstrap) or ``extra-trees`` (random thresholds on all rows).
        criterion: ``entropy`` or ``gini``; or ``pairs``, BudgetRF's minimax impurity (pairs of rows of different
            classes), with this package's own grower.
        cost_weighted: whether each split's gain is divided by the price of its feature (BudgetRF).
        grower: grower of random forests: ``presorted``, this package's, which is several times as fast if all columns
            are tried, or ``scikit-learn`` (not for ``pairs``, nor with ``cost_weighted``). Extra trees are always
            scikit-learn's.
        max_features: columns tried at each split: a share up to 1, a count above.
        min_samples_leaf: fewest in-bag rows of a leaf; this package's grower counts them by weight.
        max_depth: greatest depth of a leaf; 0 means no limit.
        relevant_from: for ranking: grades of at least this value are relevant.
    """

    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "ranking"})
    takes_missing: ClassVar[bool] = True

    n_estimators: Annotated[int, Ge(1)] = 40
    ensemble: Literal["random-forest", "extra-trees"] = "random-forest"
    criterion: Literal["entropy", "gini", "pairs"] = "entropy"
    cost_weighted: bool = False
    grower: Literal["scikit-learn", "presorted"] = "presorted"
    max_features: Annotated[float, Gt(0)] = 1.0
    min_samples_leaf: Annotated[int, Ge(1)] = 1
    max_depth: Annotated[int, Ge(0)] = 0
    relevant_from: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ensemble == "extra-trees" and (self.cost_weighted or self.criterion == "pairs"):
            raise ValueError(
                "extra-trees goes with scikit-learn's grower: criterion entropy or gini, not cost-weighted"
            )

    @property
    def _own_grower(self) -> bool:
        presorted = self.grower == "presorted" and self.ensemble == "random-forest"
        return presorted or self.cost_weighted or self.criterion == "pairs"

    def labels(self, problem: Problem, y: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        """Class codes and the number of classes; ranking becomes relevant (1) or not (0).

        Raises:
            RequestError: the task is regression.
        """
        if problem.task == "ranking":
            return (np.asarray(y) >= self.relevant_from).astype(np.int64), 2
        if problem.task not in self.tasks:
            raise RequestError(
                f"{type(self).__name__} classifies; the task {problem.task!r} is not one of "
                f"{', '.join(sorted(self.tasks))}"
            )
        return np.asarray(y, dtype=np.int64), problem.n_classes

    def grow(self, problem: Problem) -> FlatForest:
        """Grow the forest on the training part; the same for the same problem and parameters.

        Raises:
            RequestError: the task is regression.
        """
        y, classes = self.labels(problem, problem.train.y)
        seed = int(problem.rng("forest").integers(2**31 - 1))
        if self._own_grower:
            from bench_models.forest.grower import Growth, grow

            prices = split_prices(problem) if self.cost_weighted else None
            tried = self._tried(problem)
            growth = Growth(self.n_estimators, self.criterion, prices, tried, self.min_samples_leaf, self.max_depth)
            return grow(problem.train.X, y, classes, problem.feature_of_column, growth, seed, problem.threads)
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        kind = RandomForestClassifier if self.ensemble == "random-forest" else ExtraTreesClassifier
        model = kind(
            n_estimators=self.n_estimators,
            criterion=self.criterion,
            max_features=self._tried(problem),
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_depth or None,
            random_state=seed,
            n_jobs=problem.threads,
        )
        return from_sklearn(model.fit(problem.train.X, y), problem.feature_of_column, classes)

    def _tried(self, problem: Problem) -> int:
        """Number of columns that a split tries."""
        columns = len(problem.feature_of_column)
        tried = self.max_features * columns if self.max_features <= 1 else self.max_features
        return int(min(max(tried, 1), columns))

    def policy(
        self, problem: Problem, forest: FlatForest, opened: NDArray[np.bool_], label: str, details: Mapping[str, Any]
    ) -> ForestPolicy:
        """The policy of a pruning."""
        pruned = forest.pruned(opened)
        all_details = {
            **details,
            "leaves": int((~pruned.inner).sum()),
            "training_error": float(pruned.error[~pruned.inner].sum()),
        }
        return ForestPolicy(
            pruned,
            problem.n_features,
            ranks=problem.task == "ranking",
            label=label,
            details=all_details,
            threads=problem.threads,
        )


def split_prices(problem: Problem) -> NDArray[np.float64]:
    """A price per feature for cost-weighted splits: its own and its group's, at the mean item size.

    A free feature counts as a thousandth of the mean price, so that it is preferred within limits; if all are free, all
    count alike. float64 (features,).
    """
    costs = problem.costs
    size = None if problem.train.sizes is None else float(np.mean(problem.train.sizes))
    prices = np.array([costs.cost_of([feature], size) for feature in range(problem.n_features)])
    mean = prices.mean()
    return np.ones(len(prices)) if mean == 0 else np.maximum(prices, mean / 1000)
