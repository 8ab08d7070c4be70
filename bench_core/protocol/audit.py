"""The audit: proof by substitution that a policy read nothing it had not acquired.

When all policies have decided, the audit replaces every value that a policy did not declare as acquired by a value of
the same feature from the training part (`bench_core.protocol.substitutes`). The policy then decides again, in one or
more rounds. The answers of an honest policy do not change. The audit's randomness is secret: its seed comes from the
operating system after the last decision. Only the record of a failed audit keeps it, so that the audit can be repeated
(``bench run --audit-seed``). Every round of every policy has its own order of rows and its own substitutes. A quarter
of the rows, drawn anew in each round, is in the batch twice, with different substitutes. Queries get new ids. Every
second round without queries has two calls, so that the answers of a policy that uses statistics of its batch change.

The audit proves that the decisions on these rows did not depend on unpaid values in these calls, as far as a metric can
distinguish decisions (`bench_core.protocol.agreement`). A substitute is drawn independently of the row that it is put
in. So the shown values contain no information about a row's unpaid values, and a substitution cannot be undone. A
policy whose answers depend on unpaid values can only guess:

- If a share s of the training values leads to the same answer on a row, the substitute goes unnoticed there with
  probability s in each draw. Draws are independent: over n such rows and R rounds the probability is s ** (n R), or
  less, because some rows get two substitutes in a round.
- Consider a feature of two levels, with shares p and 1 - p, that decides the answer on n rows with the same shares. It
  is read unnoticed with probability 2 ** (-n R H(p)), where H is the entropy in bits. For R = 2 and p = 1/2 that is
  1/16 on two rows and 1e-12 on twenty; for p = 0.99 it is 1e-12 on 250 rows.
- A witness that recognises rows in a later round, by their paid values, can repeat its guess from the first round.
  Later rounds then detect nothing more: the formula holds with R = 1.

The second answers come from the *witness*. In an isolated trial (`bench_core.run.execute.isolated`) the witness is a
copy of the policy in another process. The copy is made before the policy sees the rows, and it is asked after the
process that saw them has ended. So the witness does not know the first answers. Without isolation the policy itself is
asked, in the judge's process. There it can remember its answers and bypass its arguments: read labels and prices
(through frames, modules, the garbage collector), memory (``ctypes``), files and the network. The record of such a trial
says that it was not isolated, and is not published.

The audit does not prove:

- that a method does not know the data. A plugin can contain a public data set with its test rows, labels and split, or
  find it in an installed library. The order in which rows are shown follows from the seed.
- anything about rows that were not decided on, or values that no substitute changed: a feature with a single value in
  the data set, or a dependence that the substitutes did not reveal in any round, as can happen with few rows.
- that the policies of a family know nothing of each other's purchases. One witness answers for all of them, the
  cheapest first. When it answers for a policy, it has seen what cheaper policies paid for, and may recognise the row.
- that no information passes between two processes through counters of the system: numbers of processes, access times of
  files, whether files are in the page cache, free disk space, load. These channels are narrow and noisy.
- that a plugin's code does not manipulate the process that its methods are forked from. This process has seen no data,
  but it can change what its forks do and report. It cannot change what they are asked, nor how answers are processed.
- that a plugin which the judge imports does not manipulate it. The judge imports plugins whose data sets, prices
  or metrics the suite uses, plugins with commands, and plugins that have other hooks and no methods. A plugin with
  methods only is imported in its own processes. The names, parameters and limits that it reports are checked for
  their form, not for their truth.
- without Landlock or seccomp in the kernel (Linux before 5.13; other systems): that a method did not read files of
  the same user (the cache of data, the store), leave data for a later process, or use the network.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_TWICE = 4
"""One of this many rows is in an audit's batch twice."""


@dataclass(frozen=True)
class _Batch:
    """One round's rows: in a random order, some of them twice.

    Attributes:
        source: int64 (places,): the row at each place.
        X: float64 (places, columns): the true values of the rows.
        sizes, query: item sizes and query ids in that order, or None.
    """

    source: NDArray[np.int64]
    X: NDArray[np.float64]
    sizes: NDArray[np.float64] | None
    query: NDArray[np.int64] | None

    def once(self, preferred: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One place of every row, ascending. Preferred places, or all places of their queries, are chosen first."""
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
    """Audits policies on the rows that they decided on. It is made after all policies have decided.

    Attributes:
        rows: the rows decided on.
        feature_of_column: int64 (columns,), ascending.
        agreement: compares two answers.
        rounds: how many substitutions. Each has one ``decide`` per policy, every second one has two.
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
        """Seed the audit and draw substitutes.

        Args:
            rows: the rows that were decided on.
            feature_of_column: int64 (columns,), ascending.
            train: float64 (m, columns), m > 0: the training part, from which substitutes are drawn.
            seed: the seed of all random choices. Policies must not know it.
            rounds, agreement: see the attributes; by default there is no threshold and no ranking.
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
            policy: the policy that answers the audit.
            decisions: its decisions on the true rows, in their order.
            feature_names: names for the message.
            name: the policy's name in the message.

        Raises:
            AuditError: the decisions changed; the message names the feature and the number of rows.
        """
        paid: Bools = decisions.acquired[:, self.feature_of_column]
        for number in range(self.rounds):
            batch = self._batch(policy)
            first, kept = decisions.take(batch.source), paid[batch.source]
            shown = self._substitutes.take(len(batch.source), self._rng)
            np.copyto(shown, batch.X, where=kept)
            for at in self._calls(policy, batch, shown, 1 + number % 2):
                part, before, given = batch.take(at), first.take(at), shown[at]
                if (changed := self._changed(policy, given, part, before, name)).any():
                    raise AuditError(self._verdict(policy, part, before, given, changed, feature_names, name))

    def _batch(self, policy: Policy) -> _Batch:
        """A round's rows."""
        rows, bits = self.rows, self._rng.bit_generator
        # Without query ids all rows are one query, which a repeated row would change.
        alone = policy.decision_scope == "query" and rows.query is None
        twice = np.zeros(0, dtype=np.int64) if alone else _repeated(rows, self._rng)
        both = np.concatenate([np.arange(len(rows)), twice])
        if (query := rows.query) is not None:
            # A repeated query becomes a second query.
            query = np.concatenate([query, query[twice] + (query.max(initial=0) - query.min(initial=0) + 1)])
        order, ids = shuffled(bits, len(both), query)
        source = both[order]
        sizes = None if rows.sizes is None else locked(rows.sizes[source])
        return _Batch(source, rows.X[source], sizes, None if ids is None else locked(ids))

    def _calls(self, policy: Policy, batch: _Batch, shown: Floats, count: int) -> list[Any]:
        """The places of each of ``count`` calls: low and high shown values of a column (true values would leak)."""
        at_once = count == 1 or batch.query is not None or policy.decision_scope == "query" or len(batch.source) < count
        order = np.argsort(shown[:, self._rng.integers(shown.shape[1])], kind="stable")
        return [slice(None)] if at_once else [np.sort(places) for places in np.array_split(order, count)]

    def _changed(self, policy: Policy, X: Floats, batch: _Batch, first: Decisions, name: str) -> Bools:
        """The batch's places at which a policy answers differently when it is shown these values.

        Args:
            X: float64, in the batch's order.
            first: its decisions on the true values, in the batch's order.

        Raises:
            AuditError: the policy failed or gave invalid decisions.
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
        shown: Floats,
        changed: Bools,
        feature_names: tuple[str, ...],
        name: str,
    ) -> str:
        """Find the features at fault: substitute each separately, unless answers change with nothing replaced."""
        rows, places, complete = len(self.rows), batch.once(changed), (batch, first)
        batch, first, shown, changed = batch.take(places), first.take(places), shown[places], changed[places]

        def moved(batch: _Batch, first: Decisions) -> str:
            differ = np.unique(batch.source[self._changed(policy, batch.X, batch, first, name)])
            twice = ", some of them twice" if len(batch.source) > rows else ""
            return f"{name} answers differently on {len(differ)} {_MOVED.format(rows, twice)}" if len(differ) else ""

        if answer := moved(batch, first):
            return answer
        guilty: list[tuple[int, str]] = []
        for feature, feature_name in enumerate(feature_names):
            unpaid = ~first.acquired[:, feature, None]
            if not unpaid.any():
                continue
            X = np.where(unpaid & (self.feature_of_column == feature), shown, batch.X)
            if count := int(self._changed(policy, X, batch, first, name).sum()):
                guilty.append((count, feature_name))
        guilty.sort(key=lambda pair: -pair[0])
        if answer := moved(batch, first) if guilty else moved(*complete):
            return answer
        if not guilty:
            where = f"(no single one explains it) on {changed.sum()} of {rows} rows"
            return f"{name} depends on features it did not acquire {where}"
        findings = "; ".join(f"feature {feature!r} on {count} rows" for count, feature in guilty[:5])
        more = f"; and {len(guilty) - 5} more features" if len(guilty) > 5 else ""
        return f"{name} read without paying: {findings}{more} (of {rows} rows)"


_MOVED = (
    "of {} rows when nothing is replaced and the rows come in another order{}: a row's answer must not depend on its "
    "place in the batch or on other rows, nor on earlier calls, to the last bit where equals are ranked or a label is "
    "close (sum each row by itself, as np.einsum does, not through BLAS)"
)
_UNPICKLABLE = (
    "a policy does not survive pickling, which the audit needs: keep arrays, plain values and objects of importable "
    "classes in it, no lambda, inner function, open file or thread"
)


def copied(policies: Sequence[Policy]) -> bytes:
    """Policies as bytes, for the process that answers the audit.

    Raises:
        ContractError: a policy cannot be pickled.
    """
    try:
        return pickle.dumps(list(policies), protocol=5)
    except Exception as error:
        raise ContractError(f"{_UNPICKLABLE} ({type(error).__name__}: {error})") from None


def restored(data: bytes | memoryview) -> list[Policy]:
    """Restore policies from the bytes of `copied`. Call it only in processes where the method's code may run.

    Raises:
        ContractError: one does not survive pickling.
    """
    try:
        return list(pickle.loads(data))
    except Exception as error:
        raise ContractError(f"{_UNPICKLABLE} ({type(error).__name__}: {error})") from None


def _repeated(rows: Rows, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random rows, or complete queries: at most one of `_TWICE` rows."""
    most = len(rows) // _TWICE
    if rows.query is None:
        return rng.choice(len(rows), most, replace=False, shuffle=False)
    ids, sizes = np.unique(rows.query, return_counts=True)
    order = rng.permutation(len(ids))
    return np.flatnonzero(np.isin(rows.query, ids[order[np.cumsum(sizes[order]) <= most]]))
