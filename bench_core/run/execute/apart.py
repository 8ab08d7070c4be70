"""Running single trials without a suite and a store: a method in processes of its own, with a hard limit of time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench_core.contract.dataset import Dataset
from bench_core.contract.metric import Metric
from bench_core.plugins.registry import Registry
from bench_core.protocol.prepare import Prepared
from bench_core.run.execute.isolated import Isolated, kernels_folder, once_more_if_killed
from bench_core.run.execute.leftovers import Leftovers, adopting_orphans
from bench_core.run.run_trial import Parties, TrialResult, run_trial
from bench_core.run.threads import one_blas_thread
from bench_core.run.trial import Trial

__all__ = ["Apart"]


class Apart:
    """Runs trials one after another; to be entered, and left when there is nothing more to run, also by Ctrl-C.

    Args:
        registry: the loaded plugins.
        cache: the folder that holds compiled kernels, and what methods must not read.
        isolation: ``full``, methods run in processes of their own; or ``none``, in this one, where no limit holds.
    """

    def __init__(self, registry: Registry, cache: Path, isolation: str = "full") -> None:
        self._registry, self._cache, self._isolation = registry, cache.absolute(), isolation
        self._left = ExitStack()
        self._parties: Isolated | None = None
        self._leftovers: Leftovers | None = None

    def __enter__(self) -> Apart:
        self._left.enter_context(adopting_orphans())
        if self._isolation == "full":
            folder = Path(tempfile.mkdtemp(prefix="bench-"))
            self._left.callback(shutil.rmtree, folder, ignore_errors=True)
            kernels = kernels_folder(self._cache)
            end = lambda: self._leftovers and self._leftovers.end()  # noqa: E731
            self._parties = Isolated(self._registry, folder / "files", kernels, [self._cache], None, None, end)
            self._left.callback(self._parties.close)
        self._leftovers = Leftovers(lambda process: self._parties is not None and process in self._parties.processes)
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()

    def run(
        self,
        trial: Trial,
        dataset: Dataset,
        prepared: Prepared,
        metrics: Mapping[str, Metric],
        provenance: Mapping[str, Any],
        threads: int = 1,
        seconds: float | None = None,
        until: float | None = None,
    ) -> TrialResult:
        """As `run_trial`, but a method that takes too long is ended, which fails the trial by ``time``.

        Args:
            trial, dataset, prepared, metrics, provenance, threads: as for `run_trial`.
            seconds: the most that the method may take, or None.
            until: when it is ended at the latest, on the monotonic clock, where ``seconds`` are given; its preparing
                (modules, kernels) too, which ``seconds`` do not count. The import of its plugin is not cut short.
        """
        parties: Parties | None = self._parties

        def run() -> TrialResult:
            if self._parties is not None:
                self._parties.limit(seconds, until)
            return run_trial(trial, dataset, prepared, metrics, provenance, threads, parties)

        try:
            with one_blas_thread():
                return once_more_if_killed(run)
        finally:
            if self._parties is not None:
                self._parties.over()
            elif self._leftovers is not None:
                self._leftovers.end()
