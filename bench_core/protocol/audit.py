"""The audit: proof by substitution that a policy read nothing it had not acquired.

When all policies have decided, every value that one did not declare as acquired is replaced by a value of the same
feature from the training part (`bench_core.protocol.substitutes`), and it decides again, in two rounds or more. An
honest policy cannot notice. The audit's randomness is secret: its seed comes from the operating system after the last
decision and is kept in the record of a failed audit only, so that it can be repeated (``bench run --audit-seed``).
Every round of every policy has its own order, its own substitutes, and its own quarter of the rows that stand in the
batch twice, with other substitutes each time; queries have other ids.

What it proves: the decisions on these rows did not depend on unpaid values in these calls, as far as a metric can
tell (`bench_core.protocol.agreement`). A substitute is drawn without regard to the row that it is put in, so nothing
that is shown tells anything of a row's unpaid values, and nothing can be undone. Who has to repeat answers that depend
on them can only guess:

- Where a share s of the training values leads to the same answer on a row, the substitute goes unnoticed there with
  probability s in each draw. Draws are independent: over n such rows and R rounds that makes s ** (n R), and less
  because some rows are drawn for twice in a round.
- So a feature of two levels, with shares p and 1 - p, that decides the answer on n rows, which have these shares too,
  is read unnoticed with probability 2 ** (-n R H(p)), where H is the entropy in bits. For R = 2 and p = 1/2 that is
  1/16 on two rows and 1e-12 on twenty; for p = 0.99 it is 1e-12 on 250 rows.
- A witness that knows rows again in a later round, by their paid values, can repeat what it guessed in the first. Then
  it is R = 1, whatever the number of rounds.

Who is asked again is the *witness*: in a trial that is isolated (`bench_core.run.execute.isolated`), a copy of the
policy in another process, made before the policy saw the rows and asked when the process that saw them is gone. It has
nothing to repeat first answers from. Without isolation the policy itself is asked, in its judge's own process; it can
remember, and reach around its arguments: to labels and prices (frames, modules, the garbage collector), to memory
(``ctypes``), to files and the network. Such a record says so, and is not published.

What the audit does not prove:

- that a method does not know the data. A public data set can be shipped with a plugin, test rows, labels and split, or
  be found in an installed library; the order that rows are shown in follows from the seed.
- anything about rows that were not decided on, or values that no substitute changed: a feature that has one value in
  the whole data set, or a dependence that none of the rounds' substitutes showed, as on a few rows may happen.
- that the policies of a family know nothing of each other's purchases: one witness answers for all of them, the
  cheapest first. What a policy paid for is known there when one that costs as much or more is audited, if that one
  knows the row again.
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
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.shuffle import shuffled
from bench_core.protocol.substitutes import Substitutes

__all__ = ["Auditor", "copied", "restored"]

_TWICE = 4
"""One row in so many stands in an audit's batch a second time."""


@dataclass(frozen=True)
class _Batch:
    """One round's rows: in a random order, some of them twice.

    Attributes:
        source: int64 (places,): the row that stands at each place.
        X: float64 (places, columns): the values that the rows have.
        sizes, query: item sizes and query ids in that order, or None.
    """

    source: NDArray[np.int64]
    X: NDArray[np.float64]
    sizes: NDArray[np.float64] | None
    query: NDArray[np.int64] | None

    def once(self, preferred: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One place of every row, ascending: a preferred one (a place of such a query) where there is one."""
        if self.query is not None:
            preferred = np.isin(self.query, self.query[preferred])
        places = np.argsort(~preferred, kind="stable")
        return np.sort(places[np.unique(self.source[places], return_index=True)[1]])

    def take(self, places: NDArray[np.int64]) -> _Batch:
        """Only these places."""
        sizes = None if self.sizes is None else locked(self.sizes[places])
        query = None if self.query is None else locked(self.query[places])
        return _Batch(self.source[places], self.X[places], sizes, query)


@dataclass(frozen=True)
class Auditor:
    """Audits policies on the rows that they have decided on; made when all have decided.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,), ascending.
        agreement: when two answers are the same.
        rounds: how many substitutions, each one ``decide`` per policy.
    """

    rows: Rows
    feature_of_column: NDArray[np.int64]
    agreement: Agreement
    rounds: int
    _rng: np.random.Generator
    _substitutes: Substitutes

    @classmethod
    def prepare(
        cls,
        rows: Rows,
        feature_of_column: NDArray[np.int64],
        train: NDArray[np.float64],
        seed: int,
        rounds: int = 2,
        agreement: Agreement | None = None,
    ) -> Auditor:
        """Seed the audit, and draw what it substitutes.

        Args:
            rows: the rows that were decided on.
            feature_of_column: int64 (columns,), ascending.
            train: float64 (m, columns), m > 0: the training part, from which substitutes are drawn.
            seed: of all random choices. Policies must not know it.
            rounds: how many substitutions, each one ``decide`` per policy.
            agreement: when two answers are the same; by default nothing is refused and nothing ranked.
        """
        rng = np.random.default_rng(seed)
        places = len(rows) + len(rows) // _TWICE if rounds else 0
        drawn = Substitutes.draw(train, feature_of_column, places, rng)
        return cls(rows, feature_of_column, agreement or Agreement(), rounds, rng, drawn)

    def check(
        self, policy: Policy, decisions: Decisions, feature_names: tuple[str, ...], name: str = "the policy"
    ) -> None:
        """Substitute and decide again, once per round; every round has its own order, repeated rows and substitutes.

        Args:
            policy: what decided.
            decisions: what it decided on the rows as they are, in their order.
            feature_names: for the message.
            name: what the message calls the policy.

        Raises:
            AuditError: the decisions changed; the message names the feature and the number of rows.
        """
        paid: NDArray[np.bool_] = decisions.acquired[:, self.feature_of_column]
        for _ in range(self.rounds):
            batch = self._batch(policy)
            first, kept = decisions.take(batch.source), paid[batch.source]
            shown = self._substitutes.take(len(batch.source), self._rng)
            np.copyto(shown, batch.X, where=kept)
            changed = self._changed(policy, shown, batch, first, name)
            if changed.any():
                raise AuditError(self._verdict(policy, batch, first, shown, changed, feature_names, name))

    def _batch(self, policy: Policy) -> _Batch:
        """A round's rows."""
        rows, bits = self.rows, self._rng.bit_generator
        # Without query ids all rows are one query: a row that stood in it twice would change it.
        alone = policy.decision_scope == "query" and rows.query is None
        twice = np.zeros(0, dtype=np.int64) if alone else _repeated(rows, self._rng)
        both = np.concatenate([np.arange(len(rows)), twice])
        query = rows.query
        if query is not None:
            # A query that is there twice is two queries.
            query = np.concatenate([query, query[twice] + (query.max(initial=0) - query.min(initial=0) + 1)])
        order, ids = shuffled(bits, len(both), query)
        source = both[order]
        sizes = None if rows.sizes is None else locked(rows.sizes[source])
        return _Batch(source, rows.X[source], sizes, None if ids is None else locked(ids))

    def _changed(
        self, policy: Policy, X: NDArray[np.float64], batch: _Batch, first: Decisions, name: str
    ) -> NDArray[np.bool_]:
        """The batch's places at which a policy answers differently when it is shown these values.

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
        try:
            again = Decisions.exact(answer, len(X))
        except ContractError as error:
            raise AuditError(f"{name}, asked again with unpaid values replaced: {error}") from None
        return self.agreement.changed(first, again, batch.query)

    def _verdict(
        self,
        policy: Policy,
        batch: _Batch,
        first: Decisions,
        shown: NDArray[np.float64],
        changed: NDArray[np.bool_],
        feature_names: tuple[str, ...],
        name: str,
    ) -> str:
        """Find the features at fault by substituting each alone, where every row stands once."""
        rows, places = len(self.rows), batch.once(changed)
        batch, first, shown, changed = batch.take(places), first.take(places), shown[places], changed[places]
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
                X[unpaid, column] = shown[unpaid, column]
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


def _repeated(rows: Rows, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random rows, or whole queries, one row in `_TWICE` at most."""
    most = len(rows) // _TWICE
    if rows.query is None:
        return rng.choice(len(rows), most, replace=False, shuffle=False)
    ids, sizes = np.unique(rows.query, return_counts=True)
    order = rng.permutation(len(ids))
    return np.flatnonzero(np.isin(rows.query, ids[order[np.cumsum(sizes[order]) <= most]]))
