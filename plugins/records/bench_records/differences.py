"""How far a recomputed record is from a published one, and what other kernels can explain.

Other kernels round differently, and a decision that depends on the last bit may then change. Differences have limits:

- the method's inputs (task, features, prices, numbers of rows) must be equal up to `ROUNDING`;
- a policy's *neighbour* in another family is one whose metrics differ by no more than changed decisions on
  `CHANGED_ROWS` rows, or on the share `CHANGED_SHARE` of them if that is more, can explain. A changed row is taken to
  change the sum over rows by 1 in a metric of classification, or by the metric's value if that is larger; in any other
  metric by its value. Every published policy must have a recomputed neighbour, or it could be invented. Every
  recomputed policy must have a published one, or those that validation selects could be left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench_core import Metric

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CHANGED_ROWS", "CHANGED_SHARE", "ROUNDING",
    "Stray", "gaps_of_info", "gaps_of_policies", "is_given", "strays",
]  # fmt: skip

ROUNDING = 1e-6
"""Numbers are equal up to rounding if they differ by at most this share of the larger one, or by `_NOTHING`."""
_NOTHING = 1e-12
CHANGED_ROWS, CHANGED_SHARE = 2, 0.002
"""Other kernels may change the decisions on this number of rows, or on this share of them if that is more."""

_COMPARED = ("task", "history", "diagnostics", "features", "costs", "rows", "usage", "evaluations", "empty")
_GIVEN = ("task", "features", "costs", "rows", "empty")
"""Keys of a record that do not depend on the fit: names, counts and prices."""
_CLASSES = {"binary", "multiclass"}


class Stray(NamedTuple):
    """A policy without a neighbour in another family.

    Attributes:
        distance: from the nearest policy there, in multiples of the limit.
        label: its label.
        metric: the column with this distance.
        value, nearest: its value there, and that of the nearest policy.
    """

    distance: float
    label: str
    metric: str
    value: float
    nearest: float


def gaps_of_info(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield where two records differ outside their policies, and by how much."""
    for key in _COMPARED:
        if key == "history":
            yield from _published_leaves(key, before.get(key) or {}, after.get(key) or {})
        elif key in before:  # a key that is not published cannot be compared
            yield from _leaves(key, before[key], after.get(key))


def gaps_of_policies(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield where two families differ, and by how much, policy by policy."""
    yield "number of policies", math.inf if len(old) != len(new) else 0.0
    for column in sorted(set(old.columns) & set(new.columns)):
        if "." in column or column in ("label", "budget", "status"):
            yield from ((column, _gap(a, b)) for a, b in zip(old[column], new[column], strict=False))
        elif column == "details":
            for a, b in zip(old[column], new[column], strict=False):
                yield from _published_leaves(column, json.loads(a), json.loads(b))


def strays(
    policies: pd.DataFrame, others: pd.DataFrame, rows: Mapping[str, int], metrics: Mapping[str, Metric]
) -> list[Stray]:
    """The policies of a family that have no neighbour among others, the farthest first.

    A policy is compared with the others of the same label, or with all if none has its label: with other kernels, a
    family may have other members.

    Args:
        policies: the family, a row per policy.
        others: the other family.
        rows: part → its number of rows.
        metrics: the metrics to compare, by name.
    """
    columns = [
        column for column in others.columns if column.partition(".")[2] in metrics and column in policies.columns
    ]
    floors, changed = np.zeros(len(columns)), np.zeros(len(columns))
    for place, column in enumerate(columns):
        part, _, name = column.partition(".")
        floors[place] = metrics[name].percent or metrics[name].tasks <= _CLASSES
        changed[place] = max(CHANGED_ROWS / max(rows[part], 1), CHANGED_SHARE)
    table = others[columns].to_numpy(dtype=float)
    labels = others["label"].to_numpy()
    found = []
    for label, numbers in zip(policies["label"], policies[columns].to_numpy(dtype=float), strict=True):
        candidates = table[labels == label] if label in labels else table
        size = np.fmax(np.fmax(np.abs(numbers), np.abs(candidates)), floors)
        with np.errstate(invalid="ignore"):
            gaps = np.abs(numbers - candidates) / (changed * size + _NOTHING)
        gaps[(numbers == candidates) | (np.isnan(numbers) & np.isnan(candidates))] = 0.0
        gaps[np.isnan(gaps)] = math.inf
        worst = gaps.max(axis=1, initial=0.0)
        nearest = int(worst.argmin())
        if worst[nearest] > 1.0:
            at = int(gaps[nearest].argmax())
            found.append(Stray(float(worst[nearest]), label, columns[at], numbers[at], candidates[nearest, at]))
    return sorted(found, key=lambda stray: -stray.distance)


def is_given(place: str) -> bool:
    """Whether the method was given what differs, and did not find it."""
    return place.partition(".")[0] in _GIVEN


def _published_leaves(place: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield where two objects differ in published keys; `bench_records.published_form` leaves out the others."""
    for key in before:
        if not key.endswith("seconds"):  # measured times always differ
            yield from _leaves(f"{place}.{key}", before[key], after.get(key))


def _leaves(place: str, a: Any, b: Any) -> Iterator[tuple[str, float]]:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        yield from _published_leaves(place, a, b)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            yield from _leaves(place, x, y)
    else:
        yield place, _gap(a, b)


def _gap(a: Any, b: Any) -> float:
    """The relative difference of two numbers; infinite for anything else that differs."""
    numbers = [isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in (a, b)]
    if not all(numbers):
        missing = [x is None or (isinstance(x, float) and math.isnan(x)) for x in (a, b)]
        return 0.0 if a == b or all(missing) else math.inf
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    gap = float(abs(a - b) / max(abs(a), abs(b)))
    if abs(a - b) <= _NOTHING:
        return min(gap, ROUNDING)
    return math.inf if math.isnan(gap) else gap
