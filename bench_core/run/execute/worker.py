"""Running one trial, in this process or in a worker process: load, prepare, run, store."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from bench_sandbox import children, end_strays
from bench_store import Mark

from bench_core.contract import errors
from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import BenchError, DataError, DataWritten, StoreError
from bench_core.contract.metric import Metric, resolve_metric
from bench_core.contract.sources import DataContext
from bench_core.plugins.descriptions import without_control_characters
from bench_core.plugins.registry import Registry
from bench_core.protocol.prepare import Prepared, prepare
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.execute.isolated import Isolated
from bench_core.run.execute.kernels import kernels_folder
from bench_core.run.failures import TrialStopped, failed_record
from bench_core.run.libraries import first_processor
from bench_core.run.plan import OVER_LIMIT, Planned
from bench_core.run.run_trial import Conditions, once_more_if_killed, run_trial, start_of_record
from bench_core.run.store import Store

__all__ = ["KEPT", "LEFT", "TrialStatus", "Worker", "WorkerSettings", "environment", "fail"]


RUNNING = "running"
"""The folder of a store that holds the marks of started trials."""
KEPT, LEFT = "kept", "left"
"""The status of a trial that another run on the same store has computed since this run was planned, or is computing."""


@dataclass(frozen=True)
class WorkerSettings:
    """The settings of a worker, which can be sent to another process.

    Attributes:
        store: the store's directory.
        context: where data comes from.
        metrics: names of metrics to compute in addition to the built-in ones.
        threads: how many threads a method may use.
        memory: bytes that a method's process (without isolation: the worker) may allocate, or None.
        run: the process id of the run; None if the worker is in that process.
        isolation: ``strict`` or ``process``: methods run in separate processes; or ``none``.
        timeout: seconds that a method in a separate process may take, or None.
        audit_seed: the seed of every audit; None: each draws a secret one.
        judge: distributions of plugins that the process of the run has imported; records name them.
    """

    store: Path
    context: DataContext
    metrics: tuple[str, ...]
    threads: int
    memory: int | None = None
    run: int | None = None
    isolation: str = "none"
    timeout: float | None = None
    audit_seed: int | None = None
    judge: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrialStatus:
    """The short result of a trial.

    Attributes:
        name: the trial's name.
        status: ``ok``, ``failed``, ``over the limit``, `KEPT` or `LEFT`.
        message: what went wrong; empty when nothing did.
        seconds: wall time.
    """

    name: str
    status: str
    message: str
    seconds: float


class Worker:
    """Runs trials one after another, and keeps recent data sets and preparations in memory."""

    _KEPT = 4

    def __init__(self, settings: WorkerSettings, registry: Registry, cache: DatasetCache | None = None) -> None:
        self.settings = settings
        self.registry = registry
        # Absolute paths: a method may change the working directory.
        self.folder = os.getcwd()
        self.store = Store(settings.store.absolute())
        self.mark = Mark(settings.store.absolute() / RUNNING, settings.run, StoreError)
        self.cache = cache or DatasetCache(settings.context, registry, settings.store)
        self.isolated = None if settings.isolation == "none" else self._isolated()
        self._before = children(os.getpid())
        self._prepared: OrderedDict[Hashable, Prepared] = OrderedDict()
        self._metrics: dict[str, dict[str, Metric]] = {}

    def run(self, planned: Planned) -> TrialStatus:
        """Run a trial and store its record; an error gives a failed record. Another run's trial is not run.

        Any exception of a plugin, `SystemExit` too, is a failure of the trial. `KeyboardInterrupt` in this process ends
        the run: it comes from the user's Ctrl-C or, without isolation, from a plugin. Afterwards the working directory
        is restored, and processes that the trial started are ended.
        """
        started = time.perf_counter()
        is_new = self.mark.begin([planned.name, planned.trial.title])
        try:
            record = self.store.read(planned.name, attachment=False)
            is_done = record is not None and record["status"] == "ok"
            if is_done or not is_new:
                return TrialStatus(planned.name, KEPT if is_done else LEFT, "", 0.0)
            if record is not None and planned.state == "missing":
                return _status_of(record, 0.0)
            failure = self._outcome(planned)
        finally:
            self._tidy()
            self.mark.end()
        seconds = time.perf_counter() - started
        return TrialStatus(planned.name, "ok", "", seconds) if failure is None else _status_of(failure, seconds)

    def close(self) -> None:
        """End all processes; no more trials follow."""
        if self.isolated is not None:
            self.isolated.close()
        self.mark.close()

    def _isolated(self) -> Isolated:
        """Make the solver for isolated methods, which cannot read the data, the records and the published files."""
        context, store = self.settings.context, self.settings.store.absolute()
        closed = [store, context.cache, *([context.mirror] if context.mirror else []), Path("leaderboard").absolute()]
        limits = self.settings.timeout, self.settings.memory
        return Isolated(self.registry, kernels_folder(context.cache), closed, self.settings.isolation, *limits)

    def _outcome(self, planned: Planned) -> dict[str, Any] | None:
        """Run a trial and store its record; return the record if the trial failed, else None."""
        trial = planned.trial
        provenance = {**environment(), "dataset": trial.dataset, "isolation": self.settings.isolation}
        step = "load"
        try:
            used = [self.registry.plugin_of(*one) for one in trial.uses.items()]
            plugins = {one.name: {"version": one.version, "source": one.source[:16]} for one in used}
            provenance |= {"plugins": plugins, "date": _today(), "judge": list(self.settings.judge)}
            dataset = self.cache.load(trial.dataset_use, trial.source)
            if dataset.content != planned.content:
                raise DataError(f"data set {trial.dataset!r} has changed since the run was planned; run again")
            step = "prepare"
            prepared = self._prepare(planned, dataset)
            step = "run"
            conditions = Conditions(provenance, self.settings.threads, self.settings.audit_seed)
            given = trial, dataset, prepared, self._metrics_for(dataset.task), conditions, self.isolated
            result = once_more_if_killed(lambda: run_trial(*given))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, DataWritten):
                self.cache.forget(trial.dataset_use, trial.source)
            return self._failed(_failure_of(planned, provenance, error, step))
        if result.written:
            self._prepared.clear()  # the next trials must get unchanged data
        if result.record["status"] == "failed":
            return self._failed(result.record)
        try:
            self.store.write(result)
        except (OSError, BenchError):
            raise  # an error of the store, not of the trial
        except Exception as error:
            return self._failed(_failure_of(planned, provenance, error, "store"))
        return None

    def _failed(self, record: dict[str, Any]) -> dict[str, Any]:
        """Store the record of a failure, and return it."""
        error = record["error"]
        if error["kind"] == "memory" and self.settings.memory is not None:
            limit = f"out of memory (limit {self.settings.memory / 2**20:.0f} MiB)"
            message = "" if error["message"] == error["type"] else f": {error['message']}"
            error["message"] = f"{limit}{message}"
        self.store.write_failure(record)
        return record

    def _tidy(self) -> None:
        """Restore the working directory, and end processes that the trial started."""
        with suppress(OSError):
            os.chdir(self.folder)
        if self.isolated is not None:
            self.isolated.done()
        else:
            end_strays(self._before)

    def _prepare(self, planned: Planned, dataset: Dataset) -> Prepared:
        key, trial = planned.preparation, planned.trial
        if key not in self._prepared:
            asked = trial.scheme, trial.split, trial.encode, trial.seed, trial.audit_rounds
            self._prepared[key] = prepare(dataset, *asked)
            if len(self._prepared) > self._KEPT:
                self._prepared.popitem(last=False)
        return self._prepared[key]

    def _metrics_for(self, task: str) -> dict[str, Metric]:
        """The built-in metrics and the suite's metrics that apply to a task."""
        if task not in self._metrics:
            known = self.registry.metrics
            own = [n for n in known if self.registry.plugin_of("metrics", n).module == "bench_core.builtin"]
            names = [n for n in own if not n.endswith("@k") and not known[n].on_request]
            names += ["ndcg@5", "precision@5"] if task == "ranking" else []
            names += [n for n in self.settings.metrics if n not in names]
            metrics = {name: resolve_metric(name, known) for name in names}
            self._metrics[task] = {n: m for n, m in metrics.items() if task in m.tasks}
        return self._metrics[task]


def fail(
    planned: Planned,
    settings: WorkerSettings,
    stopped: TrialStopped,
    seconds: float = 0.0,
    where: Mapping[str, Any] | None = None,
) -> TrialStatus:
    """Store a failed record for a process that died or had to be ended.

    Args:
        where: the `environment` in which it ran, if that was another machine.
    """
    provenance = {**(where or environment()), "dataset": planned.trial.dataset, "isolation": settings.isolation}
    record = _failure_of(planned, provenance, stopped, "process")
    Store(settings.store).write_failure(record)
    return _status_of(record, seconds)


def _failure_of(planned: Planned, provenance: Mapping[str, Any], error: BaseException, step: str) -> dict[str, Any]:
    return failed_record(start_of_record(planned.trial, planned.content, provenance), error, step, {})


def _status_of(failure: Mapping[str, Any], seconds: float) -> TrialStatus:
    """The status of a trial from the record of its failure."""
    error, message = failure["error"], failure["error"]["message"]
    # Foreign errors (``KeyError: 'age'``) are named by their type; "SystemExit was raised" has it already.
    own = error["type"] in (*vars(errors), TrialStopped.__name__)
    if not own and error["kind"] == "error" and not message.startswith(error["type"]):
        message = f"{without_control_characters(error['type'])}: {message}"
    return TrialStatus(failure["name"], OVER_LIMIT if error["kind"] == "time" else "failed", message, seconds)


def _today() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return (datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)).date().isoformat()


@cache
def environment() -> dict[str, Any]:
    """Versions, processor and platform of this process."""
    versions = {}
    for name in ("budgetbench", "numpy", "scipy", "scikit-learn", "pandas", "numba", "lightgbm"):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "python": platform.python_version(),
        "libraries": versions,
        "platform": f"{sys.platform} {platform.machine()}",
        "processor": _processor(),
        "kernels": _kernels(),
    }


def _kernels() -> list[str]:
    """The kernels that the linear algebra libraries and NumPy have chosen: ``["Zen", "NumPy AVX512_ICL"]``."""
    import numpy as np
    from threadpoolctl import threadpool_info

    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    linear = {str(library["architecture"]) for library in threadpool_info() if library.get("architecture")}
    return [*sorted(linear), *(f"NumPy {feature}" for feature in found[-1:])]


def _processor() -> str:
    """The processor's name, with family and model if known, because Numba compiles for these."""
    values = first_processor()
    name = values.get("model name") or platform.processor() or "unknown"
    if "cpu family" in values and "model" in values:
        return f"{name}, family {values['cpu family']} model {values['model']}"
    return name
