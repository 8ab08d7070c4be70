"""Data sources, which load data sets, and cost schemes, which price them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Dataset
from bench_core.contract.facts import DataFacts
from bench_core.contract.parameters import Parameters

__all__ = ["CostScheme", "DataContext", "DataSource"]


@dataclass(frozen=True)
class DataContext:
    """Where data may come from.

    Attributes:
        cache: directory for verified downloads.
        mirror: a directory that replaces every download, or None.
        offline: whether connections are forbidden.
    """

    cache: Path
    mirror: Path | None = None
    offline: bool = False

    @classmethod
    def from_environment(cls, mirror: Path | None = None, offline: bool | None = None) -> DataContext:
        """From ``BUDGETBENCH_CACHE``, ``BUDGETBENCH_MIRROR`` and ``BUDGETBENCH_OFFLINE``; arguments take precedence."""
        cache = os.environ.get("BUDGETBENCH_CACHE") or str(Path.home() / ".cache" / "budgetbench")
        named = os.environ.get("BUDGETBENCH_MIRROR")
        return cls(
            cache=Path(cache).expanduser(),
            mirror=mirror or (Path(named).expanduser() if named else None),
            offline=os.environ.get("BUDGETBENCH_OFFLINE", "") not in ("", "0") if offline is None else offline,
        )


class DataSource(Parameters, ABC):
    """Loads a data set. Subclasses are frozen dataclasses: their fields are the `Parameters` in a suite.

    Class attributes:
        version: raised when the same parameters give different data.
        network: whether the data may have to be downloaded; then implement `status` and `fetch`.
    """

    version: ClassVar[int] = 1
    network: ClassVar[bool] = False

    @property
    def own_split(self) -> bool:
        """Whether the user named a file for the test part; suites must then divide the rows by ``kind = "given"``."""
        return False

    @abstractmethod
    def load(self, context: DataContext) -> Dataset:
        """Load the data set.

        Raises:
            DataUnavailable: the data is missing and cannot be downloaded; the hint says how to get it.
            DataError: the data is malformed.
        """

    def fingerprint(self, context: DataContext) -> str | None:
        """A cheap fingerprint of the bytes that `load` would read, so that unchanged data need not be read again.

        The default is right if the data depends on the parameters only. A source that reads files returns a text that
        changes with them (names, lengths, modification times), or None to load them always.
        """
        return ""

    def content(self, context: DataContext) -> str | None:
        """The `Dataset.content` of the data set, if it is known without loading the table; else None.

        Override it for a table that has an ``origin`` and takes long to make.

        Raises:
            DataUnavailable, DataError: as in `load`.
        """
        return None

    def status(self, context: DataContext) -> str:
        """One word: ``built-in``, ``cached``, ``mirrored`` or ``missing``."""
        return "built-in"

    def fetch(self, context: DataContext) -> None:
        """Download the data into the cache; built-in data needs nothing.

        Raises:
            DataUnavailable: the data cannot be downloaded.
        """
        self.load(context)


class CostScheme(Parameters, ABC):
    """Prices a data set. Subclasses are frozen dataclasses: their fields are the `Parameters` in a suite.

    Class attributes:
        version: raised when the same parameters give different prices.
    """

    version: ClassVar[int] = 1

    @abstractmethod
    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        """Compute the prices.

        Args:
            dataset: the data; the scheme may learn only from the rows in ``train``.
            train: row numbers of the training part.
            seed: the trial's seed.

        Raises:
            DataError: the scheme does not fit the data (a wrong length, an unknown feature).
        """

    def units(self, data: DataFacts) -> int:
        """Count the units that are acquired separately: acquisition groups, and features in no group.

        It is called while planning, before anything is loaded or run, and should raise if the scheme does not fit the
        data. A scheme with groups overrides it.

        Raises:
            DataError: the scheme does not fit the data.
        """
        return data.n_features
