"""A scikit-learn classifier that pays for what it looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bench_core import Costs, CostScheme, Dataset, Method, RequestError, Rows
from bench_policies.fitted import FittedPolicy
from bench_policies.goals import Goal


class BudgetedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A policy of a method, as a scikit-learn classifier.

    Args:
        method: a registered name, or a `bench_core.Method`.
        prices: one per column of X; None: each costs 1. Also what `bench_policies.read_prices` takes.
        budget: the largest mean cost of a row, kept on the rows that choose the policy; on other rows the mean differs
            by chance. None: quality decides.
        error_costs: truth → answer → cost, by the labels in y, in the unit of prices; what is not named costs 0. The
            policy of least total is taken, and `predict` gives the class of least expected cost. Not beside a budget.
        exit_threshold: the confidence at which methods stop early that need one; None: chosen on the rows that choose
            the policy. Nothing is refused.
        parameters: of a method given by name.
        random_state: of the division into rows that train and rows that choose; an integer.

    Attributes:
        classes_: the classes.
        policy_: the `FittedPolicy`.
        n_features_in_: columns of X.

    `cost_` gives what each row of X costs.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BudgetedClassifier("lasso", prices=[1, 1, 5, 5], budget=6).fit(X, y)
    >>> bool(model.cost_(X).mean() <= 6)
    True
    """

    def __init__(
        self,
        method: str | Method = "lasso",
        prices: Any = None,
        budget: float | None = None,
        *,
        error_costs: Any = None,
        exit_threshold: float | None = None,
        parameters: Any = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.prices = prices
        self.budget = budget
        self.error_costs = error_costs
        self.exit_threshold = exit_threshold
        self.parameters = parameters
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> BudgetedClassifier:
        """Fit on X (rows, columns) and labels y (rows,).

        Raises:
            ValueError: X or y is no table of numbers or labels, or there is one class only.
            RequestError: the method, a parameter, the prices or the error costs are wrong, or no policy of the method
                keeps to the budget; the least budget that one does is said.
        """
        from bench_policies.fitting import fit_policy

        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"classification needs two classes or more; y holds one class: {self.classes_[0]!r}")
        names = getattr(self, "feature_names_in_", None)
        named = tuple(map(str, names)) if names is not None else tuple(f"x{i}" for i in range(X.shape[1]))
        self._scheme_ = _scheme(self.prices, X.shape[1])
        dataset = Dataset(
            "X",
            "binary" if len(self.classes_) == 2 else "multiclass",
            X,
            named,
            codes.reshape(-1).astype(np.int64),
            tuple(str(number) for number in range(len(self.classes_))),
        )
        self.policy_: FittedPolicy = fit_policy(
            self.method,
            dataset,
            self._scheme_,
            parameters=self.parameters,
            goal=Goal(budget=self.budget, error_costs=self._error_costs()),
            exit_threshold=self.exit_threshold,
            splits=0,
            encode="ordinal",
            seed=int(self.random_state),
        )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, float64 (rows, classes)."""
        decided = self._decide(X)
        table: NDArray[np.float64] = np.asarray(decided.probabilities)
        return table

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row: the most probable one, or with error costs the one of least expected cost."""
        table = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[self.policy_.answering.answers(table)[0]]
        return labels

    def cost_(self, X: Any) -> NDArray[np.float64]:
        """What every row costs, float64 (rows,)."""
        return self.policy_.costs.bill(np.asarray(self._decide(X).acquired))

    def _error_costs(self) -> dict[str, dict[str, float]] | None:
        """Error costs by the names that the classes have in the data set."""
        if self.error_costs is None:
            return None
        number = {label: str(code) for code, label in enumerate(self.classes_.tolist())}
        known = self.classes_.tolist()
        for label in (one for truth, row in self.error_costs.items() for one in (truth, *row)):
            if label not in number:
                raise RequestError(f"error costs name {label!r}, which is no class; classes: {known[:20]}")
        return {number[t]: {number[a]: float(c) for a, c in row.items()} for t, row in self.error_costs.items()}

    def _decide(self, X: Any) -> Any:
        check_is_fitted(self, "policy_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        fitted = self.policy_
        decided = fitted.policy.decide(Rows(fitted.encoder.transform(X)))
        return decided.checked(len(X), len(fitted.feature_names), len(fitted.classes))


def _scheme(prices: Any, columns: int) -> Any:
    """Prices as `fit_policy` takes them."""
    if prices is None:
        return [1.0] * columns
    if isinstance(prices, Costs):
        return _Fixed(prices)
    return prices if isinstance(prices, str | dict | CostScheme) else np.asarray(prices, dtype=np.float64).tolist()


class _Fixed(CostScheme):
    """Prices that are there already."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return self.costs
