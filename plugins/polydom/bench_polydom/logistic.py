"""Right answers of the learner ``logistic`` on many sets of columns, by compiled code.

Searches train thousands of sets only to rank them. `bench_models.subsets` fits them on the same standardised rows in a
fraction of scikit-learn's time, to the same optimum. The models that answer are scikit-learn's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_models.subsets.models import SubsetModels
from bench_models.subsets.sets import from_flags
from numpy.typing import NDArray

__all__ = ["LogisticFold"]

_MOST_COEFFICIENTS = 500
"""Most coefficients of a compiled fit. Newton's method solves for all coefficients at once; from about 500 of them on,
scikit-learn's L-BFGS is as fast or faster (`benchmarks/training.py`)."""
_MOST_PREPARED = 2000
"""Most coefficients of the fit of all columns, from which the compiled fits of subsets start. It takes seconds."""
_TIE = 1e-5
"""Two scores that differ by less count as equal: the two solvers may order them differently."""


@dataclass(frozen=True, eq=False)
class LogisticFold:
    """One fold of a cross-validation.

    Attributes:
        models: the regressions on all columns and their subsets.
        classes: the labels that the training rows have, ascending.
        X: float64 (columns, rows): standardised rows to answer, a line for each column.
        y: their labels.
    """

    models: SubsetModels
    classes: NDArray[Any]
    X: NDArray[np.float64]
    y: NDArray[Any]

    @classmethod
    def of(
        cls, train: tuple[NDArray[Any], NDArray[Any]], test: tuple[NDArray[Any], NDArray[Any]], strength: float
    ) -> LogisticFold | None:
        """Prepare a fold; None if the training rows have one class only, or the fit of all columns is too large.

        Args:
            train, test: rows (rows, columns) and their labels.
            strength: inverse strength C of the penalty on the sum of losses.
        """
        from sklearn.preprocessing import StandardScaler

        classes, codes = np.unique(train[1], return_inverse=True)
        if not 0 < _coefficients(classes, train[0].shape[1]) <= _MOST_PREPARED:
            return None
        scaler = StandardScaler().fit(train[0])
        models = SubsetModels(scaler.transform(train[0]), codes, len(classes), C=strength)
        return cls(models, classes, np.ascontiguousarray(scaler.transform(test[0]).T), test[1])

    def right(self, columns: NDArray[np.int64]) -> int | None:
        """Number of right answers of the regression on some columns.

        None, which leaves the set to scikit-learn, if the fit is too large or did not converge, or if a row has two
        best classes.
        """
        if _coefficients(self.classes, len(columns)) > _MOST_COEFFICIENTS:
            return None
        flags = np.zeros((1, len(self.X)), dtype=bool)
        flags[0, columns] = True
        fit = self.models.fit(from_flags(flags), threads=1)
        if not fit.converged[0]:
            return None
        weights = fit.coefficients[0]
        # `stage_probabilities` would halve the speed of small sets.
        scores = np.repeat(weights[:, :1], self.X.shape[1], axis=1)
        for column in columns.tolist():
            scores += weights[:, column + 1, None] * self.X[column]
        scores = np.concatenate([np.zeros_like(scores), scores]) if len(scores) == 1 else scores
        second, best = np.partition(scores, -2, axis=0)[-2:]
        if (best - second < _TIE).any():
            return None
        answers = scores.argmax(axis=0)
        return int((self.classes[answers] == self.y).sum())


def _coefficients(classes: NDArray[Any], columns: int) -> int:
    return (len(classes) - 1) * (columns + 1)
