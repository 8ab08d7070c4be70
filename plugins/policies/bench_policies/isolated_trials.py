"""Running single trials without a suite and a store: a method in processes of its own, with a hard limit of time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from bench_sandbox import adopting_orphans

from bench_core import Dataset, Metric
from bench_core.execution import (
    Conditions,
    Isolated,
    Prepared,
    TrialResult,
    kernels_folder,
    once_more_if_killed,
    one_blas_thread,
    run_trial,
)
from bench_core.suites import Registry, Trial

__all__ = ["IsolatedTrials"]


class IsolatedTrials:
    """Runs trials one after another; to be entered, and left when there is nothing more to run, also by Ctrl-C.

    Args:
        registry: the loaded plugins.
        cache: the folder that holds compiled kernels, and what methods must not read.
        isolation: ``strict`` or ``process``.
    """

    def __init__(self, registry: Registry, cache: Path, isolation: str = "process") -> None:
        self._registry, self._cache, self._isolation = registry, cache.absolute(), isolation
        self._left = ExitStack()

    def __enter__(self) -> IsolatedTrials:
        self._left.enter_context(adopting_orphans())
        self._solver = Isolated(self._registry, kernels_folder(self._cache), [self._cache], self._isolation)
        self._left.callback(self._solver.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()

    def limit(self, seconds: float | None = None, until: float | None = None) -> None:
        """Limit the time of later trials; a method that takes longer is ended, which fails its trial by ``time``.

        Args:
            seconds: the most that the method may take, or None.
            until: when it is ended at the latest, on the monotonic clock, where ``seconds`` are given; its preparing
                (modules, kernels) too, which ``seconds`` do not count. The import of its plugin is not cut short.
        """
        self._solver.limit(seconds, until)

    def run(
        self, trial: Trial, dataset: Dataset, prepared: Prepared, metrics: Mapping[str, Metric], conditions: Conditions
    ) -> TrialResult:
        """As `bench_core.execution.run_trial`, in processes of the method's own."""
        try:
            with one_blas_thread():
                return once_more_if_killed(
                    lambda: run_trial(trial, dataset, prepared, metrics, conditions, self._solver)
                )
        finally:
            self._solver.done()
