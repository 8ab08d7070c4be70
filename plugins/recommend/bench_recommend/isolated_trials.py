"""Run single trials without a suite and a store: each method in processes of its own, with a hard time limit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench_policies.capping import capped
from bench_sandbox import adopting_orphans

from bench_core import Dataset, Family, Metric, Problem
from bench_core.execution import (
    Conditions,
    Isolated,
    Prepared,
    TrialResult,
    can_be_asked,
    kernels_folder,
    once_more_if_killed,
    one_blas_thread,
    run_trial,
)
from bench_core.suites import Registry, Trial

__all__ = ["IsolatedTrials"]


class _Cutting(Isolated):
    """Like `Isolated`, but cuts every policy that can be asked step by step at a cap.

    The cut is made in this process, which asks the method's process. The audit checks the cut policies.
    """

    cap: float | None = None

    def fit(self, trial: Trial, problem: Problem) -> Family:
        family = super().fit(trial, problem)
        if self.cap is None:
            return family
        policies = [
            capped(policy, self.cap, problem) if can_be_asked(policy) and policy.decision_scope == "row" else policy
            for policy in family.policies
        ]
        return replace(family, policies=policies, reference=None)


class IsolatedTrials:
    """A context manager that runs trials one after another. Leaving it, also by Ctrl-C, ends the methods' processes.

    Args:
        registry: the loaded plugins.
        cache: the cache folder, which holds compiled kernels; methods cannot read the rest of it.
        isolation: ``strict`` or ``process``.
        cap: the most that the features of a row may cost; policies are cut at it. None: they are not cut.
    """

    def __init__(self, registry: Registry, cache: Path, isolation: str = "process", cap: float | None = None) -> None:
        self._registry, self._cache, self._isolation, self._cap = registry, cache.absolute(), isolation, cap
        self._left = ExitStack()

    def __enter__(self) -> IsolatedTrials:
        self._left.enter_context(adopting_orphans())
        self._solver = _Cutting(self._registry, kernels_folder(self._cache), [self._cache], self._isolation)
        self._solver.cap = self._cap
        self._left.callback(self._solver.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()

    def limit(self, seconds: float | None = None, until: float | None = None) -> None:
        """Limit the time of later trials. A method that takes longer is ended; its trial fails with the kind ``time``.

        Args:
            seconds: the most that the method may take; None: no limit. Preparation (modules, kernels) does not count.
            until: a deadline on the monotonic clock, used only together with ``seconds``. It also ends the preparation,
                but not the import of the plugin.
        """
        self._solver.limit(seconds, until)

    def run(
        self, trial: Trial, dataset: Dataset, prepared: Prepared, metrics: Mapping[str, Metric], conditions: Conditions
    ) -> TrialResult:
        """Run a trial as `bench_core.execution.run_trial` does, with the method in separate processes."""
        try:
            with one_blas_thread():
                return once_more_if_killed(
                    lambda: run_trial(trial, dataset, prepared, metrics, conditions, self._solver)
                )
        finally:
            self._solver.done()
