"""Tasks, and what a plan knows of a data set before anything is fitted: what methods and prices are held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Task = Literal["binary", "multiclass", "regression", "ranking"]
ALL_TASKS: frozenset[str] = frozenset(get_args(Task))
CLASSIFICATION = frozenset({"binary", "multiclass"})
SPLIT_NAMES = ("train", "validation", "test")
"""Names of a data set's parts."""


@dataclass(frozen=True)
class DataFacts:
    """A data set in a few facts.

    Attributes:
        name: its own name.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``.
        n_classes: number of classes; 0 for regression and ranking.
        feature_names: names of the features, in order.
        n_units: how many things are acquired one by one: acquisition groups, and features that are in none. Given to a
            cost scheme it is by the prices that come with the data; given to a method, by the prices it will meet.
        missing: whether values are missing. Given to a method: still, after encoding.
        queries: whether rows belong to queries.
        priced: whether it comes with prices.
        threshold: confidence threshold p̂ of the suite for it, None where nothing is refused. Known to methods only.
        n_rows: number of rows; 0 where that is not remembered.
    """

    name: str
    task: Task
    n_classes: int
    feature_names: tuple[str, ...]
    n_units: int
    missing: bool
    queries: bool
    priced: bool
    threshold: float | None = None
    n_rows: int = 0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    def as_plain(self) -> dict[str, Any]:
        """As plain JSON values; `from_plain` is the inverse."""
        return {**vars(self), "feature_names": list(self.feature_names)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> DataFacts:
        """From what `as_plain` gave.

        Raises:
            TypeError, KeyError: it is something else.
        """
        return cls(**{**plain, "feature_names": tuple(plain["feature_names"])})
