"""Find columns that are probably not what they look like: identifiers, dates, and numbers with decimal commas."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench_core import Dataset
from bench_policies.tables import LEAST_IN_CATEGORY, has_decimal_commas
from bench_policies.wording import one_line

__all__ = ["column_notes", "target_notes"]

_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}.*)?\s*")
_MOST, _LEAST_ROWS = 0.9, 20
"""Least share of matching values for a column to count as one of these kinds, and least number of values to check."""
_MOSTLY = 0.5
"""A column gets a note if at least this share of its rows have a rare category."""
_MOST_PLAIN_CLASSES = 5
"""A target gets a note if it has more classes than this, all of them whole numbers."""


def column_notes(dataset: Dataset) -> list[str]:
    """Return a sentence for every feature that is probably an identifier, a date, or a number with a decimal comma."""
    notes = []
    for feature, name in enumerate(dataset.feature_names):
        column = dataset.values[:, feature]
        held = column[~np.isnan(column)]
        if dataset.n_rows >= _LEAST_ROWS and len(np.unique(held)) < 2:
            notes.append(f"column {one_line(name)!r} {_one_value(dataset, feature, held)}; leave it out (--drop)")
            continue
        if len(held) < _LEAST_ROWS:
            continue
        texts = dataset.categories.get(feature)
        note = _numbers(held) if texts is None else _texts(texts, held)
        if note:
            notes.append(f"column {one_line(name)!r} {note}")
    return notes


def _texts(texts: Sequence[str], held: NDArray[np.float64]) -> str:
    def share(pattern: re.Pattern[str]) -> float:
        return sum(bool(pattern.fullmatch(text)) for text in texts) / max(len(texts), 1)

    if has_decimal_commas(texts):
        return "holds numbers with decimal commas, read as categories; write them with points"
    if share(_DATE) >= _MOST:
        return "holds dates, read as categories; turn them into numbers (days since a date), or leave it out (--drop)"
    if len(np.unique(held)) >= _MOST * len(held):
        return "has another text in nearly every row, as an identifier has; leave it out (--drop)"
    rare = np.bincount(held.astype(np.int64)) < LEAST_IN_CATEGORY
    if rare[held.astype(np.int64)].mean() >= _MOSTLY:
        return (
            f"has mostly categories with fewer than {LEAST_IN_CATEGORY} rows, which become one category; "
            "if it holds numbers, see --missing and --decimal"
        )
    return ""


def _one_value(dataset: Dataset, feature: int, held: NDArray[np.float64]) -> str:
    if not len(held):
        return "holds no value"
    texts = dataset.categories.get(feature)
    return f"holds one value only, {held[0]:.15g}" if texts is None else f"holds one value only, {one_line(texts[0])!r}"


def target_notes(dataset: Dataset, target: str, task: str | None) -> list[str]:
    """Return a note if the target was read as classes but may be a quantity.

    Either nearly all classes are numbers with decimal commas; or `task` is None, and there are more than five classes,
    all of them whole numbers.
    """
    if has_decimal_commas(dataset.classes):
        return [f"target {one_line(target)!r} holds numbers with decimal commas, read as classes; see --decimal"]
    numbers = all(re.fullmatch(r"-?\d+", name) for name in dataset.classes)
    if task is not None or len(dataset.classes) <= _MOST_PLAIN_CLASSES or not numbers:
        return []
    first, last = dataset.classes[0], dataset.classes[-1]
    return [
        f"target {one_line(target)!r} is read as {len(dataset.classes)} classes, {first} to {last}; "
        "if it is a quantity, give --task regression"
    ]


def _numbers(held: NDArray[np.float64]) -> str:
    if not (held == np.round(held)).all():
        return ""
    year, month, day = held // 10_000, held // 100 % 100, held % 100
    dates = (year >= 1900) & (year <= 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    if dates.mean() >= _MOST:
        return "holds dates such as 20240131; turn them into numbers of days, or leave it out (--drop)"
    distinct = np.unique(held)
    if len(distinct) == len(held) and distinct[-1] - distinct[0] < len(held) / _MOST:
        return "numbers the rows, as an identifier does; leave it out (--drop)"
    return ""
