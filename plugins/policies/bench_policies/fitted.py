"""A fitted policy with everything needed to use it: encoder, prices, names and types of features, classes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, Decisions, Policy, RequestError, Rows, did_you_mean
from bench_core.execution import Capped, Encoder, can_be_asked
from bench_policies.answering import Answering
from bench_policies.given import category_of, codes_of, is_missing, is_number, number_of
from bench_policies.judging import paid
from bench_policies.measures import MEASURES, MSE, Measure
from bench_policies.portable import OTHER
from bench_policies.short import as_html, in_short
from bench_policies.substitution import AskedBySubstitution
from bench_policies.tables import MISSING, RowError, naming, read_rows
from bench_policies.wording import one_line

if TYPE_CHECKING:
    import pandas as pd

    from bench_policies.sessions import Session


@dataclass(frozen=True, eq=False, repr=False)
class FittedPolicy:
    """A policy with its encoder, prices and names, ready to decide on tables and single rows.

    Attributes:
        policy: the policy, which decides on encoded rows and can be asked step by step.
        encoder: maps a table's values to the columns that the policy reads.
        costs: prices of the features and groups.
        feature_names: names in the order of the features.
        categories: feature → names of its categories, in the order of their codes.
        numeric_categories: feature → its categories, where they are numbers.
        classes: names of the classes; empty for regression.
        task: ``binary``, ``multiclass`` or ``regression``.
        answering: the rule that turns class probabilities into answers.
        takes_missing: whether the policy accepts missing values, which the encoding ``raw`` keeps.
        size_column: the table's column with item sizes; None where prices do not depend on them.
        about: method, parameters, data, results on repeated splits, and versions, as JSON values.

    Raises:
        RequestError: the policy cannot be asked step by step; wrap it in `AskedBySubstitution`.
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

    def __repr__(self) -> str:
        return f"FittedPolicy({'; '.join(f'{name}: {text}' for name, text in in_short(self).items())})"

    def _repr_html_(self) -> str:
        return as_html(self)

    @property
    def threshold(self) -> float | None:
        """Confidence threshold: rows whose highest class probability is below it are refused; None: it refuses none."""
        return self.answering.threshold

    @property
    def exact(self) -> bool:
        """Whether it asks only for features that `decide` acquires as well."""
        inner = self.policy.policy if isinstance(self.policy, Capped) else self.policy
        return not isinstance(inner, AskedBySubstitution)

    @property
    def measure(self) -> Measure:
        """The measure of quality: that of the goal for which the policy was fitted."""
        return MEASURES[self.about.get("goal", {}).get("measure", "accuracy")] if self.classes else MSE

    @property
    def truth_values(self) -> Collection[int]:
        """Features that take truth values: those with only 0 and 1, or truth values, in the fit; all, if not saved."""
        held: Collection[int] = self.about.get("truth_values", range(len(self.feature_names)))
        return held

    def group_name(self, group: int) -> str:
        """Return the name of a price group, or its number from 1 where it has none."""
        names = self.about.get("group_names") or []
        return one_line(names[group]) if group < len(names) else str(group + 1)

    def number(self, feature: str) -> int:
        """Return the index of a feature.

        Raises:
            RequestError: there is no such feature; the message names the nearest one.
        """
        try:
            return self.feature_names.index(feature)
        except ValueError:
            hint = one_line(did_you_mean(str(feature), self.feature_names))
            raise RequestError(f"there is no feature {feature!r}; {hint}") from None

    def value(self, feature: int, given: Any) -> float:
        """Return a value as the encoder's input: a number as it is, a category as its code, a missing value as NaN.

        Raises:
            RequestError: the value is not a finite number where one is needed, is an unknown category, or is missing
                where the encoder has no replacement for it.
        """
        name = one_line(self.feature_names[feature])
        if is_missing(given):
            if self._refuses_missing(feature):
                raise RequestError(f"{name} is missing, and this policy takes no missing values")
            return math.nan
        if feature in self.categories:
            texts = self.categories[feature]
            text = category_of(given, texts) or OTHER
            if text not in texts:
                hint = one_line(did_you_mean(str(given), texts))
                raise RequestError(f"{name} has no category {given!r}; {hint}")
            return float(texts.index(text))
        if feature in self.numeric_categories:
            given = number_of(given, ())
        if not is_number(given, feature in self.truth_values):
            raise RequestError(f"{name} must be a number, not {given!r}")
        number = float(given)
        if not math.isfinite(number):
            raise RequestError(f"{name} must be a finite number, not {number}")
        if feature in self.numeric_categories and number not in self.numeric_categories[feature]:
            shown = ", ".join(self.shown_categories(feature)[:20])
            raise RequestError(f"{name} has no category {number:.15g}; known: {shown}")
        return number

    def shown_categories(self, feature: int) -> list[str]:
        """Return the names of a feature's categories, in the order of their codes; empty for a number."""
        if feature in self.categories:
            return list(self.categories[feature])
        return [f"{category:.15g}" for category in self.numeric_categories.get(feature, ())]

    def values(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return a table's features as the encoder's input, float64 (rows, features); other columns are ignored.

        A text in a column of numbers is read as a number, or as missing if the fit's table marks missing values so.
        A category that was not in the data becomes the category `OTHER`, which stands for rare ones. If the column has
        no rare ones, it becomes a missing value; `unseen` counts these.

        Raises:
            RequestError: a column is missing, or a value is invalid, or missing where the policy takes no missing ones;
                the message names the column and the row.
        """
        import pandas as pd

        table = np.empty((len(frame), len(self.feature_names)))
        for feature, name in enumerate(self.feature_names):
            if name not in frame.columns:
                hint = one_line(did_you_mean(name, map(str, frame.columns)))
                raise RequestError(f"the table has no column {name!r}; {hint}")
            column = frame[name]
            if feature in self.categories or feature in self.numeric_categories:
                table[:, feature] = self._codes(feature, column)[0]
            elif pd.api.types.is_numeric_dtype(column.dtype) and (
                feature in self.truth_values or not pd.api.types.is_bool_dtype(column.dtype)
            ):
                table[:, feature] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            else:
                table[:, feature] = [self._in_row(feature, given, row) for row, given in enumerate(column)]
                continue
            invalid = np.isinf(table[:, feature]) | (np.isnan(table[:, feature]) & self._refuses_missing(feature))
            if invalid.any():
                row = int(invalid.argmax())
                self._in_row(feature, column.iloc[row], row)
        return table

    def unseen(self, frame: pd.DataFrame) -> dict[str, int]:
        """Return, by column of a table, how many values have a new category that counts as missing; see `values`."""
        names = {f: self.feature_names[f] for f in sorted({*self.categories, *self.numeric_categories})}
        coded = {name: self._codes(feature, frame[name]) for feature, name in names.items()}
        counts = {name: int((given & np.isnan(codes)).sum()) for name, (codes, given) in coded.items()}
        return {name: count for name, count in counts.items() if count}

    def _codes(self, feature: int, column: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """A categorical feature's input, NaN for a missing or new category, and whether a value is given."""
        import pandas as pd

        if feature in self.categories:
            return codes_of(column, self.categories[feature]), column.notna().to_numpy()
        given = column if pd.api.types.is_numeric_dtype(column.dtype) else column.map(self._read)
        numbers = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        known = np.isin(numbers, self.numeric_categories[feature])
        return np.where(known, numbers, np.nan), given.notna().to_numpy()

    def _read(self, given: Any) -> Any:
        table = self.about.get("table", {})
        return number_of(given, table.get("missing", MISSING), table.get("decimal", "."))

    def _refuses_missing(self, feature: int) -> bool:
        return not self.takes_missing and math.isnan(float(self.encoder.fill[feature]))

    def _in_row(self, feature: int, given: Any, row: int) -> float:
        try:
            return self.value(feature, self._read(given))
        except RequestError as error:
            raise RowError(row, str(error)) from None

    def rows(self, frame: pd.DataFrame) -> Rows:
        """Return a table as encoded rows, with item sizes where prices depend on them.

        Raises:
            RequestError: a column is missing, or a value or an item size is invalid.
        """
        import pandas as pd

        sizes = None
        if self.costs.depends_on_size:
            if self.size_column not in frame.columns:
                raise RequestError(f"the table has no column {self.size_column!r} of item sizes: prices depend on it")
            sizes = pd.to_numeric(frame[self.size_column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            if not (np.isfinite(sizes) & (sizes >= 0)).all():
                raise RequestError(f"column {self.size_column!r}: item sizes must be finite and not negative")
        rows = Rows(self.encoder.transform(self.values(frame)), sizes)
        if unseen := self.unseen(frame):
            shown = ", ".join(f"{one_line(name)} ({count})" for name, count in unseen.items())
            warnings.warn(f"unseen categories count as missing: {shown}", stacklevel=3)
        return rows

    def decisions(self, frame: pd.DataFrame) -> Decisions:
        """Return the policy's `Decisions` on a table's rows. Raises `RequestError` as `rows` does."""
        rows = self.rows(frame)
        return self.policy.decide(rows).checked(len(rows), len(self.feature_names), len(self.classes))

    def decide(self, table: pd.DataFrame | str | Path) -> pd.DataFrame:
        """Answer every row of a table that holds every feature.

        Args:
            table: the rows, or the path of a CSV or Parquet file, which is read like the table of the fit. (pandas
                reads some texts, such as ``N/A`` and ``true``, in its own way.)

        Returns:
            A table with the same index. For classes: ``label`` (None where refused), ``best`` (the answer, even where
            it is refused), ``probability`` of ``best``, and ``refused``. For regression: ``value``. For both: ``cost``
            of the features and base models, in the unit of the prices, and ``acquired``, the names of the features that
            were bought. A category that was not in the data counts as a rare one, or as missing if its column has no
            rare ones; ``attrs["unseen"]`` holds the number of the latter by column, and a warning names the columns.

        Raises:
            RequestError: the table cannot be read, a column is missing, or a value or an item size is invalid.
        """
        import pandas as pd

        of_texts = [self.feature_names[feature] for feature in self.categories]
        frame = read_rows(table, self.about.get("table", {}), of_texts)
        with naming(table, self.about.get("table", {})):
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
            columns |= {"best": named, "probability": probability, "refused": refused}
        else:
            columns["value"] = decided.score
        columns["cost"] = paid(decided, self.costs, rows.sizes)
        patterns, which = np.unique(decided.acquired, axis=0, return_inverse=True)
        texts = np.empty(len(patterns), dtype=object)
        texts[:] = [tuple(np.array(self.feature_names, dtype=object)[pattern]) for pattern in patterns]
        columns["acquired"] = texts[which.reshape(-1)] if len(patterns) else np.empty(0, dtype=object)
        answers = pd.DataFrame(columns, index=frame.index)
        answers.attrs["unseen"] = self.unseen(frame)
        return answers

    def start(self, size: float | None = None) -> Session:
        """Start a session, which answers one row feature by feature. Sessions are independent of each other.

        Args:
            size: the item's size, where prices depend on it.

        Raises:
            RequestError: prices depend on the item's size, and ``size`` is missing, negative or not finite.
        """
        from bench_policies.sessions import Session

        return Session(self, size)
