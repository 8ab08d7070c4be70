"""Cost schemes of EMSCO: a cost class per feature, given or by importance, and a formula from class to price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bench_core import Costs, CostScheme, DataError, DataFacts, Dataset, fit_encoder, per_feature
from bench_public_data.scaling import scaled

__all__ = ["CostClasses", "ImportanceQuantiles"]


@dataclass(frozen=True)
class CostClasses(CostScheme):
    """A cost class per feature, and a scaling function from class to price.

    Attributes:
        classes: a list in feature order, or ``{name = class}``.
        scale: the price as a formula of the class T: ``"10**T"``, ``"100*T"``, ``"T"``, …

    Source: EMSCO §4.1.
    """

    classes: list[int] | dict[str, int]
    scale: str = "T"

    def __post_init__(self) -> None:
        super().__post_init__()
        classes = self.classes.values() if isinstance(self.classes, Mapping) else self.classes
        scaled(self.scale, np.array(list(classes) or [1], dtype=np.int64))

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        listed = per_feature(self.classes, dataset.name, dataset.feature_names, "classes")
        return _priced(self.scale, np.array(listed, dtype=np.int64), dataset)

    def units(self, data: DataFacts) -> int:
        return len(per_feature(self.classes, data.name, data.feature_names, "classes"))


@dataclass(frozen=True)
class ImportanceQuantiles(CostScheme):
    """Cost classes by quantile of random-forest Gini importance: the more important, the more expensive.

    The forest is fitted on the training part only, on imputed values. With x_i the share of features whose
    importance is not above feature i's, the class is ``ceil(levels · x_i)``: the paper's quintiles for 5 levels.

    Attributes:
        levels: number of cost classes.
        scale: the price as a formula of the class T.
        n_estimators: trees in the forest.

    Source: EMSCO §4.1.3.
    """

    levels: Annotated[int, Ge(1)] = 5
    scale: str = "100*T"
    n_estimators: Annotated[int, Ge(1)] = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        scaled(self.scale, np.array([1]))

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        importance = _gini_importance(dataset, train.tobytes(), seed, self.n_estimators)
        ordered = np.sort(importance)
        percentile = np.searchsorted(ordered, importance, side="right") / len(importance)
        classes = np.ceil(self.levels * percentile - 1e-9).astype(np.int64)
        return _priced(self.scale, classes, dataset)


def _priced(scale: str, classes: NDArray[np.int64], dataset: Dataset) -> Costs:
    try:
        return Costs(scaled(scale, classes), classes=classes)
    except ValueError as error:
        raise DataError(f"data set {dataset.name!r}: {error}") from None


@lru_cache(maxsize=64)
def _gini_importance(dataset: Dataset, train: bytes, seed: int, trees: int) -> NDArray[np.float64]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    rows = np.frombuffer(train, dtype=np.int64)
    X = fit_encoder(dataset, rows, "impute").transform(dataset.values[rows])
    kind = RandomForestClassifier if dataset.classes else RandomForestRegressor
    forest = kind(n_estimators=trees, random_state=seed, n_jobs=1).fit(X, dataset.target[rows])
    return np.asarray(forest.feature_importances_)
