"""The judge's side of isolation: where a trial's method is fitted, decides and is audited, in processes of its own.

What the judge gets from them is numbers and short texts. It never unpickles what they wrote, and believes no length,
type or name that it did not check. The process that decided on the test rows is gone before the witness, which
answers for the audit, is told anything: they can share no memory, no file and no message.
"""

from __future__ import annotations

import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import plain
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Family, Policy, Problem
from bench_core.plugins.registry import Registry
from bench_core.run.execute.bases import Bases
from bench_core.run.execute.nurseries import Nurseries
from bench_core.run.execute.parties import Party, RemoteAsked, RemotePolicy, how_it_died, packed_problem, table_of
from bench_core.run.execute.sandbox import hide_memory, importable, readable
from bench_core.run.execute.wire import EndedError, MalformedError, Packed, arrays_from, pack
from bench_core.run.failures import TrialStopped
from bench_core.run.run_trial import TrialResult
from bench_core.run.trial import Trial, parameters_of

__all__ = ["Isolated", "kernels_folder", "once_more_if_killed"]

_MOST_COPY = 2**32


def kernels_folder(cache: Path) -> Path:
    """Where compiled kernels are kept: below the folder that Numba is given, or else the cache."""
    return Path(os.environ.get("NUMBA_CACHE_DIR", cache)) / "kernels"


def once_more_if_killed(run: Callable[[], TrialResult]) -> TrialResult:
    """The result of a trial, which is run a second time where its method was killed from outside."""
    result = run()
    return run() if result.record.get("error", {}).get("kind") == "killed" else result


class Isolated:
    """Fits and audits in processes of their own.

    Args:
        registry: the loaded plugins.
        folder: an empty folder of its own, made when it is needed.
        cache: where compiled kernels are kept, by plugin.
        closed: what methods must not read.
        timeout: seconds that a method may take for a trial, or None.
        memory: bytes that each process may allocate, or None.
        killed: called when processes had to be killed, to end what they left.
        bases: what plugins' processes are forked from, where there are some.
    """

    def __init__(
        self,
        registry: Registry,
        folder: Path,
        cache: Path,
        closed: Iterable[Path],
        timeout: float | None,
        memory: int | None,
        killed: Callable[[], object] = lambda: None,
        bases: Bases | None = None,
    ) -> None:
        self._registry, self._timeout, self._memory = registry, timeout, memory
        needed = [plugin.folder for plugin in registry.plugins.values() if plugin.folder is not None]
        read = readable([*importable(), *needed], [*closed, folder])
        self._nurseries = Nurseries(folder, cache, read, killed, bases or Bases())
        self._packed: OrderedDict[int, tuple[object, Packed]] = OrderedDict()
        self._party: Party | None = None
        self._known_rows: set[int] = set()
        self._rehearsal: tuple[tuple[Any, ...], Problem, dict[str, Any]] | None = None
        self._deadline: float | None = None
        self._until: float | None = None
        hide_memory()

    @property
    def processes(self) -> set[int]:
        """The numbers of the processes that the plugins' are forked from."""
        return self._nurseries.processes

    def limit(self, seconds: float | None, until: float | None) -> None:
        """Seconds that a trial's method may take from now on, and when it is ended at the latest (monotonic clock)."""
        self._timeout, self._until = seconds, until

    def expect(self, trial: Trial) -> None:
        """A trial's method will be fitted next, when its data is prepared."""
        self._nurseries.fork_ahead(self._registry.plugin_of("methods", trial.method_use), self._settings(trial))

    def fit(self, trial: Trial, problem: Problem) -> Family:
        """Fit in a new process; its policies decide there, until the witness is asked."""
        plugin = self._registry.plugin_of("methods", trial.method_use)
        self._copy: bytearray | None = None
        self._shape = problem.n_features, problem.n_classes
        self._plugin = plugin
        packed = self._packed_for(problem.train.X, lambda: packed_problem(problem))
        self._asked = self._settings(trial)
        more = {"threshold": problem.threshold, "threads": problem.threads, "table": packed.table}
        asked = {**self._asked, **more}
        kind = (trial.method_use, problem.task, problem.n_classes > 2, problem.train.sizes is None)
        self._kind = kind
        self._nurseries.prepare(plugin, kind, problem, asked, self._seconds_to_rehearse())
        self._start()
        self._nurseries.fork_ahead(plugin, self._asked)
        self._deadline = None if self._timeout is None else time.monotonic() + self._timeout
        if self._deadline is not None and self._until is not None:
            self._deadline = min(self._deadline, self._until)
        answer, _ = self._ask({"do": "fit", **asked}, 0, [packed.fd])
        self._rehearsal = (kind, problem, asked) if answer.get("rehearse") is True else None
        family: Family = self._guarded(self._family, answer)
        return family

    def _family(self, answer: dict[str, Any]) -> Family:
        descriptions = answer.get("policies")
        if (
            not isinstance(descriptions, list)
            or not descriptions
            or not all(isinstance(description, dict) for description in descriptions)
        ):
            raise MalformedError("it named no policies")
        policies = [
            RemoteAsked(number, description, self._decide, self._next)
            if description.get("asks") is True
            else RemotePolicy(number, description, self._decide)
            for number, description in enumerate(descriptions)
        ]
        reference = RemotePolicy(len(descriptions), {}, self._decide) if answer.get("reference") is True else None
        history, diagnostics = (plain(table_of(answer.get(key, {}))) for key in ("history", "diagnostics"))
        return Family(policies, reference, history, diagnostics)

    def copy(self) -> None:
        """Take the policies' bytes, before they have seen any row to decide on."""
        self._copy = self._ask({"do": "copy"}, _MOST_COPY)[1]

    def witness(self, policy: Policy) -> Policy:
        """The policy's copy, in a process that has not seen the test rows."""
        if self._copy is not None:
            self.done()
            copy = pack(None, {"policies": np.frombuffer(self._copy, np.uint8)})
            self._copy = None
            self._start(witness=True)  # when the other is gone
            self._ask({"do": "restore", "table": copy.table}, 0, [copy.fd])
        return policy

    def busy(self) -> float:
        """Processor's seconds so far of the process that is at work."""
        return 0.0 if self._party is None else self._party.seconds()

    def done(self) -> None:
        """Nothing more will be asked of this trial's policies."""
        party, self._party = self._party, None
        self._nurseries.leave(party)

    def over(self) -> None:
        """End what a trial left, and let the nursery prepare for the next one where that saves time."""
        self.done()
        self._nurseries.leave_ahead()
        rehearsal, self._rehearsal = self._rehearsal, None
        if rehearsal is not None:
            self._nurseries.rehearse(self._plugin, *rehearsal, self._seconds_to_rehearse())

    def close(self) -> None:
        """There is nothing more to run."""
        self._nurseries.close()

    def _decide(self, number: int, rows: Rows) -> Any:
        """Decisions of a policy, or what its process found wrong with what it gave."""
        features, classes = self._shape
        again = isinstance(rows.X.base, bytes)
        arrays = {"X": rows.X, "sizes": rows.sizes, "query": rows.query}
        packed = self._packed_for(rows.X, lambda: pack(None, arrays)) if again else pack(None, arrays)
        asked = {"do": "decide", "policy": number, "rows": id(rows.X), "again": again, "table": packed.table}
        known = again and id(rows.X) in self._known_rows
        most = 16 * len(rows) * (features + classes + 8) + 2**16
        answer, body = self._ask(asked, most, () if known else [packed.fd])
        if again:
            self._known_rows.add(id(rows.X))
        if isinstance(answer.get("refused"), str):
            return ContractError(answer["refused"])
        return Decisions(**self._guarded(arrays_from, answer.get("arrays"), body, list(Decisions.__dataclass_fields__)))

    def _next(self, number: int, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What a policy asks for next, of rows that hold nothing but what is known."""
        packed = pack(None, {"X": rows.X, "sizes": rows.sizes, "query": rows.query, "known": known})
        asked = {"do": "next", "policy": number, "table": packed.table}
        answer, body = self._ask(asked, 16 * known.size + 2**16, [packed.fd])
        if isinstance(answer.get("refused"), str):
            raise ContractError(answer["refused"])
        arrays = self._guarded(arrays_from, answer.get("arrays"), body, ["wanted"])
        wanted: NDArray[np.bool_] = arrays.get("wanted", np.zeros(0, dtype=np.bool_))
        return wanted

    def _packed_for(self, array: object, make: Callable[[], Packed]) -> Packed:
        """What was packed for an array before, or made now; the last few are kept."""
        if id(array) not in self._packed:
            self._packed[id(array)] = array, make()
            while len(self._packed) > 16:
                self._packed.popitem(last=False)
        return self._packed[id(array)][1]

    def _settings(self, trial: Trial) -> dict[str, Any]:
        """What a process of a trial's method is forked with."""
        return {"memory": self._memory, "method": trial.method_use, "parameters": parameters_of(trial.estimator)}

    def _start(self, *, witness: bool = False) -> None:
        """A process for the method."""
        self._known_rows.clear()
        self._party = self._nurseries.fork(self._plugin, self._kind, self._asked, witness=witness)

    def _seconds_to_rehearse(self) -> float:
        """What is loaded and compiled ahead is no part of what the method may take."""
        if self._until is not None:
            return max(self._until - time.monotonic(), 0.1)
        return self._timeout or math.inf

    def _ask(self, header: dict[str, Any], most: int, fds: Iterable[int] = ()) -> tuple[dict[str, Any], bytearray]:
        """Ask the party; where it does not answer as it must, it is ended and the reason raised."""
        if self._party is None:
            raise TrialStopped(*how_it_died(None, None))
        answer: tuple[dict[str, Any], bytearray] = self._guarded(self._party.ask, header, self._deadline, most, fds)
        return answer

    def _guarded(self, step: Callable[..., Any], *args: Any) -> Any:
        try:
            return step(*args)
        except TimeoutError:
            self._kill()
            message = f"it took longer than the time limit of {self._timeout or 0:g} s"
            raise TrialStopped("time", message) from None
        except MalformedError as error:
            self._kill()
            raise TrialStopped("error", f"its process does not keep to the protocol: {error}") from None
        except EndedError:
            code = self._ended()
            raise TrialStopped(*how_it_died(code, self._memory)) from None

    def _ended(self) -> int | None:
        """The exit code of a party that is gone."""
        party, self._party = self._party, None
        if party is None or party.ended:
            return None
        try:
            return party.end(wait=True)()
        except (EndedError, MalformedError, TimeoutError):
            self._kill()
            return None

    def _kill(self) -> None:
        """End the plugin's nursery and all that came from it."""
        self._party = None
        self._nurseries.kill(self._plugin.name)
