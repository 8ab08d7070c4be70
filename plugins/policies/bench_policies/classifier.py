"""A scikit-learn classifier that pays for the features it acquires."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from bench_core import Costs, CostScheme, Dataset, Method, RequestError, Rows
from bench_policies.fitted import FittedPolicy
from bench_policies.goals import Goal, check_every_pair
from bench_policies.judging import paid
from bench_policies.tables import Columns, with_numbers


class BudgetedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier that fits a budgetbench method and predicts with one of its policies.

    Args:
        method: a registered name, or a `bench_core.Method`.
        prices: a price for each column of X, or anything else that `bench_policies.read_prices` accepts; None: every
            column costs 1.
        budget: the largest mean cost of a row. It holds on the validation rows, which choose the policy; on other rows
            the mean differs by chance. None: the policy of best quality is chosen.
        cap: the most that the features of any single row may cost; policies are cut at it.
        measure: what is maximised: ``accuracy``, ``balanced-accuracy``, ``auc`` or ``log-loss``.
        error_costs: true label → answered label → cost, in the unit of the prices, for every pair of labels. The policy
            of least total cost is chosen, and `predict` returns the class of least expected cost. Cannot be
            combined with a budget.
        exit_threshold: the class probability at which a method with early stopping stops; None: chosen on the
            validation rows. No row is refused.
        parameters: parameters of a method given by name.
        random_state: integer seed of the split into training and validation rows, and of the method.

    Attributes:
        classes_: the labels, (classes,), sorted.
        policy_: the `FittedPolicy`.
        n_features_in_: number of columns of X.

    X may hold missing values (NaN, None) and, as a DataFrame, columns of text, which are categories. If such a column
    holds numbers and texts that mark a missing value (`bench_policies.tables.MISSING`), it is numbers. A category that
    was not in the data of `fit` counts as a rare one, or as missing with a warning if its column has no rare ones.

    The method `cost_` returns the cost of every row of X.

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
        cap: float | None = None,
        measure: str = "accuracy",
        exit_threshold: float | None = None,
        parameters: Any = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.prices = prices
        self.budget = budget
        self.error_costs = error_costs
        self.cap = cap
        self.measure = measure
        self.exit_threshold = exit_threshold
        self.parameters = parameters
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> BudgetedClassifier:
        """Fit on X (rows, columns) and labels y (rows,).

        Raises:
            ValueError: an array X holds an infinite number or text, y does not hold labels, or y holds one class only.
            RequestError: the method, a parameter, the prices or the error costs are invalid, or no policy of the method
                keeps to the budget; the message names the least budget that works.
        """
        from bench_policies.fitting import fit_policy
        from bench_policies.trials import Setup

        self._has_text_ = _has_text(X)
        if self._has_text_:
            validate_data(self, X, skip_check_array=True)
            check_consistent_length(X, y)
            y = column_or_1d(y, warn=True)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"classification needs two classes or more; y holds one class: {self.classes_[0]!r}")
        names = getattr(self, "feature_names_in_", None)
        named = tuple(map(str, names)) if names is not None else tuple(f"x{i}" for i in range(X.shape[1]))
        self._scheme_ = _scheme(self.prices, X.shape[1])
        codes = codes.reshape(-1).astype(np.int64)
        classes = tuple(_name(code) for code in range(len(self.classes_)))
        task: Any = "binary" if len(self.classes_) == 2 else "multiclass"
        if self._has_text_:
            frame = with_numbers(X.set_axis(list(named), axis=1), Columns()).assign(
                **{_TARGET: [_name(int(code)) for code in codes]}
            )
            dataset = Dataset.from_frame("X", frame, _TARGET, task=task)
        else:
            dataset = Dataset("X", task, X, named, codes, classes)
        self.policy_: FittedPolicy = fit_policy(
            self.method,
            dataset,
            self._scheme_,
            parameters=self.parameters,
            goal=Goal(self.budget, error_costs=self._error_costs(), cap=self.cap, measure=self.measure),
            setup=Setup("onehot" if self._has_text_ else "ordinal", exit_threshold=self.exit_threshold),
            splits=0,
            seed=int(self.random_state),
        )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, float64 (rows, classes)."""
        decided = self._decide(X)
        table: NDArray[np.float64] = np.asarray(decided.probabilities)
        return table

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row, (rows,): the most probable, or that of least expected cost."""
        table = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[self.policy_.answering.answers(table)[0]]
        return labels

    def cost_(self, X: Any) -> NDArray[np.float64]:
        """Return the cost of every row, of features and base models: float64 (rows,), in the unit of the prices."""
        return paid(self._decide(X), self.policy_.costs, None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _error_costs(self) -> dict[str, dict[str, float]] | None:
        """Return the error costs by the class names that the data set uses (codes as text)."""
        if self.error_costs is None:
            return None
        number = {label: _name(code) for code, label in enumerate(self.classes_.tolist())}
        known = self.classes_.tolist()
        for label in (one for truth, row in self.error_costs.items() for one in (truth, *row)):
            if label not in number:
                raise RequestError(f"error costs name {label!r}, which is not a class; classes: {known[:20]}")
        check_every_pair(self.error_costs, known)
        return {number[t]: {number[a]: float(c) for a, c in row.items()} for t, row in self.error_costs.items()}

    def _decide(self, X: Any) -> Any:
        check_is_fitted(self, "policy_")
        fitted = self.policy_
        if self._has_text_:
            validate_data(self, X, reset=False, skip_check_array=True)
            return fitted.decisions(X.set_axis(list(fitted.feature_names), axis=1))
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        decided = fitted.policy.decide(Rows(fitted.encoder.transform(X)))
        return decided.checked(len(X), len(fitted.feature_names), len(fitted.classes))


_TARGET = "__target__"


def _name(code: int) -> str:
    """Return the name of a class in the data set; names sort as the codes do."""
    return f"{code:06d}"


def _has_text(X: Any) -> bool:
    """Return whether X is a DataFrame with a column that is not numeric."""
    import pandas as pd

    return isinstance(X, pd.DataFrame) and not all(pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes)


def _scheme(prices: Any, columns: int) -> Any:
    """Return prices in a form that `fit_policy` accepts."""
    if prices is None:
        return [1.0] * columns
    if isinstance(prices, Costs):
        return _Fixed(prices)
    return prices if isinstance(prices, str | dict | CostScheme) else np.asarray(prices, dtype=np.float64).tolist()


class _Fixed(CostScheme):
    """A cost scheme that returns given costs."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return self.costs
