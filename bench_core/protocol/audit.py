"""The audit: proof by substitution that a policy read nothing it had not acquired.

After a policy has decided, every value it did not declare as acquired is replaced by another row's value of the
same feature (`bench_core.protocol.substitutes` says which), and it decides again. An honest policy cannot notice. A
dishonest one should not know that it is asked again: the rows come in another order, a quarter of them stands in the
batch a second time as it is, and queries have other ids.

What it proves: the decisions on these rows did not depend on unpaid values in these calls, as far as a metric can
tell (`bench_core.protocol.agreement`).

Who is asked again is the *witness*: in a trial that is isolated (`bench_core.run.execute.isolated`), a copy of the
policy in another process, made before the policy saw the rows and asked when the process that saw them is gone. It has
nothing to repeat first answers from. Without isolation the policy itself is asked, in its judge's own process; it can
remember, and reach around its arguments: to labels and prices (frames, modules, the garbage collector), to memory
(``ctypes``), to files and the network. Such a record says so, and is not published.

What the audit does not prove:

- that a method does not know the data. A public data set can be shipped with a plugin, test rows, labels and split, or
  be found in an installed library; the order that rows are shown in follows from the seed.
- anything about rows that were not decided on, or values that no substitute changed: a feature that has one value in
  the whole data set, or a dependence that none of the rounds' substitutes showed.
- that nothing passes between two processes by what the system counts: numbers of processes, times at which files were
  read, how fast they can be read because they were read before, room on the disk, load. These are narrow, and noisy.
- that a plugin's code leaves the process alone that its methods are forked from. It has seen no data, but it can change
  what its forks do, and what they report of themselves; not what they are asked, and not what is made of their answers.
- that a plugin leaves the judge alone which the judge imports: one whose data sets, prices or metrics the suite uses,
  that has commands, or that has other hooks and no methods. A plugin of methods is imported in processes of its own
  only; what it says there of its methods' names, parameters and limits is checked in form, not in truth.
- where the kernel has no Landlock or no seccomp (Linux before 5.13; other systems): that a method did not read files of
  the same user (the cache of data, the store), leave something for a later process, or use the network.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import AuditError, ContractError
from bench_core.contract.method import Policy
from bench_core.contract.readonly import locked
from bench_core.protocol.agreement import Agreement, changed_rows
from bench_core.protocol.shuffle import shuffled
from bench_core.protocol.substitutes import substitutes

__all__ = ["Auditor", "changed_rows", "copied", "restored"]

_TWICE = 4
"""One row in so many stands in an audit's batch a second time, as it is."""


@dataclass(frozen=True)
class _Batch:
    """How an audit's rows are arranged: each with its substitutes, some again as they are, shuffled.

    Attributes:
        source: int64 (rows + m,): the row that stands at each place.
        X: float64 (rows + m, columns): the values that the rows have.
        sizes, query: item sizes and query ids in that order, or None.
    """

    source: NDArray[np.int64]
    X: NDArray[np.float64]
    sizes: NDArray[np.float64] | None
    query: NDArray[np.int64] | None

    def decisions(self, decisions: Decisions) -> Decisions:
        """Decisions on the rows, in the batch's order."""
        return decisions.take(self.source)


@dataclass(frozen=True)
class Auditor:
    """Substitutes for a set of rows, made once and used for every policy that decides on them.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,).
        agreement: when two answers are the same.
    """

    rows: Rows
    feature_of_column: NDArray[np.int64]
    agreement: Agreement
    _batch: _Batch
    _substitutes: tuple[NDArray[np.float64], ...]
    _place: NDArray[np.int64]

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
        tables = substitutes(rows.X, feature_of_column, others, rng, rounds)
        again = _chosen(rows, rng.bit_generator) if rounds else np.zeros(0, dtype=np.int64)
        batch, place = _arranged(rows, again, rng.bit_generator)
        arranged = []
        for table in tables:
            shown = table[batch.source]
            shown[place[len(rows) :]] = rows.X[again]
            arranged.append(shown)
        return cls(rows, feature_of_column, agreement or Agreement(), batch, tuple(arranged), place[: len(rows)])

    @property
    def substitutes(self) -> list[NDArray[np.float64]]:
        """Every round's substitutes, in the order of the rows."""
        return [table[self._place] for table in self._substitutes]

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
        batch, tables = self._batch, self._substitutes
        if policy.decision_scope == "query" and self.rows.query is None:
            # All rows are one query: a row that stood in it twice would change it.
            batch, _ = _arranged(self.rows, np.zeros(0, dtype=np.int64), np.random.PCG64(0))
            tables = tuple(table[batch.source] for table in self.substitutes)
        first = batch.decisions(decisions)
        paid = _columns(first.acquired, self.feature_of_column)
        for number, table in enumerate(tables):
            changed = self._changed(policy, np.where(paid, batch.X, table), batch, first, name)
            if changed.any():
                rows = np.zeros(len(decisions), dtype=bool)
                rows[batch.source[changed]] = True
                substitute = self.substitutes[number]
                raise AuditError(self._verdict(policy, decisions, substitute, rows, feature_names, name))

    def _changed(
        self, policy: Policy, X: NDArray[np.float64], batch: _Batch, first: Decisions, name: str
    ) -> NDArray[np.bool_]:
        """The batch's rows that a policy answers differently when it is shown these values.

        Args:
            X: float64, in the batch's order.
            first: what it decided, in the batch's order.

        Raises:
            AuditError: the policy failed, or gave what are no decisions on these rows.
        """
        try:
            answer = policy.decide(Rows(locked(X), batch.sizes, batch.query))
        except Exception as error:
            raise AuditError(
                f"{name} failed where unpaid values were replaced: {type(error).__name__}: {error}"
            ) from error
        classes = 0 if first.probabilities is None else first.probabilities.shape[1]
        try:
            again = Decisions.received(answer, None, len(X), first.acquired.shape[1], classes)
        except ContractError as error:
            raise AuditError(f"{name}, asked again with unpaid values replaced: {error}") from None
        return self.agreement.changed(first, again, batch.query)

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
        batch, _ = _arranged(self.rows, np.zeros(0, dtype=np.int64), np.random.PCG64(len(changed)))
        first, substitute = batch.decisions(decisions), substitute[batch.source]
        rows = len(changed)
        moved = int(self._changed(policy, batch.X, batch, first, name).sum())
        if moved:
            return (
                f"{name} answers differently on {moved} of {rows} rows when nothing is replaced and the rows come "
                "in another order: a row's answer must not depend on its place in the batch or on other rows, to the "
                "last bit where equals are ranked or a label is close (sum each row by itself, as np.einsum does, "
                "not through BLAS)"
            )
        guilty: list[tuple[int, str]] = []
        for feature, feature_name in enumerate(feature_names):
            unpaid = ~first.acquired[:, feature]
            if not unpaid.any():
                continue
            X = np.array(batch.X)
            for column in np.flatnonzero(self.feature_of_column == feature):
                X[unpaid, column] = substitute[unpaid, column]
            count = int(self._changed(policy, X, batch, first, name).sum())
            if count:
                guilty.append((count, feature_name))
        guilty.sort(key=lambda pair: -pair[0])
        if not guilty:
            return (
                f"{name} depends on features it did not acquire (no single one explains it) on "
                f"{int(changed.sum())} of {rows} rows"
            )
        findings = "; ".join(f"feature {feature!r} on {count} rows" for count, feature in guilty[:5])
        more = f"; and {len(guilty) - 5} more features" if len(guilty) > 5 else ""
        return f"{name} read without paying: {findings}{more} (of {rows} rows)"


_UNPICKLABLE = (
    "a policy does not survive pickling, which the audit needs: keep arrays, plain values and objects of importable "
    "classes in it, no lambda, inner function, open file or thread"
)


def copied(policies: Sequence[Policy]) -> bytes:
    """Policies as bytes, for the process that answers the audit.

    Raises:
        ContractError: one does not survive pickling.
    """
    try:
        return pickle.dumps(list(policies), protocol=5)
    except Exception as error:
        raise ContractError(f"{_UNPICKLABLE} ({type(error).__name__}: {error})") from None


def restored(data: bytes | memoryview) -> list[Policy]:
    """Policies from what `copied` gave; only where the method's own code may run.

    Raises:
        ContractError: one does not survive pickling.
    """
    try:
        return list(pickle.loads(data))
    except Exception as error:
        raise ContractError(f"{_UNPICKLABLE} ({type(error).__name__}: {error})") from None


def _columns(acquired: NDArray[np.bool_], feature_of_column: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each column's feature was acquired."""
    if np.array_equal(feature_of_column, np.arange(acquired.shape[1])):
        return acquired
    paid: NDArray[np.bool_] = acquired[:, feature_of_column]
    return paid


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


def _arranged(rows: Rows, again: NDArray[np.int64], bits: np.random.BitGenerator) -> tuple[_Batch, NDArray[np.int64]]:
    """The rows and some of them again, shuffled; and int64 (rows + m,): where each of them went, in that order."""
    both = np.concatenate([np.arange(len(rows)), again])
    query = rows.query
    if query is not None:
        # A query that is there twice is two queries.
        query = np.concatenate([query, query[again] + (query.max(initial=0) - query.min(initial=0) + 1)])
    order, ids = shuffled(bits, len(both), query)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    source = both[order]
    sizes = None if rows.sizes is None else locked(rows.sizes[source])
    return _Batch(source, rows.X[source], sizes, None if ids is None else locked(ids)), place


def _chosen(rows: Rows, bits: np.random.BitGenerator) -> NDArray[np.int64]:
    """Random rows, or whole queries, one in `_TWICE` at most, among those that hold the fewest extreme values."""
    count = len(rows)
    random, weights = np.asarray(bits.random_raw(count)), _extremes(rows.X)
    if rows.query is None:
        return np.sort(np.lexsort((random, weights))[: count // _TWICE])
    _, codes = np.unique(rows.query, return_inverse=True)
    codes = codes.reshape(-1)
    size = np.bincount(codes)
    mean = np.bincount(codes, weights) / np.maximum(size, 1)
    order = np.lexsort((random[: len(size)], mean))
    taken = order[np.cumsum(size[order]) <= count // _TWICE]
    return np.flatnonzero(np.isin(codes, taken))
