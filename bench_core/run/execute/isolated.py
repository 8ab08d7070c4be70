"""The judge's side of isolation: a method fits and decides in a solver; copies of its policies answer in a witness.

Both are restricted processes (`bench_sandbox`). The witness is created after the solver and all processes that it
started have ended. The two levels differ in the process that solver and witness are forked from:

- ``strict``: from a server that has imported common libraries and no plugin. No process that ran a plugin's code
  outlives one solver or one witness.
- ``process``: from a *template*, a restricted process that has imported the plugin and loaded its kernels, and has seen
  no data. A hostile plugin could pass messages between trials through it.

The judge reads numbers and short texts from them. It never unpickles what they wrote.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from bench_sandbox import Blob, CallError, Process, SandboxError, Server, StoppedError, importable, packed, readable
from numpy.typing import NDArray

from bench_core.contract.canonical import canonical_json, sha256_text
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Family, Policy, Problem
from bench_core.contract.readonly import is_frozen
from bench_core.plugins.catalogue import Plugin
from bench_core.plugins.distributions import Distributions
from bench_core.plugins.registry import Registry
from bench_core.run.execute.kernels import compiles_for_shapes, synthetic_problem
from bench_core.run.execute.remote import family_from, remote_error
from bench_core.run.execute.solving import problem_arrays, problem_values, rows_arrays
from bench_core.run.failures import TrialStopped
from bench_core.run.run_trial import Solver
from bench_core.run.trial import Trial, parameters_of

__all__ = ["Isolated"]

T = TypeVar("T")

_TARGET = "bench_core.run.execute.solving:Solving"
_PRELOAD = (
    "numpy", "scipy", "sklearn.linear_model", "sklearn.tree", "sklearn.ensemble", "numba", "pydantic.type_adapter",
    "bench_core.run.execute.solving",
)  # fmt: skip
_PREPARE = "bench_core.run.execute.solving:prepare"
_ENVIRONMENT = {"JOBLIB_MULTIPROCESSING": "0"}
"""joblib makes semaphores when it is imported, which a restricted process cannot do."""
_IMPORT_SECONDS, _WARM_UP_SECONDS, _WARM_UP_BYTES = 300.0, 120.0, 2**32
_MOST_BYTES = 2**32
_KEPT = 8


class Isolated(Solver):
    """Runs the methods of trials in separate processes, one trial after another.

    Args:
        registry: the loaded plugins.
        kernels: the folder of compiled kernels.
        closed: paths that methods must not read.
        level: ``strict`` or ``process``.
        timeout: seconds that a method may take for a trial, or None.
        memory: bytes that each process may allocate, or None.
    """

    def __init__(
        self,
        registry: Registry,
        kernels: Path,
        closed: Iterable[Path],
        level: str,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._registry, self._kernels, self._level = registry, kernels, level
        self._timeout, self._memory = timeout, memory
        needed = [plugin.folder for plugin in registry.plugins.values() if plugin.folder is not None]
        self._read = readable([*importable(), *needed], [*closed, kernels])
        self._server = Server(_PRELOAD, _PREPARE, _ENVIRONMENT, strict=level == "strict")
        self._distributions = Distributions()
        self._templates: dict[str, Process] = {}
        self._warmed: set[tuple[str, str]] = set()
        self._cold: set[str] = set()
        self._packed: deque[tuple[object, Blob]] = deque(maxlen=_KEPT)
        self._process: Process | None = None
        self._copy: Blob | None = None
        self._deadline: float | None = None
        self._until: float | None = None

    def limit(self, seconds: float | None, until: float | None) -> None:
        """Set the time limit of a trial's method from now on, and the latest end (monotonic clock)."""
        self._timeout, self._until = seconds, until

    def fit(self, trial: Trial, problem: Problem) -> Family:
        """Fit in a new solver. The policies decide there until the witness takes their place."""
        begun = time.monotonic()
        self._plugin = self._registry.plugin_of("methods", trial.method_use)
        self._method = {"method": trial.method_use, "parameters": parameters_of(trial.estimator)}
        self._copy, self._shape, self._threads = None, (problem.n_features, problem.n_classes), problem.threads
        self._warm_up(trial, problem)
        self._process = self._start()
        self.starting = time.monotonic() - begun
        self._deadline = None if self._timeout is None else time.monotonic() + self._timeout
        if self._deadline is not None and self._until is not None:
            self._deadline = min(self._deadline, self._until)
        values = {**self._method, **problem_values(problem)}
        answer, _ = self._call("fit", values, self._blob(problem.train.X, problem_arrays(problem)))
        try:
            return family_from(answer, self._decide, self._next)
        except (TypeError, ValueError) as error:
            self.done()
            raise TrialStopped("error", f"its process broke the protocol: {error}") from None

    def copy(self) -> None:
        """Get the policies as bytes, before they see a row to decide on."""
        most = _MOST_BYTES if self._memory is None else self._memory
        self._copy = self._guarded(lambda process: process.call_bytes("copy", seconds=self._left(), most=most))

    def witness(self, policy: Policy) -> Policy:
        """Return the policy in the witness, a process that has not seen the test rows."""
        if self._copy is not None:
            self.done()
            copy, self._copy = self._copy, None
            self._process = self._start()
            self._call("restore", {}, None, blob=copy)
        return policy

    def busy(self) -> float:
        """Processor seconds used so far by the running process."""
        return 0.0 if self._process is None else self._process.seconds()

    def done(self) -> None:
        """End the solver or witness with all processes that it started."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def close(self) -> None:
        """End all processes; no more trials follow."""
        self._server.close()

    def _decide(self, number: int, rows: Rows, known: NDArray[np.bool_] | None) -> Any:
        """Return a policy's decisions, from the ``known`` features if given, or its process's error message."""
        features, classes = self._shape
        most = 16 * len(rows) * (features + classes + 8) + 2**16
        given = rows_arrays(rows)
        blob = self._blob(rows.X, given) if known is None else packed({**given, "known": known})
        answer, arrays = self._call("decide", {"policy": number}, blob, most=most)
        if isinstance(answer.get("refused"), str):
            return ContractError(answer["refused"])
        if not set(arrays) <= set(Decisions.__dataclass_fields__) or "acquired" not in arrays:
            self.done()
            raise TrialStopped("error", f"its process broke the protocol: it gave {sorted(arrays)[:9]}")
        return Decisions(**arrays)

    def _next(self, number: int, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the features that a policy requests next; the rows contain known values only."""
        arrays = packed({**rows_arrays(rows), "known": known})
        answer, returned = self._call("next", {"policy": number}, arrays, most=16 * known.size + 2**16)
        if isinstance(answer.get("refused"), str):
            raise ContractError(answer["refused"])
        wanted: NDArray[np.bool_] = returned.get("wanted", np.zeros(0, dtype=np.bool_))
        return wanted

    def _blob(self, key: NDArray[Any], arrays: dict[str, Any]) -> Blob:
        """Put arrays in shared memory, and reuse the memory of a recent call with the same read-only ``key``."""
        if not is_frozen(key):
            return packed(arrays)
        if (blob := next((blob for known, blob in self._packed if known is key), None)) is None:
            blob = packed(arrays)
            self._packed.append((key, blob))
        return blob

    def _left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _call(
        self, name: str, values: dict[str, Any], arrays: Blob | None, *, most: int = 0, blob: Blob | None = None
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return self._guarded(
            lambda process: process.call(name, values, arrays, seconds=self._left(), most=most, blob=blob)
        )

    def _guarded(self, call: Callable[[Process], T]) -> T:
        """Call the process; convert its exception or its end to this package's errors."""
        if self._process is None:
            raise TrialStopped("killed", "its process is gone")
        try:
            return call(self._process)
        except CallError as error:
            raise remote_error(error) from None
        except StoppedError as error:
            self._process = None
            if error.kind == "time":
                raise TrialStopped("time", f"it took longer than the time limit of {self._timeout or 0:g} s") from None
            raise TrialStopped("error" if error.kind == "malformed" else error.kind, str(error)) from None

    def _start(self) -> Process:
        """Start a process for the trial's method.

        Raises:
            TrialStopped: no process can be started.
            ContractError: the plugin cannot be loaded.
        """
        if self._level == "process" and self._plugin.name not in self._cold:
            template = self._template(self._plugin)
            try:
                return template.fork(self._memory)
            except (CallError, StoppedError, SandboxError) as error:
                if isinstance(error, CallError):  # loading kernels started threads, so the template cannot be forked
                    self._cold.add(self._plugin.name)
                self._templates.pop(self._plugin.name).end()
        return self._fresh(self._plugin, memory=self._memory)

    def _template(self, plugin: Plugin) -> Process:
        if plugin.name not in self._templates:
            self._templates[plugin.name] = self._fresh(plugin)
        return self._templates[plugin.name]

    def _fresh(self, plugin: Plugin, *, memory: int | None = None, writable_kernels: bool = False) -> Process:
        """Start a restricted process that has only imported a plugin. Without ``memory``, the limit suits compiling."""
        kernels = self._kernels_of(plugin)
        about = {"plugin": plugin.name, "module": plugin.module}
        settings = {**about, "kernels": str(kernels), "writable": writable_kernels}
        refused = f"plugin {plugin.name!r} cannot be loaded in a process of its own"
        try:
            process = self._server.start(
                _TARGET,
                settings,
                read=[*self._read, kernels],
                write=[kernels] if writable_kernels else [],
                environment={"OMP_NUM_THREADS": str(self._threads)},
                memory=memory or (self._memory and max(self._memory, _WARM_UP_BYTES)),
            )
            process.import_target(_IMPORT_SECONDS)
        except SandboxError as error:
            raise TrialStopped("crash", str(error)) from None
        except StoppedError as error:
            how = "it takes too long" if error.kind == "time" else str(error)
            raise TrialStopped(error.kind, f"{refused}: {how}") from None
        except CallError as error:
            process.end()
            raise ContractError(f"{refused}: {error}") from None
        return process

    def _kernels_of(self, plugin: Plugin) -> Path:
        """The folder of a plugin's compiled kernels, for its present code and requirements; created if missing."""
        folder = self._kernels / f"{plugin.name}-{self._distributions.state_of(plugin)[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _warm_up(self, trial: Trial, problem: Problem) -> None:
        """Fit synthetic data: once on this machine to compile kernels, and once in each template to load them.

        One worker compiles while the others wait. A fit that did not end in time to compile is not repeated to load.
        """
        plugin = self._plugin
        mark = self._mark(trial, problem)
        if not mark.exists():
            with (self._kernels / f"{plugin.name}.lock").open("w") as lock:
                flock(lock, LOCK_EX)
                if not (mark := self._mark(trial, problem)).exists():
                    process = self._fresh(plugin, writable_kernels=True)
                    ended = self._fit_synthetic(process, problem)
                    process.end()
                    (mark := self._mark(trial, problem)).write_text("" if ended else "stopped")
        loads = self._level == "process" and plugin.name not in self._cold and not mark.read_text()
        if loads and (plugin.name, mark.name) not in self._warmed:
            self._warmed.add((plugin.name, mark.name))
            if not self._fit_synthetic(self._template(plugin), problem):
                self._templates.pop(plugin.name)
                self._cold.add(plugin.name)

    def _mark(self, trial: Trial, problem: Problem) -> Path:
        """The file that marks that a warm-up has compiled kernels for problems of this kind."""
        folder = self._kernels_of(self._plugin)
        kind = [trial.method_use, problem.task, problem.n_classes > 2, problem.train.sizes is None]
        if compiles_for_shapes(folder):
            kind += [problem.train.X.shape[1], problem.n_features, problem.n_classes, self._method["parameters"]]
        return folder / f"{sha256_text(canonical_json(kind))[:16]}.warm"

    def _fit_synthetic(self, process: Process, problem: Problem) -> bool:
        """Fit synthetic data of a problem's kind in a process; return whether the process is still alive."""
        synthetic = synthetic_problem(problem)
        left = _WARM_UP_SECONDS if self._until is None else max(self._until - time.monotonic(), 0.1)
        try:
            values = {**self._method, **problem_values(synthetic)}
            process.call("warm_up", values, problem_arrays(synthetic), seconds=min(left, _WARM_UP_SECONDS))
        except StoppedError:
            return False
        except CallError:
            pass  # the trial will fail with the same error and report it
        return True
