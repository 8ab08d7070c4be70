"""Many priced image descriptors, each represented by the margins of its own classifiers (BUDGETPRUNE §5, Scene-15).

That paper's Scene-15 has 184 descriptors with measured prices, and 15 one-vs-rest kernel machines per descriptor, whose
margins are the features. Its descriptors are not public; here PolyDom's image descriptors take their place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bench_core import Costs, DataContext, DataError, Dataset, DataSource, content_hash
from bench_polydom.pricing import Measurements, load_measurements
from bench_polydom.sized_images import Sides, SizedImages, describe, describing_versions, kept

__all__ = ["DescriptorMargins"]


@dataclass(frozen=True)
class DescriptorMargins(DataSource):
    """Images represented by one-vs-rest margins of many descriptors; each descriptor is a group that is paid once.

    A descriptor is one of PolyDom's extractors on the image at one of the sides. One-vs-rest support vector machines
    with a Gaussian kernel (scikit-learn's defaults, standardised inputs) are trained on separate images, which are not
    rows of the data set. So no margin of a row comes from a machine that was fitted to it, whatever the split. The
    margins of a descriptor form an acquisition group, whose price is its measured time at that side in microseconds
    (cost scheme ``from-data``). The time to rescale the image and to evaluate the machines is not included.

    As with ``sized-images``, the last bits depend on the machine, so the content hash covers the inputs.

    Attributes:
        source: a registered data set whose rows are square grey images (``digits``, ``mnist``).
        path: a folder of class-named folders of image files (Scene-15), instead of ``source``.
        images: number of rows.
        learning: number of further images, on which the support vector machines are trained.
        sides: side lengths in pixels, each at least 8.
        without: extractors to leave out.
        prices: a file of measurements, or the name of one that comes with the plugin.
        statistic: the times that prices are fitted to: the ``worst`` case or the ``median``.
        parameters: parameters of ``source``.
        seed: seed for drawing images.
    """

    version: ClassVar[int] = 1
    network: ClassVar[bool] = True
    source: str = "digits"
    path: str = ""
    images: Annotated[int, Ge(2)] = 1000
    learning: Annotated[int, Ge(2)] = 500
    sides: Sides = (16, 32)
    without: tuple[str, ...] = ()
    prices: str = "reference"
    statistic: Literal["worst", "median"] = "worst"
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    def fingerprint(self, context: DataContext) -> str | None:
        """None, because the images' source may have no cheap fingerprint."""
        return None

    def status(self, context: DataContext) -> str:
        """The status of the images' source."""
        return self._images().status(context)

    def load(self, context: DataContext) -> Dataset:
        """Rescale the images, compute descriptors and margins, and price them.

        Raises:
            DataUnavailable: scikit-image, the images or the measurements are missing.
            DataError: there are too few images, the images for learning lack a class, the source's rows are not square
                images, or the measurements lack a descriptor.
        """
        made, names = self._made(context), self._names()
        margins = kept(context.cache / "descriptor-margins" / f"{made.key}.npz", names, lambda: self._margins(made))
        return self._table(made, [margins[name] for name in names], names)

    def content(self, context: DataContext) -> str:
        """Content hash of the inputs; does not compute descriptors."""
        made, names = self._made(context), self._names()
        blank = np.zeros((len(made.rows), len(_labels(made.classes))))
        return self._table(made, [blank] * len(names), names).content

    def _images(self) -> SizedImages:
        return SizedImages(
            self.source, self.path, self.images + self.learning, self.sides, False, self.prices, self.statistic,
            parameters=self.parameters, seed=self.seed,
        )  # fmt: skip

    def _extractors(self) -> dict[str, Callable[[Any], Any]]:
        from bench_polydom.extractors import EXTRACTORS

        for name in self.without:
            if name not in EXTRACTORS:
                raise DataError(f"descriptor-margins: without: there is no extractor {name!r}; {', '.join(EXTRACTORS)}")
        return {name: extract for name, extract in EXTRACTORS.items() if name not in self.without}

    def _names(self) -> list[str]:
        return [f"{name} at {side}" for side in self.sides for name in self._extractors()]

    def _made(self, context: DataContext) -> _Made:
        import sklearn

        versions = describing_versions()
        pictures, target, classes = self._images().pictures(context)
        wanted = self.images + self.learning
        if len(pictures) < wanted:
            raise DataError(
                f"descriptor-margins: images + learning need {wanted} images; there are {len(pictures)} images"
            )
        order = np.random.default_rng([self.seed, 3]).permutation(len(pictures))
        learning, rows = np.sort(order[: self.learning]), np.sort(order[self.learning :])
        if len(np.unique(target[learning])) < len(classes):
            raise DataError(f"descriptor-margins: learning: {self.learning} images do not hold every class")
        key = content_hash(
            {
                **versions, "margins": self.version, "sklearn": sklearn.__version__,
                "sides": list(self.sides), "without": sorted(self.without),
            },
            {"target": target, "learning": learning, **{f"{i}": picture for i, picture in enumerate(pictures)}},
        )  # fmt: skip
        return _Made(pictures, target, classes, learning, rows, load_measurements(self.prices), key)

    def _margins(self, made: _Made) -> dict[str, NDArray[np.float64]]:
        extractors, found = self._extractors(), {}
        for side in self.sides:
            for name, table in describe(made.pictures, [side] * len(made.pictures), extractors).items():
                found[f"{name} at {side}"] = _margins_of(table, made.target, made.learning, made.rows)
        return found

    def _table(self, made: _Made, margins: list[NDArray[np.float64]], names: list[str]) -> Dataset:
        fitted = made.measured.prices(self.statistic)
        prices = []
        for name in names:
            extractor, _, side = name.rpartition(" at ")
            if extractor not in fitted:
                raise DataError(f"descriptor-margins: {self.prices!r} has no times of {extractor!r}")
            prices.append([float(np.polynomial.polynomial.polyval(float(side) ** 2, fitted[extractor]))])
        labels = _labels(made.classes)
        columns = [f"{name}: {label}" for name in names for label in labels]
        groups = np.repeat(np.arange(len(names)), len(labels))
        return Dataset(
            "descriptor-margins",
            "binary" if len(made.classes) == 2 else "multiclass",
            np.hstack(margins),
            tuple(columns),
            made.target[made.rows],
            made.classes,
            costs=Costs(np.zeros(len(columns)), groups, np.array(prices)),
            provenance=self._images().provenance(made.measured),
            origin={
                "source": "descriptor-margins",
                "version": self.version,
                "images": made.key,
                "times": made.measured.content(list(self._extractors())),
                "statistic": self.statistic,
            },
        )


@dataclass(frozen=True, eq=False)
class _Made:
    """All inputs of the table; ``learning`` and ``rows`` are indices into ``pictures``."""

    pictures: list[NDArray[np.float64]]
    target: NDArray[np.int64]
    classes: tuple[str, ...]
    learning: NDArray[np.int64]
    rows: NDArray[np.int64]
    measured: Measurements
    key: str


def _margins_of(
    table: NDArray[np.float64], target: NDArray[np.int64], learning: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Margins of one-vs-rest kernel machines: float64 (rows, classes); a single column for two classes."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machines = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC())).fit(table[learning], target[learning])
    found = np.asarray(machines.decision_function(table[rows]), dtype=np.float64)
    return found.reshape(len(rows), -1)


def _labels(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the classes with a margin."""
    return classes[1:] if len(classes) == 2 else classes
