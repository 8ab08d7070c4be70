"""Generated classification and regression problems, and Synthetic30 (EMSCO §4.1.3), a classification problem.

The families and their parameters are those of scikit-learn's ``make_classification`` (Guyon 2003) and
``make_regression``, but the random numbers differ. scikit-learn multiplies matrices with BLAS and uses NumPy's
distributions, so the last bits of its tables, and with them every trial's name, differ between machines. Here, all
numbers are drawn by `bench_synthetic.draws`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from bench_core import DataContext, Dataset, DataSource
from bench_synthetic.draws import Draws, Table, exact_exp, on_grid, orthonormal, product

__all__ = ["MakeClassification", "MakeRegression", "Synthetic30"]

_GENERATED = {"source": "generated", "licence": "none needed"}


def classification(name: str, classes: int, X: Table, y: NDArray[np.int64]) -> Dataset:
    """Return a data set of generated features, named ``f1..fd``, and class codes.

    Args:
        name: name of the data set.
        classes: number of classes.
        X: float64 (rows, features).
        y: int64 (rows,), class codes from 0.
    """
    return Dataset(
        name=name,
        task="binary" if classes == 2 else "multiclass",
        values=np.ascontiguousarray(X, dtype=np.float64),
        feature_names=tuple(f"f{i + 1}" for i in range(X.shape[1])),
        target=np.asarray(y, dtype=np.int64),
        classes=tuple(str(label) for label in range(classes)),
        provenance=_GENERATED,
    )


@dataclass(frozen=True)
class Synthetic30(DataSource):
    """Synthetic30: 1000 × 30, 25 informative features, three balanced classes (EMSCO §4.1.3).

    ``make-classification`` with 1000 rows, 30 features, 25 informative, none redundant and 3 classes; the paper's
    ``n_important`` is read as scikit-learn's ``n_informative``. Its cost classes are the cost scheme
    ``importance-quantiles``.

    Attributes:
        seed: seed of the random numbers; the paper does not state its seed.
    """

    version: ClassVar[int] = 2
    seed: int = 0

    def load(self, context: DataContext) -> Dataset:
        family = MakeClassification(rows=1000, features=30, informative=25, redundant=0, classes=3, seed=self.seed)
        return classification("synthetic30", 3, *family.draw())


@dataclass(frozen=True)
class MakeClassification(DataSource):
    """Clusters of points around the corners of a hypercube (Guyon 2003).

    Each cluster consists of standard normal points, multiplied by a random matrix of the cluster, around a corner of a
    hypercube with side 2 · ``class_sep`` in the informative features. Clusters are assigned to the classes in turn. The
    parameters mean the same as those of scikit-learn's ``make_classification``; the random numbers differ (see the
    module). Values are multiples of 2⁻³⁰ before they are shifted and scaled.

    Attributes:
        rows, features: size of the table.
        informative: number of features that depend on the class.
        redundant: number of random linear combinations of informative features.
        repeated: number of copies of informative and redundant features; the remaining features are noise.
        classes: number of classes.
        clusters_per_class: clusters of each class; ``classes · clusters_per_class`` may not exceed 2**informative.
        weights: shares of the classes; empty: balanced.
        flip_y: share of rows whose class is drawn at random.
        class_sep: half the side of the hypercube.
        hypercube: whether clusters are at the corners of a hypercube; otherwise at those of a random polytope.
        shift, scale: added to, and multiplied with, every feature; None draws a random number per feature.
        shuffle: whether rows and features are shuffled; otherwise the order of the features is informative, redundant,
            repeated, noise.
        seed: seed of the random numbers, from 0.
    """

    version: ClassVar[int] = 2
    rows: int = 1000
    features: int = 20
    informative: Annotated[int, Ge(1)] = 5
    redundant: Annotated[int, Ge(0)] = 2
    repeated: Annotated[int, Ge(0)] = 0
    classes: Annotated[int, Ge(2)] = 2
    clusters_per_class: Annotated[int, Ge(1)] = 2
    weights: list[Annotated[float, Interval(gt=0, lt=1)]] = field(default_factory=list)
    flip_y: Annotated[float, Interval(ge=0, le=1)] = 0.01
    class_sep: float = 1.0
    hypercube: bool = True
    shift: float | None = 0.0
    scale: float | None = 1.0
    shuffle: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows < self.classes:
            raise ValueError(f"{self.rows} rows are too few for {self.classes} classes")
        if self.informative + self.redundant + self.repeated > self.features:
            raise ValueError(f"informative + redundant + repeated must not be more than features, {self.features}")
        if self.classes * self.clusters_per_class > 2**self.informative:
            raise ValueError(
                f"classes * clusters_per_class must not be more than 2**informative, {2**self.informative}"
            )
        if self.weights and (len(self.weights) != self.classes or abs(sum(self.weights) - 1) > 1e-9):
            raise ValueError("weights must be one share per class, summing to 1")

    def load(self, context: DataContext) -> Dataset:
        return classification("make-classification", self.classes, *self.draw())

    def draw(self) -> tuple[Table, NDArray[np.int64]]:
        """Return the table, float64 (rows, features), and the class codes, int64 (rows,)."""
        draws = Draws(self.seed, 0xC1A55)
        X = np.empty((self.rows, self.features))
        y = np.empty(self.rows, dtype=np.int64)
        known = self.informative + self.redundant
        sizes = self._cluster_sizes()
        centres = self._centres(draws, len(sizes))
        cloud = draws.normal(self.rows, self.informative)
        stop = 0
        for cluster, (size, centre) in enumerate(zip(sizes, centres, strict=True)):
            start, stop = stop, stop + size
            y[start:stop] = cluster % self.classes
            mixing = 2.0 * draws.uniform(self.informative, self.informative) - 1.0
            X[start:stop, : self.informative] = product(cloud[start:stop], mixing) + centre
        weights = 2.0 * draws.uniform(self.informative, self.redundant) - 1.0
        X[:, self.informative : known] = product(X[:, : self.informative], weights)
        X[:, known : known + self.repeated] = X[:, draws.integers(0, known - 1, self.repeated)]
        noise = self.features - known - self.repeated
        X[:, known + self.repeated :] = draws.normal(self.rows, noise)
        flipped = draws.uniform(self.rows) < self.flip_y
        y[flipped] = draws.integers(0, self.classes - 1, int(flipped.sum()))
        shift, scale = draws.uniform(self.features), draws.uniform(self.features)
        X = on_grid(X)
        X = X + ((2.0 * shift - 1.0) * self.class_sep if self.shift is None else self.shift)
        X = X * (1.0 + 100.0 * scale if self.scale is None else self.scale)
        if self.shuffle:
            order, columns = draws.permutation(self.rows), draws.permutation(self.features)
            X, y = X[order][:, columns], y[order]
        return X, y

    def _cluster_sizes(self) -> list[int]:
        """Return the number of rows of each cluster, by the weight of its class; the first clusters get the rest."""
        shares = self.weights or [1.0 / self.classes] * self.classes
        clusters = self.classes * self.clusters_per_class
        sizes = [int(self.rows * shares[k % self.classes] / self.clusters_per_class) for k in range(clusters)]
        for extra in range(self.rows - sum(sizes)):
            sizes[extra % clusters] += 1
        return sizes

    def _centres(self, draws: Draws, clusters: int) -> Table:
        centres = draws.corners(clusters, self.informative) * (2.0 * self.class_sep) - self.class_sep
        if self.hypercube:
            return centres
        return centres * draws.uniform(clusters, 1) * draws.uniform(1, self.informative)


@dataclass(frozen=True)
class MakeRegression(DataSource):
    """A random linear model with noise.

    The parameters mean the same as those of scikit-learn's ``make_regression``; the random numbers differ (see the
    module). Features are multiples of 2⁻³⁰, and so is the target before ``bias`` is added.

    Attributes:
        rows, features: size of the table.
        informative: number of features with a weight other than 0.
        bias: added to every target.
        effective_rank: approximate number of singular vectors that explain the features; None: independent features.
        tail_strength: weight of the tail of the other singular values, with ``effective_rank``.
        noise: standard deviation of the Gaussian noise on the target.
        seed: seed of the random numbers, from 0.
    """

    version: ClassVar[int] = 2
    rows: Annotated[int, Ge(1)] = 1000
    features: int = 20
    informative: Annotated[int, Ge(1)] = 10
    bias: float = 0.0
    effective_rank: Annotated[int, Ge(1)] | None = None
    tail_strength: Annotated[float, Interval(ge=0, le=1)] = 0.5
    noise: Annotated[float, Ge(0)] = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.informative > self.features:
            raise ValueError(f"informative must not be above features, {self.features}, not {self.informative}")

    def load(self, context: DataContext) -> Dataset:
        draws = Draws(self.seed, 0x4E64)
        X = on_grid(self._features(draws))
        weights = np.zeros((self.features, 1))
        weights[: self.informative] = 100.0 * draws.uniform(self.informative, 1)
        target = product(X, weights)[:, 0] + self.noise * draws.normal(self.rows)
        order, columns = draws.permutation(self.rows), draws.permutation(self.features)
        return Dataset(
            name="make-regression",
            task="regression",
            values=np.ascontiguousarray(X[order][:, columns]),
            feature_names=tuple(f"f{i + 1}" for i in range(self.features)),
            target=(on_grid(target) + self.bias)[order],
            provenance=_GENERATED,
        )

    def _features(self, draws: Draws) -> Table:
        """Return standard normal features, or features of low rank with scikit-learn's profile of singular values."""
        if self.effective_rank is None:
            return draws.normal(self.rows, self.features)
        rank = min(self.rows, self.features)
        left, right = (orthonormal(draws.normal(side, rank)) for side in (self.rows, self.features))
        places = [i / self.effective_rank for i in range(rank)]
        singular = np.array(
            [
                (1.0 - self.tail_strength) * exact_exp(-place * place) + self.tail_strength * exact_exp(-0.1 * place)
                for place in places
            ]
        )
        return product(left * singular, np.ascontiguousarray(right.T))
