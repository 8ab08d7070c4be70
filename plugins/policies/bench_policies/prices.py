"""Prices of one's own, from a TOML file or from Python, checked against a table before anything runs.

A file holds the parameters of the cost scheme ``table``::

    evaluation = 0.0              # price of running one base model; may stay out

    [prices]                      # every feature by name; or prices = [1, 2, …] in the columns' order
    age = 0
    glucose = 17.61
    scan = [2.0, 0.5]             # 2.0 + 0.5 · the item's size

    [groups]                      # paid once, with the group's first feature
    blood = ["glucose", "insulin"]

    [group_prices]
    blood = 2.1
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from bench_core import BenchError, CostScheme, RequestError, build, did_you_mean
from bench_core.suites import Registry
from bench_policies.toml_file import TomlFile

Prices = str | Path | Mapping[str, Any] | Sequence[float] | CostScheme
"""A file, a price by feature name, the content of a file as a table, prices in the columns' order, or a cost scheme."""

MOST = 1e100
"""More than any price: beyond it sums and their squares leave the range of numbers."""

_KEYS = ("prices", "groups", "group_prices", "evaluation")


def read_prices(prices: Prices, features: Sequence[str], registry: Registry, sizes: bool = False) -> CostScheme:
    """The cost scheme of prices for these features.

    Args:
        prices: see `Prices`.
        features: names, in the columns' order.
        registry: where the cost scheme ``table`` is found.
        sizes: whether the rows have item sizes.

    Raises:
        RequestError: a name that is no feature, a feature without a price, a price that is negative, NaN or no number;
            the file, the line and the nearest name are said.
    """
    if isinstance(prices, CostScheme):
        return prices
    file = None
    if isinstance(prices, str | Path):
        file = TomlFile(prices)
        given = file.content
    elif isinstance(prices, Mapping):
        given = (
            dict(prices)
            if "prices" in prices and isinstance(prices["prices"], Mapping | Sequence)
            else {"prices": dict(prices)}
        )
    else:
        given = {"prices": [_number(price) for price in prices]}
    _Check(file, tuple(features), sizes).all(given)
    return scheme_of(registry, given, file.where if file else "prices")


def scheme_of(registry: Registry, given: Mapping[str, Any], where: str) -> CostScheme:
    """The cost scheme ``table`` with checked parameters."""
    try:
        return build(registry.cost_scheme("table"), given, where)
    except BenchError as error:
        raise RequestError(str(error)) from None


def _number(value: Any) -> Any:
    """A NumPy number as Python's."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


class _Check:
    """Checks of a price list; every message begins with the file and the line."""

    def __init__(self, file: TomlFile | None, features: tuple[str, ...], sizes: bool) -> None:
        self.file, self.features, self.sizes = file, features, sizes

    def all(self, given: Mapping[str, Any]) -> None:
        for key in given:
            if key not in _KEYS:
                self.refuse(f"there is no setting {key!r}; {did_you_mean(key, _KEYS)}", key)
        if "prices" not in given:
            self.refuse("it has no [prices]: every feature needs one, 0 if it is free", "prices")
        prices = given["prices"]
        if isinstance(prices, Mapping):
            for name, price in prices.items():
                self.known(name, "prices", name)
                self.price(price, f"the price of {name!r}", "prices", name)
            missing = [name for name in self.features if name not in prices]
            if missing:
                shown = ", ".join(map(repr, missing[:5])) + (
                    f" and {len(missing) - 5} more" if len(missing) > 5 else ""
                )
                self.refuse(f"no price for {shown}; a feature that is free has the price 0", "prices")
        elif isinstance(prices, list):
            if len(prices) != len(self.features):
                self.refuse(
                    f"{len(prices)} prices for {len(self.features)} features: {', '.join(self.features[:20])}", "prices"
                )
            for i, price in enumerate(prices):
                self.price(price, f"the price of {self.features[i]!r} (number {i + 1})", "prices")
        else:
            self.refuse("prices must be a table of names or a list", "prices")
        self.groups(given.get("groups", {}), given.get("group_prices", {}))
        if "evaluation" in given:
            self.price(given["evaluation"], "evaluation", "evaluation")

    def groups(self, groups: Any, group_prices: Any) -> None:
        if not isinstance(groups, Mapping) or not isinstance(group_prices, Mapping):
            self.refuse('groups and group_prices are tables: [groups] blood = ["glucose", "insulin"]', "groups")
        owner: dict[str, str] = {}
        for group, names in groups.items():
            if not isinstance(names, list) or not names:
                self.refuse(f"group {group!r} must list names of features", "groups", group)
            for name in names:
                self.known(name, "groups", group, str(name))
                if name in owner:
                    twice = "twice in group" if owner[name] == group else f"in two groups, {owner[name]!r} and"
                    self.refuse(f"feature {name!r} is {twice} {group!r}", "groups", group, name)
                owner[name] = group
        for group, price in group_prices.items():
            if group not in groups:
                hint = did_you_mean(group, groups) or "there are no groups"
                self.refuse(f"there is no group {group!r}; {hint}", "group_prices", group)
            self.price(price, f"the price of group {group!r}", "group_prices", group)
        for group in groups:
            if group not in group_prices:
                message = f"group {group!r} has no price in [group_prices], which is paid once, with its first feature"
                self.refuse(message, "groups", group)

    def known(self, name: Any, section: str, key: str, value: str | None = None) -> None:
        if name not in self.features:
            hint = did_you_mean(str(name), self.features)
            self.refuse(f"[{section}] names {name!r}, which is no feature of the table; {hint}", section, key, value)

    def price(self, price: Any, name: str, section: str, key: str | None = None) -> None:
        coefficients = price if isinstance(price, list) else [price]
        if not coefficients:
            self.refuse(f"{name} is an empty list", section, key)
        for coefficient in coefficients:
            if isinstance(coefficient, bool) or not isinstance(coefficient, int | float):
                listed = "a number, or a list of numbers by power of the size"
                self.refuse(f"{name} must be {listed}, not {coefficient!r}", section, key)
            if isinstance(coefficient, float) and not math.isfinite(coefficient):
                self.refuse(f"{name} is {coefficient}: a price is a finite number", section, key)
            if coefficient < 0:
                self.refuse(f"{name} is {coefficient}: a price is not negative", section, key)
            if coefficient > MOST:
                self.refuse(f"{name} is above {MOST:g}: use another unit", section, key)
        if not self.sizes and any(coefficients[1:]):
            grows = "grows with the item's size, and the rows have none: name the column (--size)"
            self.refuse(f"{name} {grows}", section, key)

    def refuse(self, message: str, section: str, key: str | None = None, value: str | None = None) -> NoReturn:
        raise RequestError(f"{'prices' if self.file is None else self.file.at(section, key, value)}: {message}")
