"""The audit: proof by substitution that a policy read nothing it had not acquired.

After a policy has decided, every value it did not declare as acquired is replaced by another row's value of the
same feature, and it decides again. An honest policy cannot notice. Substitutes are chosen to be noticed by a
dishonest one. First round: a random row's value that differs, from inside the range, so that the batch's largest
and smallest value, mean and median change as well. Second: the end of the range that is farther away. Third: any
other row's value that differs. Fourth: one end of the range for every row. And so on. A feature of two values has
them swapped in the odd rounds and one of them everywhere in the even ones.

What it proves: the decisions on these rows do not depend on unpaid values. What it does not: anything about a
policy that recognises the second call, which `bench_core.testing` looks for instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.decisions import Decisions, Rows
from bench_core.errors import AuditError
from bench_core.method import Policy

__all__ = ["Auditor", "changed_rows"]

_TOLERANCE = 1e-9
"""Probabilities may differ by this much: threads may add in another order."""


def changed_rows(before: Decisions, after: Decisions) -> NDArray[np.bool_]:
    """Rows on which two decisions differ: acquired, stage, evaluations exactly; real numbers beyond 1e-9.

    Returns:
        bool (rows,).
    """
    if np.shape(before.acquired) != np.shape(after.acquired):
        return np.ones(len(before), dtype=bool)
    changed: NDArray[np.bool_] = (before.acquired != np.asarray(after.acquired)).any(axis=1)
    for name in ("stage", "evaluations", "evaluation_cost", "score", "probabilities"):
        a, b = getattr(before, name), getattr(after, name)
        if a is None and b is None:
            continue
        if a is None or b is None or np.shape(a) != np.shape(b):
            return np.ones(len(changed), dtype=bool)
        a, b = np.asarray(a), np.asarray(b)
        if name in ("stage", "evaluations"):
            changed |= a != b
        else:
            differs = ~(np.abs(a - b) <= _TOLERANCE * np.maximum(1.0, np.abs(a)))
            changed |= differs.any(axis=1) if differs.ndim == 2 else differs
    return changed


@dataclass(frozen=True)
class Auditor:
    """Substitutes for a set of rows, made once and used for every policy that decides on them.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,).
        substitutes: one float64 (rows, columns) matrix per round.
    """

    rows: Rows
    feature_of_column: NDArray[np.int64]
    substitutes: tuple[NDArray[np.float64], ...]

    @classmethod
    def prepare(
        cls,
        rows: Rows,
        feature_of_column: NDArray[np.int64],
        others: NDArray[np.float64],
        rng: np.random.Generator,
        rounds: int = 2,
    ) -> Auditor:
        """Choose the substitutes.

        Args:
            rows: the rows that will be decided on.
            feature_of_column: int64 (columns,), ascending.
            others: float64 (m, columns): further rows to take values from, for when the rows are few.
            rng: where the random choices come from.
            rounds: how many substitutions, each one ``decide`` per policy.
        """
        made = tuple(np.array(rows.X, order="C") for _ in range(rounds))
        if rounds and len(rows):
            starts = np.flatnonzero(np.diff(feature_of_column, prepend=-1))
            stops = np.append(starts[1:], len(feature_of_column))
            alone = stops - starts == 1
            varied = np.logical_or.reduceat((rows.X[0] != rows.X).any(axis=0), starts)
            enough = varied & (len(rows) >= _ENOUGH_ROWS)

            def with_pool(columns: Any, own_is_enough: bool) -> tuple[NDArray[Any], NDArray[Any]]:
                own = rows.X[:, columns]
                return own, own if own_is_enough else np.concatenate([own, others[:, columns]])

            for own_is_enough in (True, False):
                for chunk in _chunks(starts[alone & (enough == own_is_enough)], len(rows) + len(others)):
                    _substitute_columns(*with_pool(chunk, own_is_enough), rng, made, chunk)
            for feature in np.flatnonzero(~alone):
                columns = slice(starts[feature], stops[feature])
                own, pool = with_pool(columns, bool(enough[feature]))
                _substitute_block(own, pool, rng, made, int(starts[feature]))
        return cls(rows, feature_of_column, made)

    def check(
        self, policy: Policy, decisions: Decisions, feature_names: tuple[str, ...], name: str = "the policy"
    ) -> None:
        """Substitute and decide again, once per round.

        Args:
            policy: what decided.
            decisions: what it decided on the rows as they are.
            feature_names: for the message.
            name: what the message calls the policy.

        Raises:
            AuditError: the decisions changed; the message names the feature and the number of rows.
        """
        paid = decisions.acquired[:, self.feature_of_column]
        for substitute in self.substitutes:
            mixed = self.rows.having(np.where(paid, self.rows.X, substitute))
            try:
                again = policy.decide(mixed)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise AuditError(
                    f"{name} failed where unpaid values were replaced: {type(error).__name__}: {error}"
                ) from error
            if len(again) != len(decisions):
                raise AuditError(f"{name} gave {len(again)} decisions for {len(decisions)} rows, asked again")
            changed = changed_rows(decisions, again)
            if changed.any():
                raise AuditError(self._verdict(policy, decisions, substitute, changed, feature_names, name))

    def _verdict(
        self,
        policy: Policy,
        decisions: Decisions,
        substitute: NDArray[np.float64],
        changed: NDArray[np.bool_],
        feature_names: tuple[str, ...],
        name: str,
    ) -> str:
        """Find the features at fault by substituting each alone."""
        guilty: list[tuple[int, str]] = []
        for feature, feature_name in enumerate(feature_names):
            unpaid = ~decisions.acquired[:, feature]
            if not unpaid.any():
                continue
            X = np.array(self.rows.X)
            for column in np.flatnonzero(self.feature_of_column == feature):
                X[unpaid, column] = substitute[unpaid, column]
            count = int(changed_rows(decisions, policy.decide(self.rows.having(X))).sum())
            if count:
                guilty.append((count, feature_name))
        guilty.sort(key=lambda pair: -pair[0])
        if not guilty:
            return (
                f"{name} depends on features it did not acquire (no single one explains it) on "
                f"{int(changed.sum())} of {len(changed)} rows"
            )
        said = "; ".join(f"feature {feature!r} on {count} rows" for count, feature in guilty[:5])
        more = f"; and {len(guilty) - 5} more features" if len(guilty) > 5 else ""
        return f"{name} read without paying: {said}{more} (of {len(changed)} rows)"


_ENOUGH_ROWS = 50


_MOST_CELLS = 2**20


def _chunks(columns: Any, rows: int) -> Iterator[NDArray[np.int64]]:
    """Columns in pieces of at most `_MOST_CELLS` values."""
    step = max(1, _MOST_CELLS // max(rows, 1))
    for first in range(0, len(columns), step):
        yield np.asarray(columns[first : first + step], dtype=np.int64)


def _substitute_columns(
    own: NDArray[np.float64],
    pool: NDArray[np.float64],
    rng: np.random.Generator,
    made: tuple[NDArray[np.float64], ...],
    columns: NDArray[np.int64],
) -> None:
    """Other values for the rows of one-column features, where there are others.

    Args:
        own: float64 (rows, features).
        pool: float64 (values, features): where values are taken from; its first rows are ``own``.
        rng, made: as in `Auditor.prepare`.
        columns: int64 (features,): where in ``made`` they belong.
    """
    ordered, low, equal = _ranked(pool, len(own))
    able = equal < len(ordered)
    # The ends of the range are numbers where there are any; NaN stands in only for the sole number.
    numbers = len(ordered) - np.isnan(ordered).sum(axis=0)
    least, most = ordered[0], ordered[np.maximum(numbers, 1) - 1, np.arange(len(numbers))]
    two_levels = ((ordered == least) | (ordered == most)).sum(axis=0) == numbers
    for number, target in enumerate(made):
        if number % 2 == 0:
            chosen = _drawn(own, ordered, low, equal, rng, inner=number % 4 == 0)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                chosen = np.where(own - least > most - own, least, most)
            one_end = np.where(rng.random(len(least)) < 0.5, least, most)
            chosen = np.where((number % 4 == 3) | two_levels, one_end, chosen)
            chosen = np.where(least == most, np.where(own == least, np.nan, least), chosen)
        target[:, columns] = np.where(able, chosen, own)


def _ranked(
    pool: NDArray[np.float64], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Each column sorted (NaN last), and for its first so many values where equal ones begin, and how many they are."""
    order = np.argsort(pool, axis=0)
    ordered = np.take_along_axis(pool, order, axis=0)
    missing = np.isnan(ordered)
    begins = np.ones((len(pool) + 1, pool.shape[1]), dtype=bool)
    begins[1:-1] = (ordered[1:] != ordered[:-1]) & ~(missing[1:] & missing[:-1])
    places = np.arange(len(pool) + 1)[:, None]
    first = np.maximum.accumulate(np.where(begins[:-1], places[:-1], 0), axis=0)
    after = np.minimum.accumulate(np.where(begins[1:], places[1:], len(pool))[::-1], axis=0)[::-1]
    low, equal = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(low, order, first, axis=0)
    np.put_along_axis(equal, order, after - first, axis=0)
    return ordered, low[:rows], equal[:rows]


def _drawn(
    own: NDArray[np.float64],
    ordered: NDArray[np.float64],
    low: NDArray[np.int64],
    equal: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    inner: bool,
) -> NDArray[np.float64]:
    """A random one of the ordered values for every row, never its own; inside the rows' range where possible.

    Without the ends of the range, the batch's largest and smallest value must change too.
    """
    start: Any = 0
    stop: Any = len(ordered)
    if inner:
        first = (ordered <= np.fmin.reduce(own, axis=0)).sum(axis=0)
        last = (ordered < np.fmax.reduce(own, axis=0)).sum(axis=0)
        within = np.where((low >= first) & (low < last), equal, 0)
        possible = last - first > within
        start, stop = np.where(possible, first, start), np.where(possible, last, stop)
    skipped = np.where((low >= start) & (low < stop), equal, 0)
    draw = start + np.floor(rng.random(own.shape) * (stop - start - skipped)).astype(np.int64)
    donor = np.where((draw < low) | (skipped == 0), draw, draw + equal)
    drawn: NDArray[np.float64] = np.take_along_axis(ordered, np.minimum(donor, len(ordered) - 1), axis=0)
    return drawn


def _substitute_block(
    own: NDArray[np.float64],
    pool: NDArray[np.float64],
    rng: np.random.Generator,
    made: tuple[NDArray[np.float64], ...],
    start: int,
) -> None:
    """The same for a feature of several columns: whole blocks of another row, different ones where they exist."""
    levels, codes = np.unique(np.concatenate([own, pool]), axis=0, return_inverse=True)
    numbers = np.asarray(codes, dtype=np.float64).reshape(-1)
    work: tuple[NDArray[Any], ...] = tuple(np.empty((len(own), 1)) for _ in made)
    for column in work:
        column[:, 0] = numbers[: len(own)]
    pool_codes = numbers[len(own) :]
    _substitute_columns(
        pool_codes[: len(own), None], pool_codes[:, None], rng, work, np.zeros(1, dtype=np.int64)
    )
    for target, column in zip(made, work, strict=True):
        target[:, start : start + own.shape[1]] = levels[column[:, 0].astype(np.int64)]
