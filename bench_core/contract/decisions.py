"""Decisions, the answers of a policy; and outcomes, decisions with their bills and the true labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.errors import ContractError
from bench_core.contract.readonly import locked

T = TypeVar("T")


def _taken(table: T, rows: NDArray[Any]) -> T:
    return type(table)(**{name: None if array is None else array[rows] for name, array in vars(table).items()})


@dataclass(frozen=True)
class Rows:
    """Rows to decide on, without labels.

    Attributes:
        X: float64 (rows, columns), encoded as the training part was.
        sizes: float64 (rows,) item sizes, or None. Reading a size is free.
        query: int64 (rows,) query ids, or None. Reading them is free, but decisions may depend on them only if the
            policy's ``decision_scope`` is ``"query"``.
    """

    X: NDArray[np.float64]
    sizes: NDArray[np.float64] | None = None
    query: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows, by index or mask."""
        return _taken(self, rows)

    def having(self, X: NDArray[np.float64]) -> Rows:
        """The same rows with other values."""
        return Rows(X, self.sizes, self.query)


@dataclass(frozen=True)
class Decisions:
    """The answers of a policy, one per row.

    Attributes:
        acquired: bool (rows, features): the features that it read. The answers must not depend on any other.
        probabilities: float64 (rows, classes), each row summing to 1; for classification.
        score: float64 (rows,): the predicted value (regression) or the ranking score.
        stage: int64 (rows,): the stage, from 1, at which the row left; None means one stage.
        evaluations: float64 (rows,): base models run; None means one.
        evaluation_cost: float64 (rows,): price of the evaluations, in the unit of the prices, if base models differ in
            price; None means ``evaluations`` × the cost scheme's price of an evaluation.
    """

    acquired: NDArray[np.bool_]
    probabilities: NDArray[np.float64] | None = None
    score: NDArray[np.float64] | None = None
    stage: NDArray[np.int64] | None = None
    evaluations: NDArray[np.float64] | None = None
    evaluation_cost: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.acquired)

    def take(self, rows: NDArray[Any]) -> Decisions:
        """The decisions of some rows, by index or mask."""
        return _taken(self, rows)

    @staticmethod
    def exact(answer: Any, rows: int | None = None) -> Decisions:
        """Read a policy's answer once, as plain arrays of numbers.

        Args:
            answer: what ``decide`` returned.
            rows: the number of rows that the policy was given; None skips the check of their number.

        Raises:
            ContractError: the answer is not exactly a `Decisions` (a subclass could change its answers later), its
                arrays do not hold numbers, or it has another number of rows.
        """
        if isinstance(answer, ContractError):  # the error that another process found
            raise answer
        if type(answer) is not Decisions:
            subclass = "its subclass " if isinstance(answer, Decisions) else ""
            raise ContractError(f"decide must return Decisions, not {subclass}{type(answer).__name__}")
        exact: dict[str, Any] = {}
        for name in ("acquired", *_COLUMNS):
            value = getattr(answer, name)
            # A subclass of ndarray, or anything with __array__, is converted here and its code is not called again.
            exact[name] = None if value is None else np.asarray(value)
            # Objects could define comparisons arbitrarily.
            if exact[name] is not None and exact[name].dtype.kind not in "biuf":
                raise ContractError(f"Decisions.{name} must hold numbers, not {exact[name].dtype}")
        decided = len(np.atleast_1d(exact["acquired"]))
        if rows is not None and decided != rows:
            raise ContractError(f"it gave {decided} decisions for {rows} rows")
        return Decisions(**exact)

    @staticmethod
    def received(answer: Any, order: NDArray[np.int64], features: int, classes: int) -> Decisions:
        """Read a policy's answer once, check it, and return a read-only copy.

        Args:
            answer: what ``decide`` returned.
            order: int64 (rows,): which of the given rows becomes row 0, row 1, ….
            features: expected number of features.
            classes: number of classes; 0 when scores are expected.

        Raises:
            ContractError: the answer is not exactly a `Decisions` (a subclass could change its answers later), or has a
                wrong shape or type, NaN, or invalid probabilities.
        """
        given = vars(Decisions.exact(answer)).items()
        # Taking the rows copies them.
        exact = {n: v if v is None or v.shape[:1] != (len(order),) else v[order] for n, v in given}
        received = Decisions(**exact).checked(len(order), features, classes)
        held = {name: array for name, array in vars(received).items() if array is not None}
        return Decisions(**{name: locked(np.ascontiguousarray(array)) for name, array in held.items()})

    def checked(self, rows: int, features: int, classes: int) -> Decisions:
        """Return these decisions with exact types, or raise an error that names the invalid field.

        Args:
            rows: expected number of rows of ``acquired``.
            features: expected number of its columns.
            classes: number of classes; 0 when scores are expected.

        Raises:
            ContractError: wrong shape or type, NaN, probabilities outside [0, 1] or not summing to 1.
        """
        acquired = np.asarray(self.acquired)
        if acquired.dtype != np.bool_:
            raise ContractError(f"Decisions.acquired must be bool, not {acquired.dtype}")
        if acquired.shape != (rows, features):
            raise ContractError(f"Decisions.acquired must have shape ({rows}, {features}), not {acquired.shape}")
        # A bool array can contain bytes above 1; they count once.
        exact: dict[str, NDArray[Any] | None] = {"acquired": acquired.view(np.uint8) != 0}
        exact["probabilities"] = None
        if classes:
            exact["probabilities"] = self._checked_probabilities(rows, classes)
        elif self.score is None:
            raise ContractError("Decisions.score is missing: the task needs a score per row")
        for name, kind in _COLUMNS.items():
            column = getattr(self, name)
            if column is None or name == "probabilities":
                continue
            column = np.asarray(column)
            if column.shape != (rows,):
                raise ContractError(f"Decisions.{name} must have shape ({rows},), not {column.shape}")
            if column.dtype.kind not in kind:
                expected = {"f": "a float", "iu": "an integer"}.get(kind, "a number")
                raise ContractError(f"Decisions.{name} must be {expected} array, not {column.dtype}")
            if not np.isfinite(column).all():
                count = int((~np.isfinite(column)).sum())
                raise ContractError(f"Decisions.{name} holds {count} value(s) that are not finite")
            if name == "stage" and len(column) and column.min() < 1:
                raise ContractError("Decisions.stage counts from 1")
            if name.startswith("evaluation") and len(column) and column.min() < 0:
                raise ContractError(f"Decisions.{name} must not be negative")
            exact[name] = column.astype(np.int64 if name == "stage" else np.float64, copy=False)
        return replace(self, **exact)  # type: ignore[arg-type]

    def _checked_probabilities(self, rows: int, classes: int) -> NDArray[np.float64]:
        if self.probabilities is None:
            raise ContractError("Decisions.probabilities is missing: a classification task needs them")
        table = np.asarray(self.probabilities)
        if table.shape != (rows, classes):
            raise ContractError(f"Decisions.probabilities must have shape ({rows}, {classes}), not {table.shape}")
        if table.dtype.kind != "f":
            raise ContractError(f"Decisions.probabilities must be float, not {table.dtype}")
        sums = table.sum(axis=1)
        if np.isnan(sums).any():
            raise ContractError(f"Decisions.probabilities holds NaN in {int(np.isnan(sums).sum())} row(s)")
        if rows and (table.min() < -1e-9 or table.max() > 1 + 1e-9 or np.abs(sums - 1).max() > 1e-6):
            outside = np.maximum(-table, table - 1).max(axis=1)
            worst = int(np.maximum(np.abs(sums - 1), outside).argmax())
            raise ContractError(
                f"Decisions.probabilities must lie in [0, 1] and sum to 1 in every row; row {worst} is "
                f"{table[worst].tolist()}"
            )
        return table.astype(np.float64, copy=False)


_COLUMNS = {"probabilities": "f", "score": "f", "stage": "iu", "evaluations": "fiu", "evaluation_cost": "fiu"}


@dataclass(frozen=True)
class Outcome:
    """Decisions of one policy on one part, with the bills and labels that metrics need. Metrics are functions of this.

    Attributes:
        task: the data set's task.
        y: int64 class codes or float64 values (rows,).
        decisions: what the policy decided.
        bill: float64 (rows,): the cost of the acquired features, charged by the core.
        full_bill: float64 (rows,): the cost of all features.
        evaluation_bill: float64 (rows,): the cost of the base models that were run; 0 if evaluations are free.
        threshold: confidence threshold p̂, or None when nothing is refused.
        query: int64 (rows,) query ids, or None.
        reference: the family's reference decisions on the same rows (a full ensemble, say), or None.
        budget: the policy's budget per row, or None.
        at_caps: cap → int64 (rows,): the class that the policy answers if no row may cost more than the cap. Caps
            for which this is unknown are left out.
    """

    task: str
    y: NDArray[Any]
    decisions: Decisions
    bill: NDArray[np.float64]
    full_bill: NDArray[np.float64]
    evaluation_bill: NDArray[np.float64]
    threshold: float | None = None
    query: NDArray[np.int64] | None = None
    reference: Decisions | None = None
    budget: float | None = None
    at_caps: Mapping[int, NDArray[np.int64]] = field(default_factory=dict)

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """Most probable class of each row (the first of equal ones); int64 (rows,)."""
        return np.asarray(self._probabilities.argmax(axis=1))

    @cached_property
    def confidence(self) -> NDArray[np.float64]:
        """Highest class probability of each row; float64 (rows,)."""
        return np.asarray(self._probabilities.max(axis=1))

    @property
    def _probabilities(self) -> NDArray[np.float64]:
        if self.decisions.probabilities is None:
            raise ContractError(f"a {self.task} task has no labels and no confidences")
        return self.decisions.probabilities

    @cached_property
    def conclusive(self) -> NDArray[np.bool_]:
        """Whether a row's answer is accepted: confidence ≥ p̂, or always when nothing is refused."""
        return np.ones(len(self.y), dtype=bool) if self.threshold is None else self.confidence >= self.threshold

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the label is right, conclusive or not."""
        return np.asarray(self.label == self.y)

    def per_query(self) -> Sequence[NDArray[np.int64]]:
        """Row numbers of each query, queries in ascending order; one query when there are no ids."""
        if self.query is None:
            return [np.arange(len(self.y))]
        order = np.argsort(self.query, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.query[order])) + 1)


def next_of_stages(
    acquired: NDArray[np.bool_], left_at: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """`Policy.next_features` for a policy of consecutive stages, where each stage adds features to the one before.

    A row is answered if its known features cover all stages up to the one it leaves at. Any other row requests the
    features of the first stage that is not covered, because its exit stage was computed from unknown values.

    Args:
        acquired: bool (stages, features): the features acquired up to and including each stage.
        left_at: int64 (rows,): the stage, from 0, that each row leaves at; unknown values may have any placeholder.
        known: bool (rows, features).

    Returns:
        bool (rows, features); no features for a row that is answered.
    """
    uncovered = np.full(len(known), len(acquired) - 1)
    for stage in range(len(acquired) - 2, -1, -1):
        uncovered[(acquired[stage] & ~known).any(axis=1)] = stage
    return np.asarray(acquired[np.minimum(left_at, uncovered)] & ~known)
