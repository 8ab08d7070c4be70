"""A fitted policy with all that is needed to use it: encoder, prices, names and types of features, classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, Decisions, Policy, RequestError, Rows, did_you_mean
from bench_core.execution import Encoder, can_be_asked
from bench_policies.answering import Answering
from bench_policies.substitution import AskedBySubstitution
from bench_policies.wording import one_line

if TYPE_CHECKING:
    import pandas as pd

    from bench_policies.sessions import Session


@dataclass(frozen=True, eq=False)
class FittedPolicy:
    """A policy in use.

    Attributes:
        policy: decides on encoded rows, and can be asked step by step.
        encoder: from values as they are to the columns that the policy reads.
        costs: prices.
        feature_names: in order.
        categories: feature → its categories' texts, in the order of their codes.
        numeric_categories: feature → its categories, where they are numbers.
        classes: names of the classes; none for regression.
        task: ``binary``, ``multiclass`` or ``regression``.
        answering: how class probabilities become answers.
        takes_missing: whether the policy reads missing values where the encoder leaves them (``raw``).
        size_column: the column of a table that holds item sizes, where prices depend on them.
        about: where it comes from: method, parameters, data, what repeated splits said, versions.
    """

    policy: Policy
    encoder: Encoder
    costs: Costs
    feature_names: tuple[str, ...]
    categories: Mapping[int, tuple[str, ...]]
    numeric_categories: Mapping[int, tuple[float, ...]]
    classes: tuple[str, ...]
    task: str
    answering: Answering
    takes_missing: bool = False
    size_column: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not can_be_asked(self.policy):
            raise RequestError(f"a {type(self.policy).__name__} cannot be asked: wrap it in AskedBySubstitution")

    @property
    def threshold(self) -> float | None:
        """Answers less sure than this are refused; None: none is."""
        return self.answering.threshold

    @property
    def exact(self) -> bool:
        """Whether it asks for nothing that `decide` would not acquire."""
        return not isinstance(self.policy, AskedBySubstitution)

    def number(self, feature: str) -> int:
        """A feature's place.

        Raises:
            RequestError: there is none; the nearest name is said.
        """
        try:
            return self.feature_names.index(feature)
        except ValueError:
            hint = one_line(did_you_mean(str(feature), self.feature_names))
            raise RequestError(f"there is no feature {feature!r}; {hint}") from None

    def value(self, feature: int, given: Any) -> float:
        """A value as the encoder takes it: numbers are themselves, categories their codes, a missing one NaN.

        Raises:
            RequestError: not a number where one is needed, an unknown category, infinite, missing where nothing stands
                in for it.
        """
        name = one_line(self.feature_names[feature])
        if given is None or (isinstance(given, float | np.floating) and math.isnan(given)) or _is_na(given):
            if math.isnan(float(self.encoder.fill[feature])) and not self.takes_missing:
                raise RequestError(f"{name} is missing, and this policy takes no missing values")
            return math.nan
        if feature in self.categories:
            texts = self.categories[feature]
            if str(given) not in texts:
                hint = one_line(did_you_mean(str(given), texts))
                raise RequestError(f"{name} has no category {given!r}; {hint}")
            return float(texts.index(str(given)))
        if not isinstance(given, int | float | np.integer | np.floating | np.bool_):
            raise RequestError(f"{name} must be a number, not {given!r}")
        number = float(given)
        if not math.isfinite(number):
            raise RequestError(f"{name} must be a finite number, not {number}")
        if feature in self.numeric_categories and number not in self.numeric_categories[feature]:
            shown = ", ".join(f"{category:g}" for category in self.numeric_categories[feature][:20])
            raise RequestError(f"{name} has no category {number:g}; known: {shown}")
        return number

    def values(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """A table's features as the encoder takes them; float64 (rows, features). Other columns are left out.

        Raises:
            RequestError: a column is missing, or a value is refused; the column and the row are said.
        """
        import pandas as pd

        table = np.empty((len(frame), len(self.feature_names)))
        for feature, name in enumerate(self.feature_names):
            if name not in frame.columns:
                hint = one_line(did_you_mean(name, map(str, frame.columns)))
                raise RequestError(f"the table has no column {name!r}; {hint}")
            column = frame[name]
            if feature in self.categories:
                codes = {text: float(code) for code, text in enumerate(self.categories[feature])}
                table[:, feature] = column.map(lambda given, codes=codes: codes.get(str(given), np.nan))
                odd = np.isnan(table[:, feature]) & column.notna().to_numpy()
            elif pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
                table[:, feature] = column.to_numpy(dtype=np.float64, na_value=np.nan)
                odd = np.isinf(table[:, feature])
                if feature in self.numeric_categories:
                    odd |= ~np.isin(table[:, feature], self.numeric_categories[feature]) & column.notna().to_numpy()
            else:
                table[:, feature] = [self._in_row(feature, given, row) for row, given in enumerate(column)]
                continue
            odd |= self._refused_missing(feature, table[:, feature])
            if odd.any():
                row = int(odd.argmax())
                self._in_row(feature, column.iloc[row], row)
        return table

    def _refused_missing(self, feature: int, column: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.takes_missing or not math.isnan(float(self.encoder.fill[feature])):
            return np.zeros(len(column), dtype=bool)
        return np.isnan(column)

    def _in_row(self, feature: int, given: Any, row: int) -> float:
        try:
            return self.value(feature, given)
        except RequestError as error:
            raise RequestError(f"row {row} (from 0): {error}") from None

    def rows(self, frame: pd.DataFrame) -> Rows:
        """A table as encoded rows. Raises like `values`; item sizes must be there where prices depend on them."""
        sizes = None
        if self.costs.depends_on_size:
            if self.size_column not in frame.columns:
                raise RequestError(f"the table has no column {self.size_column!r} of item sizes: prices depend on it")
            sizes = frame[self.size_column].to_numpy(dtype=np.float64)
            if not (np.isfinite(sizes) & (sizes >= 0)).all():
                raise RequestError(f"column {self.size_column!r}: item sizes must be finite and not negative")
        return Rows(self.encoder.transform(self.values(frame)), sizes)

    def decisions(self, frame: pd.DataFrame) -> Decisions:
        """What the policy decides on a table's rows, in the core's form."""
        rows = self.rows(frame)
        return self.policy.decide(rows).checked(len(rows), len(self.feature_names), len(self.classes))

    def decide(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Answers to a table that holds every feature.

        Returns:
            A table with the same index. ``label`` (None where refused), ``best`` (the answer, refused or not: the most
            probable class, or the one of least expected cost), its ``probability`` and ``refused`` for classes,
            ``value`` for regression; ``cost``; ``acquired``: names of the features that were bought.

        Raises:
            RequestError: a column is missing or a value is refused.
        """
        import pandas as pd

        rows = self.rows(frame)
        decided = self.policy.decide(rows).checked(len(rows), len(self.feature_names), len(self.classes))
        columns: dict[str, Any] = {}
        if decided.probabilities is not None and self.classes:
            best, refused = self.answering.answers(decided.probabilities)
            probability = decided.probabilities[np.arange(len(rows)), best]
            named = np.array(self.classes, dtype=object)[best]
            label: Any = named.copy()
            label[refused] = None
            columns = {"label": pd.Series(label, frame.index, dtype=object)}
            columns |= {"best": named, "probability": probability}
            columns["refused"] = refused
        else:
            columns["value"] = decided.score
        columns["cost"] = self.costs.bill(decided.acquired, rows.sizes)
        patterns, which = np.unique(decided.acquired, axis=0, return_inverse=True)
        texts = np.empty(len(patterns), dtype=object)
        texts[:] = [tuple(np.array(self.feature_names, dtype=object)[pattern]) for pattern in patterns]
        columns["acquired"] = texts[which.reshape(-1)] if len(patterns) else np.empty(0, dtype=object)
        return pd.DataFrame(columns, index=frame.index)

    def start(self, size: float | None = None) -> Session:
        """A session: one row, feature by feature. Sessions share nothing that changes; start as many as you like.

        Args:
            size: the item's size, where prices depend on it.
        """
        from bench_policies.sessions import Session

        return Session(self, size)


def _is_na(value: Any) -> bool:
    import pandas as pd

    return value is pd.NA or value is pd.NaT
