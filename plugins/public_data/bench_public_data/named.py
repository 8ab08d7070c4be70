"""Ready-made data sets: named sources with the settings that the papers use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval, MinLen, Predicate

from bench_core import DataContext, DataError, Dataset, DataSource, distinct
from bench_public_data.openml_source import OpenML
from bench_public_data.uci import PhysioNetTable, TableInArchive, Uci

__all__ = [
    "Actg175",
    "Adult",
    "BankMarketing",
    "ChronicKidneyDisease",
    "Covertype",
    "Credit",
    "Heart",
    "HeartCleveland",
    "Hepatitis",
    "LiverBupa",
    "MiniBooNE",
    "Mnist",
    "MnistPyramid",
    "Nomao",
    "OnlineShoppers",
    "PhysioNet2012",
    "ReadyMade",
    "Spambase",
    "Thyroid",
    "without_features",
]


class ReadyMade(DataSource):
    """A source with fixed settings."""

    network: ClassVar[bool] = True
    label: ClassVar[str]

    @abstractmethod
    def source(self) -> OpenML | TableInArchive:
        """Return the source that loads the data."""

    def load(self, context: DataContext) -> Dataset:
        return self.source().load(context)

    def fingerprint(self, context: DataContext) -> str | None:
        return self.source().fingerprint(context)

    def status(self, context: DataContext) -> str:
        return self.source().status(context)

    def fetch(self, context: DataContext) -> None:
        self.source().fetch(context)


@dataclass(frozen=True)
class Heart(ReadyMade):
    """Heart failure clinical records, UCI 519, 299 × 12, survived 203 / died 96; features as EMSCO Table 2 orders them.

    The five 0/1 features are categories. ``time`` is the follow-up period in days.
    """

    label: ClassVar[str] = "heart"

    def source(self) -> Uci:
        return Uci(id=519)


@dataclass(frozen=True)
class Credit(ReadyMade):
    """Australian credit approval, UCI 143, 690 × 14 (A1..A14), 383 / 307; categories as EMSCO Table 5 flags them.

    The paper mentions missing values; in the repository's file they are replaced by mode and mean.
    """

    label: ClassVar[str] = "credit"

    def source(self) -> Uci:
        return Uci(id=143)


@dataclass(frozen=True)
class HeartCleveland(ReadyMade):
    """Heart disease, Cleveland, UCI 45, 303 × 13, absent 164 / present 139; 6 rows lack values (Turney 1995)."""

    label: ClassVar[str] = "heart-cleveland"

    def source(self) -> Uci:
        return Uci(id=45)


@dataclass(frozen=True)
class Hepatitis(ReadyMade):
    """Hepatitis prognosis, UCI 46, 155 × 19, die 32 / live 123; 75 rows lack values (Turney 1995)."""

    label: ClassVar[str] = "hepatitis"

    def source(self) -> Uci:
        return Uci(id=46)


@dataclass(frozen=True)
class LiverBupa(ReadyMade):
    """Liver disorders (BUPA), UCI 60, 345 × 5, drinks under 3 / 3 or more half-pints a day (Turney 1995)."""

    label: ClassVar[str] = "liver-bupa"

    def source(self) -> Uci:
        return Uci(id=60)


@dataclass(frozen=True)
class Thyroid(ReadyMade):
    """Thyroid disease, UCI 102 (ann-train, ann-test), 3772 + 3428 × 20, 3 classes, a given split (Turney 1995).

    ``fti``, which is computed from ``tt4`` and ``t4u``, is left out.
    """

    label: ClassVar[str] = "thyroid"

    def source(self) -> Uci:
        return Uci(id=102)


class _WithLateFeature(ReadyMade):
    """A data set with a feature that is known only once the outcome is known; it is left out by default."""

    late: ClassVar[str]

    def load(self, context: DataContext) -> Dataset:
        dataset = super().load(context)
        return dataset if getattr(self, f"with_{self.late}") else without_features(dataset, (self.late,))


@dataclass(frozen=True)
class BankMarketing(_WithLateFeature):
    """Bank marketing, UCI 222 (``bank-full.csv``), 45211 × 15, no 39922 / yes 5289.

    Attributes:
        with_duration: whether ``duration``, the length of the call, is a feature: it is known only after the call, when
            the answer is known too.
    """

    label: ClassVar[str] = "bank-marketing"
    late: ClassVar[str] = "duration"
    with_duration: bool = False

    def source(self) -> Uci:
        return Uci(id=222)


@dataclass(frozen=True)
class ChronicKidneyDisease(ReadyMade):
    """Chronic kidney disease, UCI 336, 400 × 24, ckd 250 / notckd 150; a tenth of the values is missing.

    Stray spaces and tabs in the file are removed. Specific gravity, albumin and sugar are categories, as the file
    declares.
    """

    label: ClassVar[str] = "ckd"

    def source(self) -> Uci:
        return Uci(id=336)


@dataclass(frozen=True)
class Actg175(_WithLateFeature):
    """AIDS Clinical Trials Group study 175, UCI 890, 2139 × 22, censored 1618 / event 521.

    Attributes:
        with_time: whether ``time``, the days until the event or the end of observation, is a feature: it is known only
            afterwards.
    """

    label: ClassVar[str] = "actg175"
    late: ClassVar[str] = "time"
    with_time: bool = False

    def source(self) -> Uci:
        return Uci(id=890)


@dataclass(frozen=True)
class OnlineShoppers(ReadyMade):
    """Online shoppers' purchasing intention, UCI 468, 12330 × 17, no 10422 / yes 1908 (Revenue)."""

    label: ClassVar[str] = "online-shoppers"

    def source(self) -> Uci:
        return Uci(id=468)


@dataclass(frozen=True)
class PhysioNet2012(ReadyMade):
    """PhysioNet/CinC Challenge 2012, 12000 × 41, survived 10293 / died 1707; a quarter of the values is missing.

    A row is a stay in intensive care, with the mean of each measurement; the table is AFABench's.
    """

    label: ClassVar[str] = "physionet-2012"

    def source(self) -> PhysioNetTable:
        return PhysioNetTable()


@dataclass(frozen=True)
class Adult(ReadyMade):
    """Adult census income, OpenML 1590, 48842 × 14, with UCI's own split: 32561 training and 16281 test rows."""

    label: ClassVar[str] = "adult"

    def source(self) -> OpenML:
        return OpenML(id=1590, name=self.label, train_rows="16281:", test_rows=":16281")


@dataclass(frozen=True)
class Covertype(ReadyMade):
    """Forest cover type, OpenML 1596, 581012 × 54, 7 classes; the 44 indicators are 0/1 numbers, not categories."""

    label: ClassVar[str] = "covertype"

    def source(self) -> OpenML:
        return OpenML(id=1596, name=self.label, categorical="numbers", dtype="float32")


@dataclass(frozen=True)
class Spambase(ReadyMade):
    """Spambase, OpenML 44, 4601 × 57, 2788 / 1813."""

    label: ClassVar[str] = "spambase"

    def source(self) -> OpenML:
        return OpenML(id=44, name=self.label)


@dataclass(frozen=True)
class Nomao(ReadyMade):
    """Nomao place deduplication, OpenML 1486, 34465 × 118, two classes."""

    label: ClassVar[str] = "nomao"

    def source(self) -> OpenML:
        return OpenML(id=1486, name=self.label)


@dataclass(frozen=True)
class MiniBooNE(ReadyMade):
    """MiniBooNE particle identification, OpenML 41150, 130064 × 50, signal or background (BUDGETPRUNE §5).

    −999 stands for a value that could not be computed; it is kept, as in the paper.
    """

    label: ClassVar[str] = "miniboone"

    def source(self) -> OpenML:
        return OpenML(id=41150, name=self.label, task="binary")


@dataclass(frozen=True)
class Mnist(ReadyMade):
    """MNIST handwritten digits, OpenML 554, 70000 × 784 pixels; the first 60000 rows are the training part.

    Attributes:
        classes: keep only these digits (``["3", "8"]``); empty keeps all ten.
    """

    label: ClassVar[str] = "mnist"

    classes: list[str] = field(default_factory=list)

    def source(self) -> OpenML:
        return OpenML(id=554, name=self.label, classes=self.classes, split="first:60000", dtype="float32")


@dataclass(frozen=True)
class MnistPyramid(ReadyMade):
    """MNIST at several resolutions: 4², 8², 16² and 28² pixels, 1120 features (CSTC §6.7, 3 versus 8).

    A pixel of a coarser image is the mean grey value (0 to 1) of the area it covers; the paper does not name its
    interpolation. Feature ``p8_2_5`` is row 2, column 5 of the 8 × 8 image, from 0.

    Attributes:
        classes: keep only these digits; empty keeps all ten.
        resolutions: side lengths of the images in pixels, in the order of the features; 28 is the original.
    """

    label: ClassVar[str] = "mnist-pyramid"

    classes: list[str] = field(default_factory=lambda: ["3", "8"])
    resolutions: Annotated[list[Annotated[int, Interval(ge=1, le=28)]], MinLen(1), Predicate(distinct)] = field(
        default_factory=lambda: [4, 8, 16, 28]
    )

    def source(self) -> OpenML:
        return OpenML(id=554, name=self.label, classes=self.classes, split="first:60000", dtype="float32")

    def load(self, context: DataContext) -> Dataset:
        original = super().load(context)
        if original.n_features != 28 * 28:
            raise DataError(f"data set {self.label!r}: OpenML's table has {original.n_features} pixels, not 784")
        images = original.values.reshape(-1, 28, 28).astype(np.float64)
        blocks: list[np.ndarray] = []
        names: list[str] = []
        for side in self.resolutions:
            overlap = area_overlap(28, side)
            # Sums of integers are exact in any order, so the values do not depend on the machine.
            sums = overlap @ images @ overlap.T
            blocks.append(sums.reshape(len(images), -1) / (28.0 * 28.0 * 255.0))
            names.extend(f"p{side}_{row}_{column}" for row in range(side) for column in range(side))
        values = np.concatenate(blocks, axis=1)
        return replace(original, values=values.astype(np.float32), feature_names=tuple(names), categorical=())


def without_features(dataset: Dataset, names: Collection[str]) -> Dataset:
    """Return a data set without some features (other names are ignored); it must have no prices of its own yet."""
    kept = [f for f, name in enumerate(dataset.feature_names) if name not in names]
    return replace(
        dataset,
        values=np.ascontiguousarray(dataset.values[:, kept]),
        feature_names=tuple(dataset.feature_names[f] for f in kept),
        categorical=tuple(i for i, f in enumerate(kept) if f in dataset.categorical),
        categories={i: dataset.categories[f] for i, f in enumerate(kept) if f in dataset.categories},
    )


def area_overlap(source: int, target: int) -> np.ndarray:
    """Return the overlap of target and source pixels along one axis, in units of 1/target of a source pixel.

    Args:
        source: side length of the original image, in pixels.
        target: side length of the coarser image.

    Returns:
        float64 (target, source) of integers. Every row sums to ``source``; divided by it, a row holds the weights of a
        mean.
    """
    wide, narrow = np.arange(target)[:, None] * source, np.arange(source)[None, :] * target
    shared = np.minimum(wide + source, narrow + target) - np.maximum(wide, narrow)
    overlap: np.ndarray = np.clip(shared, 0, None).astype(np.float64)
    return overlap
