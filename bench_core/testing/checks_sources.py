"""Checks of data sources and cost schemes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import ContractError
from bench_core.contract.readonly import HOW_TO_WRITE, is_write_refusal
from bench_core.contract.sources import CostScheme, DataContext, DataSource
from bench_core.protocol.encode import fit_encoder
from bench_core.protocol.split import SplitRule, make_split
from bench_core.testing.checks_declared import declared, round_trip, unknown

__all__ = ["COST_CHECKS", "DATASET_CHECKS"]

_STATES = ("built-in", "cached", "mirrored", "missing")


def _load(source: DataSource, context: DataContext) -> Dataset:
    loaded = source.load(context)
    if not isinstance(loaded, Dataset):
        raise ContractError(f"{type(source).__name__}.load must return a Dataset, not {type(loaded).__name__}")
    return loaded


def check_loads_twice(source: DataSource, context: DataContext) -> None:
    """Loading twice gives the same content."""
    first, second = _load(source, context), _load(source, context)
    # With an origin, the content hash does not cover the values.
    if first.content != second.content or not np.array_equal(first.values, second.values, equal_nan=True):
        raise ContractError(f"{type(source).__name__}.load gives other content the second time")


def check_content(source: DataSource, context: DataContext) -> None:
    """The content hash that a source knows without loading equals that of the loaded data."""
    known, loaded = source.content(context), _load(source, context).content
    if known is not None and known != loaded:
        raise ContractError(
            f"{type(source).__name__}.content gives {known!r}, but what load gives has the content {loaded!r}"
        )


def check_fingerprint(source: DataSource, context: DataContext) -> None:
    """The fingerprint is a text or None, and does not change while the data does not."""
    _load(source, context)
    before = source.fingerprint(context)
    _load(source, context)
    after = source.fingerprint(context)
    if not (before is None or isinstance(before, str)):
        raise ContractError(f"{type(source).__name__}.fingerprint must be a text or None, not {before!r}")
    if before != after:
        raise ContractError(
            f"{type(source).__name__}.fingerprint changed from {before!r} to {after!r} with no change of the data"
        )


def check_status(source: DataSource, context: DataContext) -> None:
    """The status is one of the known words, and not ``missing`` once loaded."""
    before = source.status(context)
    _load(source, context)
    after = source.status(context)
    for word in (before, after):
        if word not in _STATES:
            raise ContractError(f"{type(source).__name__}.status must be one of {', '.join(_STATES)}, not {word!r}")
    if after == "missing":
        raise ContractError(f"{type(source).__name__}.status is 'missing' right after it was loaded")


def check_usable(source: DataSource, context: DataContext) -> None:
    """It can be split and encoded: every part has rows, and every encoded test value is finite."""
    dataset = _load(source, context)
    split = make_split(dataset, SplitRule(kind="random" if dataset.split is None else "given"), seed=0)
    encoder = fit_encoder(dataset, split.train, "ordinal")
    if not np.isfinite(encoder.transform(dataset.values[split.test])).all():
        raise ContractError(f"data set {dataset.name!r}: encoded test rows are not finite")


def check_source_declaration(source: DataSource, context: DataContext) -> None:
    """It is a frozen dataclass with a docstring and a version; its parameters survive TOML."""
    declared(source)
    round_trip(source)
    unknown(source)


DATASET_CHECKS: dict[str, Callable[[DataSource, DataContext], None]] = {
    "declaration": check_source_declaration,
    "loads-twice": check_loads_twice,
    "content": check_content,
    "fingerprint": check_fingerprint,
    "status": check_status,
    "usable": check_usable,
}


def _train(dataset: Dataset) -> NDArray[np.int64]:
    return make_split(dataset, SplitRule(), seed=3).train


def _price(scheme: CostScheme, dataset: Dataset, seed: int = 3) -> Costs:
    costs = scheme.price(dataset, _train(dataset), seed)
    if not isinstance(costs, Costs):
        raise ContractError(f"{type(scheme).__name__}.price must return Costs, not {type(costs).__name__}")
    return costs


def check_prices(scheme: CostScheme, dataset: Dataset) -> None:
    """A finite, non-negative price for every feature."""
    costs = _price(scheme, dataset)
    if costs.n_features != dataset.n_features:
        raise ContractError(
            f"{type(scheme).__name__} gives {costs.n_features} prices for {dataset.n_features} features"
        )
    sizes = dataset.sizes if dataset.sizes is not None else np.ones(dataset.n_rows)
    total = costs.total(dataset.n_rows, sizes)
    if not (np.isfinite(total) & (total >= 0)).all():
        raise ContractError(f"{type(scheme).__name__}: the price of all features is not finite")


def check_same_prices(scheme: CostScheme, dataset: Dataset) -> None:
    """Pricing twice gives the same prices."""
    if _price(scheme, dataset).as_plain() != _price(scheme, _copy(dataset)).as_plain():
        raise ContractError(f"{type(scheme).__name__} gives other prices the second time; draw from the seed")


def check_training_rows_only(scheme: CostScheme, dataset: Dataset) -> None:
    """Prices are learned from the training rows only: changing other rows changes no price."""
    train = _train(dataset)
    others = np.setdiff1d(np.arange(dataset.n_rows), train)
    rolled = np.roll(others, 1 + len(others) // 3)
    values, target = np.array(dataset.values), np.array(dataset.target)
    values[others] = dataset.values[rolled] * 3.0 + 1.0
    if dataset.categorical:
        kinds = np.array(dataset.categorical, dtype=np.int64)
        values[np.ix_(others, kinds)] = dataset.values[np.ix_(rolled, kinds)]
    # One class, or far larger values: every statistic over all targets changes.
    target[others] = dataset.target.max() if dataset.classes else dataset.target[rolled] * 3.0 + 1.0
    changed = replace(dataset, values=values, target=target)
    if scheme.price(dataset, train, 3).as_plain() != scheme.price(changed, train, 3).as_plain():
        raise ContractError(
            f"{type(scheme).__name__} looks beyond the training rows: prices changed when other rows did"
        )


def check_dataset_unchanged(scheme: CostScheme, dataset: Dataset) -> None:
    """Pricing does not change the data."""
    mine = _copy(dataset)
    try:
        _price(scheme, mine)
    except (TypeError, ValueError) as error:
        if is_write_refusal(error):
            raise ContractError(
                f"{type(scheme).__name__}.price changed the dataset in place ({error}): {HOW_TO_WRITE}"
            ) from error
        raise
    for name in ("values", "target"):
        if not np.array_equal(getattr(mine, name), getattr(dataset, name), equal_nan=True):
            raise ContractError(f"{type(scheme).__name__}.price changed dataset.{name} in place; work on a copy")


def _copy(dataset: Dataset) -> Dataset:
    return replace(dataset, values=np.array(dataset.values), target=np.array(dataset.target))


def check_scheme_declaration(scheme: CostScheme, dataset: Dataset) -> None:
    """It is a frozen dataclass with a docstring and a version; its parameters survive TOML."""
    declared(scheme)
    round_trip(scheme)
    unknown(scheme)


COST_CHECKS: dict[str, Callable[[CostScheme, Dataset], None]] = {
    "declaration": check_scheme_declaration,
    "prices": check_prices,
    "same-prices": check_same_prices,
    "training-rows-only": check_training_rows_only,
    "dataset-unchanged": check_dataset_unchanged,
}
