"""Preparing a trial: split, encode and price a data set under a seed, and choose the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import PRICE_ARRAYS, Costs
from bench_core.contract.dataset import Dataset, Part
from bench_core.contract.decisions import Rows
from bench_core.contract.errors import ContractError, DataError, DataWritten
from bench_core.contract.method import Problem
from bench_core.contract.readonly import HOW_TO_WRITE, checksums, frozen
from bench_core.contract.sources import CostScheme
from bench_core.protocol.encode import fit_encoder
from bench_core.protocol.shuffle import shuffled
from bench_core.protocol.split import Split, SplitRule, make_split

D = TypeVar("D", bound=np.generic)


@dataclass(frozen=True)
class Shown:
    """A part's rows as policies see them: in an order chosen by the core, with query ids from 0.

    ``place``, int64 (rows,), is the position of each of the part's rows in this order.
    """

    rows: Rows
    place: NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """A split, encoded and priced data set, shared by all methods of one seed. Its arrays are read-only.

    Attributes:
        problem: the problem that methods get (threshold and threads are set per trial).
        test: the test part.
        split: row numbers of the parts.
        audit_rounds: substitutions per policy.
        shown: ``validation`` and ``test`` as policies see them.
        sums: checksums of the arrays that plugins get, by name.
    """

    problem: Problem
    test: Part
    split: Split
    audit_rounds: int
    shown: Mapping[str, Shown]
    sums: Mapping[str, int]

    def written(self) -> list[str]:
        """Names of the arrays that were changed."""
        return _changed(self.sums, _shared(self.problem, self.test, self.shown))


def prepare(
    dataset: Dataset, scheme: CostScheme, rule: SplitRule, encode: str, seed: int, audit_rounds: int
) -> Prepared:
    """Split, encode and price a data set under a seed.

    Raises:
        DataError: it cannot be split, or the prices do not fit it.
        ContractError: the scheme gave no prices, or wrote into the data set.
        RequestError: there is no such encoding.
    """
    split = make_split(dataset, rule, seed)
    encoder = fit_encoder(dataset, split.train, encode)
    costs = _price(dataset, scheme, split.train, seed)

    def part(rows: NDArray[np.int64]) -> Part:
        X = frozen(encoder.transform(dataset.values[rows]))
        return Part(X, frozen(dataset.target[rows]), _taken(dataset.sizes, rows), _taken(dataset.query, rows))

    train, validation, test = map(part, (split.train, split.validation, split.test))
    task, classes, names = dataset.task, len(dataset.classes), dataset.feature_names
    columns = frozen(encoder.feature_of_column)
    problem = Problem(train, validation, costs, task, classes, names, columns, dataset.categorical, seed=seed)
    shown = {
        name: _show(part, np.random.PCG64(np.random.SeedSequence([seed, 0x0DE5, number])))
        for number, (name, part) in enumerate((("validation", validation), ("test", test)))
    }
    return Prepared(problem, test, split, audit_rounds, shown, checksums(_shared(problem, test, shown)))


def _price(dataset: Dataset, scheme: CostScheme, train: NDArray[np.int64], seed: int) -> Costs:
    """Get a scheme's prices as a copy.

    Raises:
        DataError: the prices do not fit the data set.
        ContractError: the scheme gave no prices, or wrote into the data set.
    """
    held = {"values": dataset.values, "target": dataset.target, "sizes": dataset.sizes, "query": dataset.query}
    before = checksums(held)
    try:
        costs = scheme.price(dataset, train, seed)
    except DataError as error:
        named = repr(dataset.name) in str(error)
        raise (error if named else DataError(f"data set {dataset.name!r}, its prices: {error}")) from None
    if written := ", ".join(_changed(before, held)):
        name = type(scheme).__name__
        raise DataWritten(f"the cost scheme {name} wrote into the data set's {written}: {HOW_TO_WRITE}")
    if type(costs) is not Costs:
        raise ContractError(f"{type(scheme).__name__}.price must return Costs, not {type(costs).__name__}")
    if costs.n_features != dataset.n_features:
        raise ContractError(f"{type(scheme).__name__} priced {costs.n_features} features of {dataset.n_features}")
    return replace(costs)  # a new object, checked again


def _changed(before: Mapping[str, int], arrays: Mapping[str, NDArray[Any] | None]) -> list[str]:
    after = checksums(arrays)
    return [name for name, checksum in before.items() if after[name] != checksum]


def _show(part: Part, bits: np.random.BitGenerator) -> Shown:
    """A part's rows, without labels, in a random order."""
    order, query = shuffled(bits, len(part), part.query)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = Rows(frozen(part.X[order]), _taken(part.sizes, order), None if query is None else frozen(query))
    return Shown(rows, place)


def _taken(column: NDArray[D] | None, rows: NDArray[np.int64]) -> NDArray[D] | None:
    return None if column is None else frozen(column[rows])


def _shared(problem: Problem, test: Part, shown: Mapping[str, Shown]) -> dict[str, NDArray[Any] | None]:
    """Every array that plugins get and other trials use too, under the name that plugins use."""
    arrays: dict[str, NDArray[Any] | None] = {"problem.feature_of_column": problem.feature_of_column}
    arrays |= {f"problem.costs.{name}": getattr(problem.costs, name) for name in PRICE_ARRAYS}
    for name, part in (("train", problem.train), ("validation", problem.validation)):
        arrays |= {f"problem.{name}.{field}": getattr(part, field) for field in ("X", "y", "sizes", "query")}
    for name, seen in shown.items():
        arrays |= {f"rows.{field} of {name}": getattr(seen.rows, field) for field in ("X", "sizes", "query")}
    arrays |= {f"the test part's {field}": getattr(test, field) for field in ("y", "sizes", "query")}
    return arrays
