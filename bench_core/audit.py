"""The audit: proof by substitution that a policy read nothing it had not acquired.

After a policy has decided, every value it did not declare as acquired is replaced by another row's value of the
same feature (`bench_core.substitutes` says which), and it decides again. An honest policy cannot notice. A dishonest
one should not know that it is asked again: the rows come in another order, a quarter of them stands in the batch a
second time as it is, and queries have other ids.

What it proves: the decisions on these rows did not depend on unpaid values in these calls, as far as a metric can
tell (`bench_core.agreement`).

What it does not prove, because the policy lives in the same process as its judge:

- anything about a policy that recognises a row by what it paid for, remembers its first answer and repeats it. The
  contract kit looks for that (its check ``no-trace``); a trial does not. Such a policy must buy something that tells
  the rows apart: one that buys nothing cannot know which of its answers to repeat.
- that a method did not reach around its arguments: to labels or prices through the interpreter (frames, modules, the
  garbage collector), to memory through ``ctypes``, to files or the network.
- that a method does not know the data: a public data set can be shipped with a plugin, test rows and labels included.
- anything about rows that were not decided on, or values that no substitute changed: a feature that has one value in
  the whole data set, or a dependence that none of the rounds' substitutes showed.

The first two need a judge in another process.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench_core.agreement import Agreement, changed_rows
from bench_core.decisions import Decisions, Rows
from bench_core.errors import AuditError, ContractError
from bench_core.method import Policy
from bench_core.readonly import locked
from bench_core.shuffle import shuffled
from bench_core.substitutes import substitutes

__all__ = ["Auditor", "changed_rows"]

_TWICE = 4
"""One row in so many stands in an audit's batch a second time, as it is."""


@dataclass(frozen=True)
class _Batch:
    """How a round's rows are arranged: the rows with substitutes, some of them again as they are, shuffled.

    Attributes:
        again: int64 (m,): rows that stand in it a second time.
        order: int64 (rows + m,): which of the two lists, laid end to end, comes first, second, …
        back: int64 (rows + m,): where each of the two lists' rows went.
        query: int64 (rows + m,): query ids in the batch's order, or None.
    """

    again: NDArray[np.int64]
    order: NDArray[np.int64]
    back: NDArray[np.int64]
    query: NDArray[np.int64] | None


@dataclass(frozen=True)
class Auditor:
    """Substitutes for a set of rows, made once and used for every policy that decides on them.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,).
        substitutes: one float64 (rows, columns) matrix per round.
        agreement: when two answers are the same.
    """

    rows: Rows
    feature_of_column: NDArray[np.int64]
    substitutes: tuple[NDArray[np.float64], ...]
    agreement: Agreement = field(default_factory=Agreement)
    _batches: tuple[_Batch, ...] = ()

    @classmethod
    def prepare(
        cls,
        rows: Rows,
        feature_of_column: NDArray[np.int64],
        others: NDArray[np.float64],
        rng: np.random.Generator,
        rounds: int = 2,
        agreement: Agreement | None = None,
    ) -> Auditor:
        """Choose the substitutes, and the order in which they are shown.

        Args:
            rows: the rows that will be decided on.
            feature_of_column: int64 (columns,), ascending.
            others: float64 (m, columns): further rows to take values from, for when the rows are few.
            rng: where the random choices come from.
            rounds: how many substitutions, each one ``decide`` per policy.
            agreement: when two answers are the same; by default nothing is refused and nothing ranked.
        """
        made = substitutes(rows.X, feature_of_column, others, rng, rounds)
        weights = _extremes(rows.X) if rounds else np.zeros(0)
        # One arrangement more than rounds: for rows that are shown again as they are.
        batches = tuple(_batch(rows, weights, rng.bit_generator, twice=True) for _ in made)
        batches += (_batch(rows, weights, rng.bit_generator, twice=False),)
        return cls(rows, feature_of_column, made, agreement or Agreement(), batches)

    def check(
        self, policy: Policy, decisions: Decisions, feature_names: tuple[str, ...], name: str = "the policy"
    ) -> None:
        """Substitute and decide again, once per round.

        Args:
            policy: what decided.
            decisions: what it decided on the rows as they are, in their order.
            feature_names: for the message.
            name: what the message calls the policy.

        Raises:
            AuditError: the decisions changed; the message names the feature and the number of rows.
        """
        paid = decisions.acquired[:, self.feature_of_column]
        for substitute, arranged in zip(self.substitutes, self._batches, strict=False):
            # Where all rows are one query, a row that stands in it twice would change it.
            one_query = policy.company == "query" and self.rows.query is None
            batch = self._batches[-1] if one_query else arranged
            mixed = np.where(paid, self.rows.X, substitute)
            replaced, untouched = self._ask(policy, mixed, batch, decisions, name)
            changed = self.agreement.changed(decisions, replaced, self.rows.query)
            if len(batch.again):
                first = decisions.take(batch.again)
                query = None if self.rows.query is None else self.rows.query[batch.again]
                changed[batch.again] |= self.agreement.changed(first, untouched, query)
            if changed.any():
                raise AuditError(self._verdict(policy, decisions, substitute, changed, feature_names, name))

    def _ask(
        self, policy: Policy, X: NDArray[np.float64], batch: _Batch, first: Decisions, name: str
    ) -> tuple[Decisions, Decisions]:
        """Decisions on the rows with other values, and on those that stand in the batch again as they are.

        Raises:
            AuditError: the policy failed, or gave what are no decisions on these rows.
        """
        count, sizes = len(X), self.rows.sizes
        if len(batch.again):
            X = np.concatenate([X, self.rows.X[batch.again]])
            sizes = None if sizes is None else np.concatenate([sizes, sizes[batch.again]])
        shown = Rows(
            locked(X[batch.order]), None if sizes is None else locked(sizes[batch.order]), batch.query
        )
        try:
            answer = policy.decide(shown)
        except Exception as error:
            raise AuditError(
                f"{name} failed where unpaid values were replaced: {type(error).__name__}: {error}"
            ) from error
        classes = 0 if first.probabilities is None else first.probabilities.shape[1]
        try:
            again = Decisions.received(answer, batch.back, first.acquired.shape[1], classes)
        except ContractError as error:
            raise AuditError(f"{name}, asked again with unpaid values replaced: {error}") from None
        return again.take(np.arange(count)), again.take(np.arange(count, len(again)))

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
        plain = self._batches[-1]
        rows = len(changed)
        moved = self._count(policy, self.rows.X, plain, decisions, name)
        if moved:
            return (
                f"{name} answers differently on {moved} of {rows} rows when nothing is replaced and the rows come "
                "in another order: a row's answer must not depend on its place or its company, to the last bit "
                "where equals are ranked or a label is close (sum each row by itself, as np.einsum does, not "
                "through BLAS)"
            )
        guilty: list[tuple[int, str]] = []
        for feature, feature_name in enumerate(feature_names):
            unpaid = ~decisions.acquired[:, feature]
            if not unpaid.any():
                continue
            X = np.array(self.rows.X)
            for column in np.flatnonzero(self.feature_of_column == feature):
                X[unpaid, column] = substitute[unpaid, column]
            count = self._count(policy, X, plain, decisions, name)
            if count:
                guilty.append((count, feature_name))
        guilty.sort(key=lambda pair: -pair[0])
        if not guilty:
            return (
                f"{name} depends on features it did not acquire (no single one explains it) on "
                f"{int(changed.sum())} of {rows} rows"
            )
        said = "; ".join(f"feature {feature!r} on {count} rows" for count, feature in guilty[:5])
        more = f"; and {len(guilty) - 5} more features" if len(guilty) > 5 else ""
        return f"{name} read without paying: {said}{more} (of {rows} rows)"

    def _count(
        self, policy: Policy, X: NDArray[np.float64], batch: _Batch, decisions: Decisions, name: str
    ) -> int:
        """On how many rows the policy answers differently when it is shown these values."""
        again, _ = self._ask(policy, X, batch, decisions, name)
        return int(self.agreement.changed(decisions, again, self.rows.query).sum())


def _extremes(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of the columns' smallest and largest values each row holds; float64 (rows,).

    A row that stands in the batch as it is keeps the batch's range as it was, if it holds the only such value.
    """
    held = np.zeros(len(X))
    if not len(X):
        return held
    for reduce in (np.fmin.reduce, np.fmax.reduce):
        at_end = reduce(X, axis=0) == X
        held += (at_end / np.maximum(at_end.sum(axis=0), 1)).sum(axis=1)
    return held


def _batch(rows: Rows, weights: NDArray[np.float64], bits: np.random.BitGenerator, *, twice: bool) -> _Batch:
    """An arrangement of the rows; with ``twice``, one in `_TWICE` again, whole queries where there are any."""
    count = len(rows)
    again = _chosen(rows, weights, bits) if twice else np.zeros(0, dtype=np.int64)
    query = rows.query
    if query is not None:
        query = np.concatenate([query, query[again] + (query.max(initial=0) - query.min(initial=0) + 1)])
    order, ids = shuffled(bits, count + len(again), query)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return _Batch(again, order, back, None if ids is None else locked(ids))


def _chosen(rows: Rows, weights: NDArray[np.float64], bits: np.random.BitGenerator) -> NDArray[np.int64]:
    """Random rows, or whole queries, one in `_TWICE` at most, among those that hold the fewest extreme values."""
    count = len(rows)
    random = np.asarray(bits.random_raw(count))
    if rows.query is None:
        return np.sort(np.lexsort((random, weights))[: count // _TWICE])
    _, codes = np.unique(rows.query, return_inverse=True)
    codes = codes.reshape(-1)
    size = np.bincount(codes)
    mean = np.bincount(codes, weights) / np.maximum(size, 1)
    order = np.lexsort((random[: len(size)], mean))
    taken = order[np.cumsum(size[order]) <= count // _TWICE]
    return np.flatnonzero(np.isin(codes, taken))
