"""Built-in cost schemes: uniform, per-feature table, random, from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Interval, MinLen
from numpy.typing import NDArray

from bench_core.contract.costs import MOST_PRICE, Costs
from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import DataError, did_you_mean
from bench_core.contract.facts import DataFacts
from bench_core.contract.sources import CostScheme

_Amount = Annotated[float, Interval(ge=0, le=MOST_PRICE)]
_Price = _Amount | Annotated[list[_Amount], MinLen(1)]
"""A number, or the coefficients of a polynomial of the item's size."""


@dataclass(frozen=True)
class Uniform(CostScheme):
    """Every feature has the same price, ``price_each``."""

    price_each: _Amount = 1.0

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs(np.full(dataset.n_features, self.price_each))


@dataclass(frozen=True)
class PriceTable(CostScheme):
    """A price per feature, in order or by name; groups that are paid once; polynomials of item size.

    Attributes:
        prices: a list in feature order, or a table ``{name = price}`` that names every feature. A price is a
            number, or a list of polynomial coefficients, lowest power of the item size first.
        groups: ``{group = [feature names]}``: acquisition groups.
        group_prices: ``{group = price}``: paid once per row with the first feature of the group; 0 if not listed.
        evaluation: price of running one base model.
    """

    prices: list[_Price] | dict[str, _Price]
    groups: dict[str, list[str]] = field(default_factory=dict)
    group_prices: dict[str, _Price] = field(default_factory=dict)
    evaluation: _Amount = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for group in self.group_prices:
            if group not in self.groups:
                hint = did_you_mean(group, self.groups)
                raise ValueError(f"group_prices names {group!r}; {hint}" if hint else "group_prices without groups")

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        listed = per_feature(self.prices, dataset.name, dataset.feature_names, "prices")
        if not self.groups:
            return Costs(_rectangular(listed), evaluation=self.evaluation)
        member = np.array(self._members(dataset.name, dataset.feature_names))
        group_prices = [self.group_prices.get(group, 0.0) for group in self.groups]
        return Costs(_rectangular(listed), member, _rectangular(group_prices), evaluation=self.evaluation)

    def units(self, data: DataFacts) -> int:
        per_feature(self.prices, data.name, data.feature_names, "prices")
        member = self._members(data.name, data.feature_names)
        return member.count(-1) + len(set(member) - {-1})

    def _members(self, dataset: str, features: tuple[str, ...]) -> list[int]:
        """The group of each feature, −1 for none."""
        index = {name: i for i, name in enumerate(features)}
        member = [-1] * len(features)
        for number, (group, names) in enumerate(self.groups.items()):
            for name in names:
                if name not in index:
                    hint = did_you_mean(name, index)
                    raise DataError(f"data set {dataset!r}: group {group!r} names feature {name!r}; {hint}")
                if member[index[name]] >= 0:
                    raise DataError(f"data set {dataset!r}: feature {name!r} is in two groups")
                member[index[name]] = number
        return member


@dataclass(frozen=True)
class RandomPrices(CostScheme):
    """Prices drawn at random from a list or a range.

    Attributes:
        low, high: prices are uniform between these, unless ``choices`` is given.
        choices: prices to draw from.
        weights: relative frequency of each choice; equal when empty.
        seed: the seed of the prices. It is not the trial's, so every split of a data set has the same prices.
    """

    low: _Amount = 1.0
    high: _Amount = 10.0
    choices: list[_Amount] = field(default_factory=list)
    weights: list[_Amount] = field(default_factory=list)
    seed: Annotated[int, Ge(0)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ValueError(f"low must not be above high, {self.high}, not {self.low}")
        if self.choices and (self.low, self.high) != (type(self).low, type(self).high):
            raise ValueError("low and high have no effect with choices; leave them out")
        if self.weights and len(self.weights) != len(self.choices):
            raise ValueError(f"{len(self.choices)} choices have {len(self.weights)} weights")
        if self.weights and sum(self.weights) == 0:
            raise ValueError("weights must not all be zero")

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 0xC057]))
        if not self.choices:
            return Costs(rng.uniform(self.low, self.high, dataset.n_features))
        share = np.array(self.weights or [1.0] * len(self.choices), dtype=np.float64)
        return Costs(rng.choice(np.array(self.choices), size=dataset.n_features, p=share / share.sum()))


@dataclass(frozen=True)
class FromData(CostScheme):
    """The prices that come with the data set."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        if dataset.costs is None:
            raise DataError(f"data set {dataset.name!r} comes without prices; choose another cost scheme")
        return dataset.costs

    def units(self, data: DataFacts) -> int:
        if not data.priced:
            raise DataError(f"data set {data.name!r} comes without prices; choose another cost scheme")
        return data.n_units


def per_feature(values: list[Any] | Mapping[str, Any], dataset: str, names: tuple[str, ...], what: str) -> list[Any]:
    """Return values in feature order, from a list of the right length or a table that names every feature once.

    Raises:
        DataError: a wrong length, an unknown or a missing feature.
    """
    if isinstance(values, list):
        if len(values) != len(names):
            raise DataError(f"data set {dataset!r}: {what} has {len(values)} entries for {len(names)} features")
        return values
    for name in values:
        if name not in names:
            raise DataError(f"data set {dataset!r}: {what} names {name!r}; {did_you_mean(name, names)}")
    if missing := [name for name in names if name not in values]:
        raise DataError(f"data set {dataset!r}: {what} misses {', '.join(map(repr, missing[:5]))}")
    return [values[name] for name in names]


def _rectangular(prices: list[Any]) -> NDArray[np.float64]:
    """Combine numbers and coefficient lists of any length into one table; short lists are padded with zeros."""
    lists = [price if isinstance(price, list) else [price] for price in prices]
    table = np.zeros((len(lists), max((len(row) for row in lists), default=1)))
    for i, row in enumerate(lists):
        table[i, : len(row)] = row
    return table


SCHEMES: dict[str, type[CostScheme]] = {
    "uniform": Uniform,
    "table": PriceTable,
    "random": RandomPrices,
    "from-data": FromData,
}
