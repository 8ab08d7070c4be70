"""Images at several sizes, with features by scikit-image and their measured prices (PolyDom, "Real Dataset")."""

from __future__ import annotations

# scikit-image is marked as typed, but most of its functions are not.
# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval, MinLen, Predicate
from numpy.typing import NDArray

from bench_core import Costs, DataContext, DataError, Dataset, DataSource, DataUnavailable, content_hash, distinct
from bench_polydom.pricing import Measurements, load_measurements

__all__ = ["SizedImages", "describe", "describing_versions", "kept", "rescaled"]


@dataclass(frozen=True, eq=False)
class _Recipe:
    """All inputs of the table; ``key`` is a hash of the images, their sides and the descriptors' versions."""

    pictures: list[NDArray[np.float64]]
    target: NDArray[np.int64]
    classes: tuple[str, ...]
    which: NDArray[np.int64]
    side: NDArray[np.int64]
    measured: Measurements
    key: str


Sides = Annotated[tuple[Annotated[int, Ge(8)], ...], MinLen(1), Predicate(distinct)]
"""Side lengths in pixels."""


@dataclass(frozen=True)
class SizedImages(DataSource):
    """Images rescaled to several sizes; each descriptor is an acquisition group with a measured price (PolyDom).

    A row is an image at one of the sides; its size is the number of pixels. Every column of a descriptor is a feature
    with price 0. The descriptor is an acquisition group; its price in microseconds is a polynomial of the number of
    pixels, fitted to measured times (cost scheme ``from-data``). Each image is rescaled to a single side, so that no
    copy of a test image is in the training part. With ``every_side``, each image is a row at every side, as in the
    paper. The data set then defines a split by image (protocol ``split = { kind = "given" }``), because a random split
    would put copies of an image into different parts and overstate accuracy.

    The last bits of scikit-image's descriptors and of the fitted prices depend on the machine; thresholds on grey
    levels can enlarge these differences. So the content hash covers the inputs (the data set's ``origin``): the images,
    the sides, the versions of the descriptors and of scikit-image, and the measurements with the fit's settings. Trials
    on two machines have the same name, although their descriptors may differ slightly.

    Attributes:
        source: a registered data set whose rows are square grey images (``digits``, ``mnist``).
        path: a folder of class-named folders of image files (Scene-15), instead of ``source``.
        images: number of images, drawn with the seed; 0 takes all.
        sides: side lengths in pixels, each at least 8; assigned to images with the seed, in equal numbers.
        every_side: whether each image is a row at every side, instead of at one side.
        prices: a file of measurements (see `bench_polydom.pricing`), or the name of one that comes with the plugin.
        statistic: the times that prices are fitted to: the ``worst`` case, as in the paper, or the ``median``.
        degree: degree of the price polynomials.
        parameters: parameters of ``source``.
        seed: seed for drawing images and sides.
    """

    version: ClassVar[int] = 2
    network: ClassVar[bool] = True
    source: str = "digits"
    path: str = ""
    images: Annotated[int, Ge(0)] = 400
    sides: Sides = (16, 32, 64)
    every_side: bool = False
    prices: str = "reference"
    statistic: Literal["worst", "median"] = "worst"
    degree: Annotated[int, Interval(ge=0, le=6)] = 2
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    def fingerprint(self, context: DataContext) -> str | None:
        """None, because the images' source may have no cheap fingerprint."""
        return None

    def status(self, context: DataContext) -> str:
        """The status of the images' source."""
        if self.path:
            return "cached" if Path(self.path).expanduser().is_dir() else "missing"
        return str(self._source().status(context))

    def _source(self) -> DataSource:
        from bench_core.suites import described_registry

        registry = described_registry()  # imports the plugin of that source, and no other
        try:
            source: DataSource = registry.dataset(self.source, "sized-images: source")(**self.parameters)
        finally:
            registry.close()
        return source

    def load(self, context: DataContext) -> Dataset:
        """Rescale the images, compute their descriptors, and price them.

        Raises:
            DataUnavailable: scikit-image, the images or the measurements are missing.
            DataError: the source's rows are not square images, or the measurements lack a descriptor.
        """
        from bench_polydom.extractors import EXTRACTORS

        recipe = self._recipe(context)
        described = kept(
            context.cache / "sized-images" / f"{recipe.key}.npz",
            list(EXTRACTORS),
            lambda: describe([recipe.pictures[i] for i in recipe.which], recipe.side.tolist(), EXTRACTORS),
        )
        return self._table(recipe, described)

    def content(self, context: DataContext) -> str:
        """Content hash of the inputs; does not compute the images' descriptors."""
        from bench_polydom.extractors import EXTRACTORS

        recipe = self._recipe(context)
        # A descriptor's length is the same for every image.
        described = describe([np.zeros((8, 8))], [8], EXTRACTORS)
        blank = {name: np.zeros((len(recipe.which), table.shape[1])) for name, table in described.items()}
        return self._table(recipe, blank).content

    def _recipe(self, context: DataContext) -> _Recipe:
        versions = describing_versions()
        pictures, target, classes = self.pictures(context)
        measured = load_measurements(self.prices)
        which, side = self._rows(len(pictures))
        key = content_hash(
            versions, {"which": which, "side": side, **{f"{i}": picture for i, picture in enumerate(pictures)}}
        )
        return _Recipe(pictures, target, classes, which, side, measured, key)

    def _table(self, recipe: _Recipe, described: Mapping[str, NDArray[np.float64]]) -> Dataset:
        names, groups = [], []
        for number, (name, table) in enumerate(described.items()):
            names += [f"{name}[{i}]" for i in range(table.shape[1])]
            groups += [number] * table.shape[1]
        fitted = recipe.measured.prices(self.statistic, self.degree)
        for name in described:
            if name not in fitted:
                raise DataError(f"sized-images: {self.prices!r} has no times of {name!r}")
        costs = Costs(np.zeros(len(names)), np.array(groups), np.array([fitted[name] for name in described]))
        return Dataset(
            "sized-images",
            "binary" if len(recipe.classes) == 2 else "multiclass",
            np.hstack(list(described.values())),
            tuple(names),
            recipe.target[recipe.which],
            recipe.classes,
            sizes=np.square(recipe.side.astype(np.float64)),
            split=self._split(len(recipe.pictures))[recipe.which] if self.every_side else None,
            costs=costs,
            provenance=self.provenance(recipe.measured),
            origin={
                "source": "sized-images",
                "version": self.version,
                "images": recipe.key,
                "times": recipe.measured.content(list(described)),
                "statistic": self.statistic,
                "degree": self.degree,
            },
        )

    def provenance(self, measured: Measurements) -> dict[str, str]:
        """Origin of the images and of the prices."""
        return {
            "source": self.path or self.source,
            "prices": f"measured on {measured.machine!r}, microseconds, {self.statistic} case",
        }

    def _rows(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices of the picture and of the side of every row."""
        sides, pictures = np.array(self.sides, dtype=np.int64), np.arange(count)
        if self.every_side:
            return np.tile(pictures, len(sides)), np.repeat(sides, count)
        drawn = np.random.default_rng([self.seed, 1]).permutation(np.resize(sides, count))
        return pictures, drawn

    def _split(self, count: int) -> NDArray[np.int8]:
        """The given split by image: half for training, a quarter each for validation and test."""
        parts = np.resize(np.array([0, 1, 0, 2], dtype=np.int8), count)
        return np.random.default_rng([self.seed, 2]).permutation(parts)

    def pictures(self, context: DataContext) -> tuple[list[NDArray[np.float64]], NDArray[np.int64], tuple[str, ...]]:
        """The original images: grey images in [0, 1], class codes int64 (images,), and class names."""
        if self.path:
            files, target, classes = _listed(Path(self.path).expanduser())
            chosen = self._draw(len(files))
            return [_grey(files[i]) for i in chosen], target[chosen], classes
        table = self._source().load(context)
        side = round(table.n_features**0.5)
        if side * side != table.n_features or not table.classes:
            raise DataError(f"sized-images: {self.source!r} has {table.n_features} features: no square images")
        top = float(np.nanmax(table.values)) or 1.0
        chosen = self._draw(table.n_rows)
        pictures = [np.asarray(row, dtype=np.float64).reshape(side, side) / top for row in table.values[chosen]]
        return pictures, np.asarray(table.target)[chosen].astype(np.int64), table.classes

    def _draw(self, count: int) -> NDArray[np.int64]:
        if not self.images or self.images >= count:
            return np.arange(count)
        return np.sort(np.random.default_rng(self.seed).permutation(count)[: self.images])


def describing_versions() -> dict[str, Any]:
    """Versions of the extractors and of scikit-image, on which descriptors depend.

    Raises:
        DataUnavailable: scikit-image is not installed.
    """
    from bench_polydom.extractors import VERSION, require_skimage

    try:
        return {"extractors": VERSION, "skimage": require_skimage().__version__}
    except RuntimeError as error:
        raise DataUnavailable(str(error), "pip install 'budgetbench-polydom[images]'") from None


def rescaled(picture: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """A grey image rescaled to float64 (side, side) in [0, 1]."""
    from skimage.transform import resize

    scaled: NDArray[np.float64] = np.clip(resize(picture, (side, side), anti_aliasing=True), 0.0, 1.0)
    return scaled


def describe(
    pictures: list[NDArray[np.float64]], sides: list[int], extractors: Mapping[str, Any]
) -> dict[str, NDArray[np.float64]]:
    """Descriptors by extractor name: float64 (pictures, length), each picture rescaled to its side."""
    scaled = [rescaled(picture, side) for picture, side in zip(pictures, sides, strict=True)]
    return {
        name: np.array([np.nan_to_num(extract(image)) for image in scaled], dtype=np.float64)
        for name, extract in extractors.items()
    }


def kept(
    path: Path, names: list[str], make: Callable[[], dict[str, NDArray[np.float64]]]
) -> dict[str, NDArray[np.float64]]:
    """Arrays by name, computed once and cached in a file; computed again if the file is unreadable or lacks a name."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in names}
    except (OSError, ValueError, KeyError):
        pass
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{np.random.default_rng().integers(1 << 60)}.npz")
    np.savez(partial, **made)  # type: ignore[arg-type]
    partial.replace(path)
    return made


def _listed(folder: Path) -> tuple[list[Path], NDArray[np.int64], tuple[str, ...]]:
    if not folder.is_dir():
        raise DataUnavailable(f"there is no folder {folder.name!r} of images", "give its path in 'path'")
    classes = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    files: list[Path] = []
    target: list[int] = []
    for code, name in enumerate(classes):
        own = sorted(
            p for p in (folder / name).iterdir()
            if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".pgm", ".bmp", ".tif")
        )  # fmt: skip
        files += own
        target += [code] * len(own)
    if len(set(target)) < 2:
        raise DataError(f"the folder {folder.name!r} needs images in at least two class-named folders")
    return files, np.array(target, dtype=np.int64), tuple(classes)


def _grey(path: Path) -> NDArray[np.float64]:
    from skimage.io import imread
    from skimage.util import img_as_float64

    image = img_as_float64(imread(path))
    return np.asarray(image if image.ndim == 2 else image[..., :3].mean(axis=2), dtype=np.float64)
