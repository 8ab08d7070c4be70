"""Tasks, and the facts of a data set that are known before anything is fitted, so that a plan can check methods."""

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
    """Facts of a data set.

    Attributes:
        name: its name.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``.
        n_classes: number of classes; 0 for regression and ranking.
        feature_names: names of the features, in order.
        n_units: how many units are acquired separately: acquisition groups, and features in no group. For a cost
            scheme, groups are those of the data's own prices; for a method, those of the trial's prices.
        missing: whether values are missing; for a method: whether they still are after encoding.
        queries: whether rows belong to queries.
        priced: whether it comes with prices.
        threshold: the suite's confidence threshold p̂ for it, or None when nothing is refused. Set for methods only.
        n_rows: number of rows; 0 when unknown.
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
        """Return the facts as plain JSON values; `from_plain` is the inverse."""
        return {**vars(self), "feature_names": list(self.feature_names)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> DataFacts:
        """Make facts from the values that `as_plain` returned.

        Raises:
            TypeError, KeyError: ``plain`` is not of this form.
        """
        return cls(**{**plain, "feature_names": tuple(plain["feature_names"])})
