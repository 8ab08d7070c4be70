"""Prices by a feature's weight in a linear classifier: informative features are expensive (BUDGETPRUNE §6.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from bench_core import Costs, CostScheme, DataError, DataFacts, Dataset

__all__ = ["SvmWeights"]


@dataclass(frozen=True)
class SvmWeights(CostScheme):
    """Prices are the rounded weights of a linear SVM on columns of equal length, scaled to a mean of 1.

    The SVM is fitted on the imputed training rows; with several classes a feature's weight is the largest of its
    one-vs-rest weights. A weight that rounds to 0 gives 1, the lowest price in the paper.

    Attributes:
        C: inverse strength of the SVM's penalty, above 0.
    """

    C: Annotated[float, Gt(0)] = 1.0

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        from sklearn.svm import LinearSVC

        from bench_core import fit_encoder

        if not dataset.classes:
            raise DataError(f"data set {dataset.name!r}: svm-weights needs classes; the task is {dataset.task}")
        X = fit_encoder(dataset, train, "impute").transform(dataset.values[train])
        length = np.sqrt(np.sum(X * X, axis=0))
        X /= np.where(length > 0, length, 1.0)
        model = LinearSVC(C=self.C, dual=False, random_state=seed).fit(X, dataset.target[train])
        weights = np.maximum(np.round(np.abs(model.coef_).max(axis=0)), 1.0)
        return Costs(weights / weights.mean())

    def units(self, data: DataFacts) -> int:
        if not data.n_classes:
            raise DataError(f"data set {data.name!r}: svm-weights needs classes; the task is {data.task}")
        return data.n_features
