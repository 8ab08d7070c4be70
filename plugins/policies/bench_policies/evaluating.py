"""Evaluate a method on your own data, in a notebook: a tidy table of its policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench_core import Method, RequestError, build, plain
from bench_core.suites import load_registry
from bench_policies.prices import Prices, read_prices
from bench_policies.tables import Columns, Data, apart_from_features, facts_after_encoding, merge_rare, read_table
from bench_policies.trials import Bench, Setup, stopped_at

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Registry


def method_of(method: str | Method, parameters: Mapping[str, Any] | None, registry: Registry) -> tuple[str, Method]:
    """Return a method's name and the method itself, built from its parameters where it is given by name.

    Raises:
        RequestError: there is no such method or parameter (the message names the nearest one), or parameters are given
            for a method that is not given by name.
    """
    if isinstance(method, Method):
        if parameters:
            raise RequestError("parameters are for a method given by name")
        names = [name for name, known in registry.methods.items() if known is type(method)]
        return (names or [type(method).__name__])[0], method
    return method, build(registry.method(method), parameters or {}, f"method {method!r}")


def evaluate(
    method: str | Method,
    data: Data,
    prices: Prices,
    *,
    target: str | None = None,
    columns: Columns | None = None,
    parameters: Mapping[str, Any] | None = None,
    setup: Setup | None = None,
    metrics: Sequence[str] = (),
    splits: int = 5,
) -> pd.DataFrame:
    """Evaluate every policy of a method on repeated splits, audited and billed as in a suite.

    Args:
        method: a registered name, or a method.
        data: a DataFrame, a path to CSV or Parquet, or a data set.
        prices: prices by name or in the columns' order, a file's path, or a cost scheme.
        target: the column to predict; None for a data set.
        columns: how the other columns of a DataFrame or file are read; see `Columns`.
        parameters: parameters of a method given by name.
        setup: encoding, threshold and threads; see `Setup`. Without an ``exit_threshold``, several are tried; see
            `bench_policies.trials.Bench.thresholds`.
        metrics: names; empty: all that apply.
        splits: number of random splits, with seeds 0, 1, …

    Returns:
        A row per split, policy and part: ``method``, ``seed``, ``policy``, ``label``, ``exit_threshold`` (None where
        the method needs none), ``part`` (``validation`` or ``test``), and a column per metric.

    Raises:
        RequestError: a name, a price or the table is invalid, the method does not apply to the data, or it failed.
    """
    import pandas as pd

    registry, setup = load_registry(), setup or Setup()
    dataset = merge_rare(read_table(data, target, registry, columns))
    apart = apart_from_features(target, columns or Columns())
    scheme = read_prices(prices, dataset.feature_names, registry, dataset.sizes is not None, apart)
    name, estimator = method_of(method, parameters, registry)
    bench = Bench(dataset, scheme, setup)
    costs = bench.prepared(0).problem.costs
    refused = estimator.inapplicable(facts_after_encoding(dataset, costs, setup.encode, bench.thresholds(estimator)[0]))
    if refused is not None:
        raise RequestError(f"{name} cannot be used here: {refused}")
    wanted = metrics or [known for known in registry.metrics if "@" not in known]
    resolved = {metric: registry.metric(metric) for metric in wanted}
    rows: list[dict[str, Any]] = []
    refusing = setup.threshold is not None
    for seed in range(splits):
        number = 0
        for exit_at in bench.thresholds(estimator):
            tried = bench.run(name, estimator, seed, exit_at, resolved)
            if tried.error:
                raise RequestError(f"{name} failed on split {seed}: {tried.error}")
            table = tried.record["policies"]
            for part in ("validation", "test"):
                for policy, (label, details) in enumerate(zip(table["label"], table["details"], strict=True)):
                    about = {"method": name, "seed": seed}
                    about["exit_threshold"] = None if refusing else stopped_at(exit_at, estimator, details)
                    about |= {"policy": number + policy, "label": label, "part": part}
                    rows.append({**about, **{key: plain(column[policy]) for key, column in table[part].items()}})
            number += len(table["label"])
    return pd.DataFrame(rows)
