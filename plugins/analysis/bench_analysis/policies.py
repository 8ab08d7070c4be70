"""Every policy of a family by itself: its metrics on both parts, and what the fit's history holds for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bench_records import Records

from bench_analysis.summary import Mean, mean_with_margin, overlap
from bench_core import Metric, RequestError
from bench_core.records import resolve_metric
from bench_core.suites import Suite

__all__ = ["by_policy", "quantity_metric", "resolve_quantity"]


def by_policy(
    records: Records, place: tuple[str, str], method: str, quantities: Sequence[str], suite: Suite | None = None
) -> dict[str, list[Mean]]:
    """Means over seeds, policy by policy.

    Policies of different seeds are matched by their label; those without one, by their number.

    Args:
        records: of a suite.
        place: data set and cost scheme.
        method: its name in the suite.
        quantities: ``validation.<metric>``, ``test.<metric>``, or ``history.<series>``, a series of the fit that has
            a number for every policy.
        suite: says what the splits are drawn from and how many are expected; see
            `bench_analysis.summary.mean_with_margin`.

    Returns:
        Label → a mean for every quantity (the mean of no values where it is not in the records), in the family's order.
    """
    frame = records.policies
    if frame.empty:
        return {}
    mine = (frame["dataset"] == place[0]) & (frame["costs"] == place[1]) & (frame["method"] == method)
    by_label: dict[str, list[list[float]]] = {}
    shared, expected = 0.0, suite.seed_count(place[0]) if suite else 0
    for name, rows in frame[mine & (frame["status"] == "ok")].groupby("name", sort=False):
        rows = rows.sort_values("policy")
        shared = overlap(records.infos[str(name)], suite.drawn_from(place[0]) if suite else None)
        columns = []
        for quantity in quantities:
            part, _, key = quantity.partition(".")
            if part == "history":
                values = records.infos[str(name)]["history"].get(key)
            else:
                values = rows[quantity].tolist() if quantity in rows else None
            fits = isinstance(values, list) and len(values) == len(rows)
            columns.append(values if fits else [np.nan] * len(rows))
        for label, number, *numbers in zip(rows["label"], rows["policy"], *columns, strict=True):
            samples = by_label.setdefault(str(label) or f"policy {number}", [[] for _ in quantities])
            for values, value in zip(samples, numbers, strict=True):
                values.append(float(value))
    return {
        label: [mean_with_margin(sample, shared, expected) for sample in samples] for label, samples in by_label.items()
    }


def resolve_quantity(name: str, known: Mapping[str, Metric]) -> Metric | None:
    """The metric of a policy's quantity, ``validation.<metric>`` or ``test.<metric>``; None for ``history.<series>``.

    Raises:
        RequestError: it is none of the three, or there is no such metric.
    """
    part, _, rest = name.partition(".")
    if part not in ("validation", "test", "history") or not rest:
        raise RequestError(f"{name!r} must be validation.<metric>, test.<metric> or history.<series>")
    return None if part == "history" else resolve_metric(rest, known)


def quantity_metric(suite: Suite, name: str) -> Metric | None:
    """The metric of a policy's quantity, under the suite's title; see `resolve_quantity`."""
    metric = resolve_quantity(name, suite.registry.metrics)
    return None if metric is None else suite.metric(metric.name)
