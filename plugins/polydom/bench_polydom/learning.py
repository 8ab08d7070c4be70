"""Training of a black-box learner on sets of features, and the fitted models that an index may return."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_models.remembered import FieldsOnly
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bench_polydom.logistic import LogisticFold

__all__ = ["Majority", "Trainer", "shared_accuracies"]


def shared_accuracies(arrays: Sequence[NDArray[Any]], *settings: Any) -> dict[tuple[int, ...], float]:
    """A cache of accuracies by set of features, the same object for equal arguments; the last eight are kept.

    Args:
        arrays: the rows and labels that the accuracies depend on.
        settings: everything else that they depend on; hashable.
    """
    contents = sha256()
    for array in arrays:
        contents.update(f"{array.dtype.str}{array.shape}".encode())
        contents.update(np.ascontiguousarray(array).data)
    return _shared(contents.digest(), *settings)


@lru_cache(maxsize=8)
def _shared(*key: Any) -> dict[tuple[int, ...], float]:
    return {}


@dataclass(frozen=True, eq=False)
class Majority:
    """The model without features: the most frequent class (the first among equals), at no cost.

    Attributes:
        classes: the labels, sorted.
        shares: float64 (classes,): their frequencies.
    """

    classes: NDArray[Any]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, y: NDArray[Any]) -> Majority:
        """Build the model from training labels."""
        classes, counts = np.unique(y, return_counts=True)
        return cls(classes, counts / counts.sum())

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The most frequent class for every row."""
        return np.repeat(self.classes[int(self.shares.argmax())], len(X))

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The class frequencies for every row: float64 (rows, classes)."""
        return np.repeat(self.shares[None, :], len(X), axis=0)


@dataclass(eq=False)
class Trainer(FieldsOnly):
    """Accuracy of a learner on sets of features, and its fitted models.

    Attributes:
        learner: a scikit-learn classifier; it is cloned for every set and never modified.
        X: training rows.
        y: training labels.
        columns: for every feature, its columns of X.
        X_test: rows on which accuracy is measured; None for cross-validation on the training rows.
        y_test: their labels.
        folds: number of folds of the cross-validation, which is stratified and always shuffled in the same way; or the
            training rows of each fold, int64.
        models: fitted models by set of features.
        known: measured accuracies by set of features.
        strength: inverse strength of the penalty if the learner is ``logistic``, whose cross-validation is then
            compiled; None for other learners.
    """

    learner: Any
    X: NDArray[Any]
    y: NDArray[Any]
    columns: Sequence[NDArray[np.int64]]
    X_test: NDArray[Any] | None = None
    y_test: NDArray[Any] | None = None
    folds: int | Sequence[NDArray[np.int64]] = 5
    models: dict[tuple[int, ...], Any] = field(default_factory=dict)
    known: dict[tuple[int, ...], float] = field(default_factory=dict)
    strength: float | None = None

    def columns_of(self, features: Sequence[int]) -> NDArray[np.int64]:
        """The columns of a set of features, in ascending order."""
        if not len(features):
            return np.zeros(0, dtype=np.int64)
        return np.sort(np.concatenate([self.columns[f] for f in features]))

    def model(self, features: tuple[int, ...]) -> Any:
        """The model of a set of features; it is trained at the first call."""
        if features not in self.models:
            self.models[features] = self._fit(features, self.X, self.y)
        return self.models[features]

    def accuracy(self, features: tuple[int, ...]) -> float:
        """Accuracy of the model of a set of features; for the empty set, that of the majority class."""
        if features not in self.known:
            self.known[features] = self._measure(features)
        return self.known[features]

    def saved_fields(self) -> dict[str, Any]:
        """Fields of a saved policy: the models, without training rows."""
        none = np.zeros((0, 0))
        fields = {name: getattr(self, name) for name in ("columns", "models")}
        return {
            **fields,
            "folds": 0,
            "learner": None,
            "X": none,
            "y": none[0:0, 0:0].ravel(),
            "known": {},
            "X_test": None,
            "y_test": None,
        }

    def _measure(self, features: tuple[int, ...]) -> float:
        columns = self.columns_of(features)
        if self.X_test is not None:
            return float(np.mean(self.model(features).predict(self.X_test[:, columns]) == self.y_test))
        right = 0
        for number, (train, test) in enumerate(self._folds):
            compiled = self._compiled[number] if features else None
            count = compiled.right(columns) if compiled is not None else None
            if count is None:
                model = self._fit(features, self.X[train], self.y[train])
                count = int(np.sum(model.predict(self.X[test][:, columns]) == self.y[test]))
            right += count
        return right / len(self.y)

    @cached_property
    def _folds(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        return list(self._splits())

    @cached_property
    def _compiled(self) -> list[LogisticFold | None]:
        """Each fold with the compiled learner; None where only scikit-learn's can be used."""
        from bench_polydom.logistic import LogisticFold

        if self.strength is None:
            return [None] * len(self._folds)
        return [
            LogisticFold.of((self.X[train], self.y[train]), (self.X[test], self.y[test]), self.strength)
            for train, test in self._folds
        ]

    def _splits(self) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The rows to train on and to measure on, fold by fold."""
        if isinstance(self.folds, int):
            from sklearn.model_selection import StratifiedKFold

            splits: Iterable[Any] = StratifiedKFold(self.folds, shuffle=True, random_state=0).split(self.X, self.y)
            return splits
        every = np.arange(len(self.y))
        return [(np.setdiff1d(every, rows), rows) for rows in self.folds]

    def _fit(self, features: tuple[int, ...], X: NDArray[Any], y: NDArray[Any]) -> Any:
        if not features or (y == y[0]).all():
            return Majority.of(y)
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(self.learner).fit(X[:, self.columns_of(features)], y)
