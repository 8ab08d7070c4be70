"""What loads data sets, and what prices them."""

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
        cache: directory for what was downloaded and verified.
        mirror: a directory that takes the place of every download, or None.
        offline: never open a connection.
    """

    cache: Path
    mirror: Path | None = None
    offline: bool = False

    @classmethod
    def from_environment(cls, mirror: Path | None = None, offline: bool | None = None) -> DataContext:
        """From ``BUDGETBENCH_CACHE``, ``BUDGETBENCH_MIRROR`` and ``BUDGETBENCH_OFFLINE``; arguments win."""
        cache = os.environ.get("BUDGETBENCH_CACHE") or str(Path.home() / ".cache" / "budgetbench")
        named = os.environ.get("BUDGETBENCH_MIRROR")
        return cls(
            cache=Path(cache).expanduser(),
            mirror=mirror or (Path(named).expanduser() if named else None),
            offline=os.environ.get("BUDGETBENCH_OFFLINE", "") not in ("", "0") if offline is None else offline,
        )


class DataSource(Parameters, ABC):
    """What loads a data set. Subclasses are frozen dataclasses: their fields are the `Parameters` in a suite.

    Class attributes:
        version: raised when the same parameters come to mean other data.
        network: whether the data may have to be downloaded (then `status` and `fetch` mean something).
    """

    version: ClassVar[int] = 1
    network: ClassVar[bool] = False

    @abstractmethod
    def load(self, context: DataContext) -> Dataset:
        """The data set.

        Raises:
            DataUnavailable: it is not here and cannot be brought here; the hint says what would bring it.
            DataError: what is here is malformed.
        """

    def fingerprint(self, context: DataContext) -> str | None:
        """A cheap name of the bytes `load` would read, so that an unchanged set need not be read to be known.

        The default fits a pure function of the parameters. A source that reads files returns something that
        changes with them (names, lengths, times of change), or None: always load.
        """
        return ""

    def content(self, context: DataContext) -> str | None:
        """`Dataset.content` of what `load` would give, where it is known without loading the table; else None.

        Worth writing for a table that has an ``origin`` and takes long to make.

        Raises:
            DataUnavailable, DataError: as `load`.
        """
        return None

    def status(self, context: DataContext) -> str:
        """One word: ``built-in``, ``cached``, ``mirrored`` or ``missing``."""
        return "built-in"

    def fetch(self, context: DataContext) -> None:
        """Bring the data into the cache; nothing to do for built-in data.

        Raises:
            DataUnavailable: it cannot be had.
        """
        self.load(context)


class CostScheme(Parameters, ABC):
    """What prices a data set. Subclasses are frozen dataclasses: their fields are the `Parameters` in a suite.

    Class attributes:
        version: raised when the same parameters come to mean other prices.
    """

    version: ClassVar[int] = 1

    @abstractmethod
    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        """The prices.

        Args:
            dataset: the data; only the rows in ``train`` may be learned from.
            train: row numbers of the training part.
            seed: the trial's seed.

        Raises:
            DataError: the scheme does not fit the data (a wrong length, an unknown feature).
        """

    def units(self, data: DataFacts) -> int:
        """How many things are acquired one by one: acquisition groups, and features that are in none.

        Called while planning, before anything is loaded or run: the place to say that the scheme does not fit. A
        scheme with groups overrides it.

        Raises:
            DataError: the scheme does not fit the data.
        """
        return data.n_features
