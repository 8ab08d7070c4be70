"""A method of any scikit-learn classifier or regressor, in one line: `bench_core.sklearn_method`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench_core import ContractError, Decisions, Method, Policy, Problem, Rows

__all__ = ["sklearn_method"]


@dataclasses.dataclass(frozen=True, eq=False)
class EstimatorPolicy(Policy):
    """Acquire all features and run a fitted estimator once.

    Attributes:
        model: fitted; None if the training part has only one class.
        classes: int64 (columns,): the class of each column of the model's probabilities; empty for values and scores.
        n_classes: 0 for values and scores.
        n_features: number of features of the problem.
    """

    model: Any
    classes: NDArray[np.int64]
    n_classes: int
    n_features: int

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.ones((len(rows), self.n_features), dtype=bool)
        if not self.n_classes:
            return Decisions(acquired, score=self.model.predict(rows.X) if len(rows) else np.zeros(0))
        probabilities = np.zeros((len(rows), self.n_classes))
        if len(rows):
            known = 1.0 if self.model is None else self.model.predict_proba(rows.X)
            probabilities[:, self.classes] = known
        return Decisions(acquired, probabilities=probabilities)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return ~known


class _EstimatorMethod(Method):
    estimator: ClassVar[Any]
    takes_missing: ClassVar[bool] = True

    def fit(self, problem: Problem) -> list[Policy]:
        """Fit on the training part; the validation part is not used."""
        from sklearn.base import clone
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.utils import get_tags

        X, y = problem.train.X, problem.train.y
        classes = np.unique(y).astype(np.int64) if problem.n_classes else np.zeros(0, dtype=np.int64)
        if len(classes) == 1:
            return [EstimatorPolicy(None, classes, problem.n_classes, problem.n_features)]
        model = clone(self.estimator).set_params(**_parameters(self))
        drawn = int(problem.rng("random_state").integers(2**31))
        model.set_params(**{name: drawn for name in model.get_params() if name.endswith("random_state")})
        if np.isnan(X).any() and not get_tags(model).input_tags.allow_nan:
            model = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), model)
        model.fit(X, y)
        return [EstimatorPolicy(model, classes, problem.n_classes, problem.n_features)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.estimator, type(self).version, _parameters(self))


def sklearn_method(estimator: Any, *, version: int = 1) -> type[Method]:
    """A method that buys all features and runs a scikit-learn classifier or regressor once.

    Its parameters are those of the estimator that are numbers, strings or booleans, with the estimator's values as
    defaults. ``random_state`` comes from the trial's seed. Missing values are replaced by the training part's medians
    if the estimator does not accept them; a class without training rows has probability 0.

    Args:
        estimator: not fitted. A classifier needs ``predict_proba`` and does binary and multiclass tasks; a regressor
            does regression, and ranking by its prediction of the grade.
        version: the method's version; raise it when the estimator, or a parameter that is not listed above, changes.

    Returns:
        A class to register: ``register("svm", sklearn_method(SVC(probability=True)))``.

    Raises:
        ContractError: the estimator is neither a classifier nor a regressor, or gives no class probabilities.
    """
    from sklearn.base import is_classifier, is_regressor

    name = type(estimator).__name__
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ContractError(f"sklearn_method needs a classifier or a regressor, not {estimator!r}")
    if is_classifier(estimator) and not hasattr(estimator, "predict_proba"):
        raise ContractError(f"{name} gives no probabilities; wrap it in sklearn.calibration.CalibratedClassifierCV")
    fields = [
        (key, type(value), dataclasses.field(default=value))
        for key, value in estimator.get_params(deep=False).items()
        if type(value) in (bool, int, float, str) and key not in ("random_state", "n_jobs")
    ]
    tasks = {"binary", "multiclass"} if is_classifier(estimator) else {"regression", "ranking"}
    body = {
        "__doc__": f"scikit-learn's {name} on all features, acquired for every row.",
        "estimator": estimator,
        "version": version,
        "tasks": frozenset(tasks),
    }
    made: type[Method] = dataclasses.make_dataclass(
        name, fields, bases=(_EstimatorMethod,), namespace=body, frozen=True
    )
    return made


def _parameters(method: Method) -> dict[str, Any]:
    return {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}  # type: ignore[arg-type]


def _rebuilt(estimator: Any, version: int, parameters: Mapping[str, Any]) -> Method:
    return sklearn_method(estimator, version=version)(**parameters)
