"""Running single trials without a suite and a store: a method in processes of its own, with a hard limit of time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
from bench_sandbox import adopting_orphans, end_strays

from bench_core.contract.dataset import Dataset
from bench_core.contract.metric import Metric
from bench_core.plugins.registry import Registry
from bench_core.protocol.prepare import Prepared
from bench_core.run.execute.isolated import Isolated, kernels_folder, once_more_if_killed
from bench_core.run.run_trial import Parties, TrialResult, run_trial
from bench_core.run.threads import one_blas_thread
from bench_core.run.trial import Trial

__all__ = ["Apart"]


class Apart:
    """Runs trials one after another; to be entered, and left when there is nothing more to run, also by Ctrl-C.

    Args:
        registry: the loaded plugins.
        cache: the folder that holds compiled kernels, and what methods must not read.
        isolation: ``strict`` or ``process``, methods run in processes of their own; or ``none``, in this one, where no
            limit holds.
    """

    def __init__(self, registry: Registry, cache: Path, isolation: str = "process") -> None:
        self._registry, self._cache, self._isolation = registry, cache.absolute(), isolation
        self._left = ExitStack()
        self._isolated: Isolated | None = None
        self._before: set[int] = set()

    def __enter__(self) -> Apart:
        self._left.enter_context(adopting_orphans())
        if self._isolation != "none":
            self._isolated = Isolated(self._registry, kernels_folder(self._cache), [self._cache], self._isolation)
            self._left.callback(self._isolated.close)
        self._before = {child.pid for child in psutil.Process().children()}
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
        parties: Parties | None = self._isolated

        def run() -> TrialResult:
            if self._isolated is not None:
                self._isolated.limit(seconds, until)
            return run_trial(trial, dataset, prepared, metrics, provenance, threads, parties)

        try:
            with one_blas_thread():
                return once_more_if_killed(run)
        finally:
            if self._isolated is not None:
                self._isolated.done()
            else:
                end_strays(self._before)
