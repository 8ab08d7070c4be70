"""Splits: which rows are for training, validation and testing.

No library is used, because the same seed must give the same rows under every version of every library: a trial's name
contains the seed, not the rows. Rows are shuffled by the raw words of PCG64, a stream that NumPy promises to keep
(`bench_core.protocol.shuffle.Shuffler`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import DataError
from bench_core.contract.facts import SPLIT_NAMES
from bench_core.protocol.shuffle import Shuffler


@dataclass(frozen=True)
class SplitRule:
    """How rows are divided.

    Attributes:
        kind: ``random`` (seeded) or ``given`` (the data set's own split). If that has no validation part, the fraction
            ``validation`` of its training part is used.
        train, validation, test: fractions of the rows (they may sum to less than one), or absolute counts if any
            of them is above one.
        stratify: keep class proportions (classification only).

    Raises:
        ValueError: one is not above 0, fractions sum to more than 1, or fractions and counts are mixed.
    """

    kind: Literal["random", "given"] = "random"
    train: float = 0.5
    validation: float = 0.25
    test: float = 0.25
    stratify: bool = True

    def __post_init__(self) -> None:
        sizes = (self.train, self.validation, self.test)
        if any(not size > 0 for size in sizes):
            raise ValueError("train, validation and test must all be above 0")
        if all(size <= 1 for size in sizes):
            if self.kind == "random" and sum(sizes) > 1 + 1e-9:
                raise ValueError(f"train + validation + test is {sum(sizes):g}, more than 1")
        elif self.kind == "random" and any(size < 1 or size != int(size) for size in sizes):
            raise ValueError("train, validation and test are either all fractions or all whole counts")


@dataclass(frozen=True)
class Split:
    """Row numbers of each part, each sorted ascending (int64)."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def make_split(dataset: Dataset, rule: SplitRule, seed: int) -> Split:
    """The rows of each part under a seed.

    Ranking data is divided by query, so that no query is in two parts. If a class has too few rows for all
    three parts, they go to the training part first.

    Raises:
        DataError: too few rows (or queries) for three parts, or ``given`` without a given split.
    """
    rng = Shuffler(np.random.PCG64(np.random.SeedSequence([seed, 0x5B117])))
    if rule.kind == "given":
        return _given_split(dataset, rule, rng)
    if dataset.query is not None:
        queries, of_row = np.unique(dataset.query, return_inverse=True)
        parts = _divide(dataset, np.zeros(len(queries), dtype=np.int64), rule, rng, "queries")
        return Split(*(np.flatnonzero(np.isin(of_row, part)) for part in parts))
    strata = dataset.target if rule.stratify and dataset.classes else np.zeros(dataset.n_rows, dtype=np.int64)
    return Split(*_divide(dataset, strata, rule, rng, "rows"))


def _divide(
    dataset: Dataset, strata: NDArray[Any], rule: SplitRule, rng: Shuffler, unit: str
) -> list[NDArray[np.int64]]:
    count = len(strata)
    wanted = np.array([rule.train, rule.validation, rule.test], dtype=np.float64)
    shares = wanted if wanted.max() > 1 else wanted * count
    totals = _largest_remainder(shares, min(round(float(shares.sum())), count))
    if wanted.max() > 1 and wanted.sum() > count:
        raise DataError(f"data set {dataset.name!r}: {int(wanted.sum())} {unit} asked for, it has {count}")
    if totals.min() < 1:
        empty = SPLIT_NAMES[int(totals.argmin())]
        raise DataError(f"data set {dataset.name!r}: {count} {unit} are too few, the {empty} part would be empty")
    order = _by_stratum(strata, rng)
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    # The parts of each stratum in the order of its rows: training, validation, test, none.
    takes = _apportion(sizes, totals)
    part_of = np.repeat(np.tile(np.arange(4), len(sizes)), np.column_stack([takes, sizes - takes.sum(axis=1)]).ravel())
    return [np.sort(order[part_of == part]) for part in range(3)]


def _by_stratum(strata: NDArray[Any], rng: Shuffler) -> NDArray[np.int64]:
    """Shuffled row numbers, sorted by stratum."""
    shuffled = rng.permutation(len(strata))
    return shuffled[np.argsort(strata[shuffled], kind="stable")]


def _largest_remainder(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Integers that sum to ``total``, each within one of its share; ties go to the earlier."""
    floors = np.floor(shares + 1e-9).astype(np.int64)
    order = np.argsort(-(shares - floors), kind="stable")
    floors[order[: max(total - int(floors.sum()), 0)]] += 1
    return floors


def _apportion(sizes: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of each stratum in each part. Column sums are ``totals``; every cell is its share, rounded down or up.

    Shares are rounded down. Then every stratum distributes its remaining rows: first to parts without any of its rows
    (training before the others), then by remainder. Rows in no part form a fourth part. Then parts with too many rows
    pass some on to parts with too few, along a shortest path of parts. Such a path exists, because the exact shares are
    a fractional solution.
    """
    count = int(sizes.sum())
    wanted = np.append(totals, count - totals.sum())
    takes, remainders = np.divmod(np.outer(sizes, wanted), count)
    rest = sizes - takes.sum(axis=1)
    may = remainders > 0
    urgency = np.where(may, remainders / count, -1.0)
    urgency[:, :3] += np.where(may[:, :3] & (takes[:, :3] == 0), [4.0, 3.0, 2.0], 0.0)
    places = np.argsort(np.argsort(-urgency, axis=1, kind="stable"), axis=1)
    extra = may & (places < rest[:, None])
    while True:
        excess = takes.sum(axis=0) + extra.sum(axis=0) - wanted
        if not excess.any():
            return np.asarray(takes + extra, dtype=np.int64)[:, :3]
        for stratum, source, target in _path(extra, may, takes, sizes, excess):
            extra[stratum, source], extra[stratum, target] = False, True


def _path(
    extra: NDArray[Any], may: NDArray[Any], takes: NDArray[Any], sizes: NDArray[Any], excess: NDArray[Any]
) -> list[tuple[int, int, int]]:
    """Moves (stratum, from part, to part) that bring one row from a part with too many to one with too few."""
    reached: dict[int, list[tuple[int, int, int]]] = {int(part): [] for part in np.flatnonzero(excess > 0)}
    for source in (queue := list(reached)):
        for target in range(len(excess)):
            movable = extra[:, source] & ~extra[:, target] & may[:, target]
            if target in reached or not movable.any():
                continue
            # Avoid removing a class from the only part it is in; take rows of frequent classes first.
            cost = np.where(takes[:, source] == 0, 1, 0)
            strata = np.flatnonzero(movable)
            stratum = int(strata[np.lexsort((-sizes[strata], cost[strata]))[0]])
            reached[target] = [*reached[source], (stratum, source, target)]
            if excess[target] < 0:
                return reached[target]
            queue.append(target)
    raise RuntimeError("shares that sum to whole numbers can always be rounded")


def _given_split(dataset: Dataset, rule: SplitRule, rng: Shuffler) -> Split:
    if dataset.split is None:
        raise DataError(f"data set {dataset.name!r} comes without a split; use split.kind = 'random'")
    train, validation, test = (np.flatnonzero(dataset.split == code) for code in range(3))
    if not len(train) or not len(test):
        raise DataError(f"data set {dataset.name!r}: its given split has no training or no test rows")
    if not len(validation):
        train, validation = _carve(dataset, train, rule, rng)
    return Split(train, validation, test)


def _carve(
    dataset: Dataset, rows: NDArray[np.int64], rule: SplitRule, rng: Shuffler
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Take a fraction of the given training part as validation part; complete queries for ranking."""
    units = rows if dataset.query is None else np.unique(dataset.query[rows])
    take = rule.validation if rule.validation > 1 else rule.validation * len(units)
    count = round(float(take))
    if not 0 < count < len(units):
        raise DataError(f"data set {dataset.name!r}: {len(units)} training units cannot give {count} to validation")
    if dataset.query is None and rule.stratify and dataset.classes:
        strata = np.unique(dataset.target[rows], return_inverse=True)[1]
        order = _by_stratum(strata, rng)
        # Every (rows/count)-th row, sorted by class, keeps the class proportions.
        mask = np.zeros(len(rows), dtype=bool)
        mask[order[np.floor((np.arange(count) + 0.5) * len(rows) / count).astype(np.int64)]] = True
    else:
        of_row = rows if dataset.query is None else dataset.query[rows]
        mask = np.isin(of_row, units[rng.permutation(len(units))[:count]])
    return rows[~mask], rows[mask]
