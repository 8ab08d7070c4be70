"""Read your own prices from a TOML file or from Python, and check them against a table before anything runs.

A file holds the parameters of the cost scheme ``table``::

    evaluation = 0.0              # price of running one base model; optional

    [prices]                      # every feature by name; or prices = [1, 2, …] in the columns' order
    age = 0
    glucose = 17.61
    scan = [2.0, 0.5]             # 2.0 + 0.5 · the item's size

    [groups]                      # the group's price is paid once, with its first feature
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
from bench_policies.tables import LEFT_OUT
from bench_policies.toml_file import TomlFile

Prices = str | Path | Mapping[str, Any] | Sequence[float] | CostScheme
"""A file's path, prices by feature name, a file's content, prices in the columns' order, or a cost scheme."""

MOST = 1e100
"""The largest error cost allowed, so that squares of sums stay within the range of float64."""
_MOST_PRICE = 1e12
"""The largest price that the cost scheme ``table`` allows."""

_KEYS = ("prices", "groups", "group_prices", "evaluation")


def read_prices(
    prices: Prices,
    features: Sequence[str],
    registry: Registry,
    sizes: bool = False,
    apart: Mapping[str, str] | None = None,
) -> CostScheme:
    """Return a cost scheme with these prices, checked against the features.

    Args:
        prices: see `Prices`.
        features: names, in the columns' order.
        registry: the registry that holds the cost scheme ``table``.
        sizes: whether the rows have item sizes.
        apart: columns that are no features, with what they are, from `bench_policies.tables.apart_from_features`. The
            prices of columns that are left out are ignored.

    Raises:
        RequestError: a name is not a feature, a feature has no price, or a price is not a finite number from 0; the
            message names the file, the line and the nearest name.
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
    given = _without(given, [name for name, what in (apart or {}).items() if what == LEFT_OUT and name not in features])
    _Check(file, tuple(features), sizes, apart or {}).all(given)
    return scheme_of(registry, given, file.where if file else "prices")


def _without(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a price list without some columns: their prices, their places in groups, and groups of them alone."""
    out = dict(given)
    if names and isinstance(prices := given.get("prices"), Mapping):
        out["prices"] = {name: price for name, price in prices.items() if name not in names}
    groups, group_prices = given.get("groups"), given.get("group_prices")
    if names and isinstance(groups, Mapping) and all(isinstance(members, list) for members in groups.values()):
        gone = {group for group, members in groups.items() if members and all(name in names for name in members)}
        kept = {group: members for group, members in groups.items() if group not in gone}
        out["groups"] = {group: [name for name in members if name not in names] for group, members in kept.items()}
        if isinstance(group_prices, Mapping):
            out["group_prices"] = {group: price for group, price in group_prices.items() if group not in gone}
    return out


def scheme_of(registry: Registry, given: Mapping[str, Any], where: str) -> CostScheme:
    """Build the cost scheme ``table`` from checked parameters."""
    try:
        return build(registry.cost_scheme("table"), given, where)
    except BenchError as error:
        raise RequestError(str(error)) from None


def _number(value: Any) -> Any:
    """Return a NumPy number as a Python number; anything else unchanged."""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


class _Check:
    """Checks of a price list, whose messages begin with the file and the line."""

    def __init__(self, file: TomlFile | None, features: tuple[str, ...], sizes: bool, apart: Mapping[str, str]) -> None:
        self.file, self.features, self.sizes, self.apart = file, features, sizes, apart

    def all(self, given: Mapping[str, Any]) -> None:
        for key in given:
            if key in self.features and key not in _KEYS:
                self.refuse(f"the price of {key!r} belongs below a line [prices]", key)
            if key not in _KEYS:
                self.refuse(f"unknown key {key!r}; {did_you_mean(key, _KEYS)}", key)
        if "prices" not in given:
            self.refuse("no [prices]: every feature needs a price, 0 if it is free", "prices")
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
                self.refuse(f"no price for {shown}; give a free feature the price 0, or drop the column", "prices")
        elif isinstance(prices, list):
            if len(prices) != len(self.features):
                self.refuse(
                    f"{len(prices)} prices for {len(self.features)} features: {', '.join(self.features[:20])}", "prices"
                )
            for i, price in enumerate(prices):
                self.price(price, f"the price of {self.features[i]!r} (number {i + 1})", "prices")
        else:
            self.refuse("prices must be a table of names and prices, or a list", "prices")
        self.groups(given.get("groups", {}), given.get("group_prices", {}))
        if "evaluation" in given:
            self.price(given["evaluation"], "evaluation", "evaluation")

    def groups(self, groups: Any, group_prices: Any) -> None:
        if not isinstance(groups, Mapping) or not isinstance(group_prices, Mapping):
            self.refuse('groups and group_prices are tables: [groups] blood = ["glucose", "insulin"]', "groups")
        owner: dict[str, str] = {}
        for group, names in groups.items():
            if not isinstance(names, list) or not names:
                self.refuse(f"group {group!r} must be a list of feature names", "groups", group)
            for name in names:
                if not isinstance(name, str):
                    self.refuse(f"group {group!r} must be a list of feature names, not {name!r}", "groups", group)
                self.known(name, "groups", group, name)
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
                message = f"group {group!r} has no price in [group_prices]; it is paid once, with its first feature"
                self.refuse(message, "groups", group)

    def known(self, name: Any, section: str, key: str, value: str | None = None) -> None:
        if name in self.apart and name not in self.features:
            self.refuse(f"[{section}] names {name!r}, which is {self.apart[name]}", section, key, value)
        if name in ("evaluation", "groups", "group_prices") and name not in self.features and section == "prices":
            self.refuse(f"{name!r} belongs above the line [prices], or in a table of its own", section, key, value)
        if name not in self.features:
            hint = did_you_mean(str(name), self.features)
            if blanks := next((f for f in self.features if f.strip() == str(name).strip()), None):
                place = "there" if blanks != blanks.strip() else "here"
                hint = f"the table's header has {blanks!r}: remove the blanks {place}"
            self.refuse(f"[{section}] names {name!r}, which is not a feature of the table; {hint}", section, key, value)

    def price(self, price: Any, name: str, section: str, key: str | None = None) -> None:
        coefficients = price if isinstance(price, list) else [price]
        if not coefficients:
            self.refuse(f"{name} is an empty list", section, key)
        for coefficient in coefficients:
            if isinstance(coefficient, bool) or not isinstance(coefficient, int | float):
                listed = "a number, or a list of coefficients by power of the size"
                self.refuse(f"{name} must be {listed}, not {coefficient!r}", section, key)
            if isinstance(coefficient, float) and not math.isfinite(coefficient):
                self.refuse(f"{name} is {coefficient}: a price must be a finite number", section, key)
            if coefficient < 0:
                self.refuse(f"{name} is {coefficient}: a price must not be negative", section, key)
            if coefficient > _MOST_PRICE:
                self.refuse(f"{name} is above {_MOST_PRICE:g}: use another unit", section, key)
        if not self.sizes and any(coefficients[1:]):
            grows = "grows with the item's size, but the rows have no sizes: name their column (--size)"
            self.refuse(f"{name} {grows}", section, key)

    def refuse(self, message: str, section: str, key: str | None = None, value: str | None = None) -> NoReturn:
        raise RequestError(f"{'prices' if self.file is None else self.file.at(section, key, value)}: {message}")
