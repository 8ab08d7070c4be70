"""Ready-made data sets: named sources with the settings that the papers use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench_core import DataContext, Dataset, DataSource
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
