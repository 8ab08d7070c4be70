"""For executors: what runs trials, in this process, in others, or on other machines.

A plugin registers an executor with the hook ``bench_register_executors``; it is called with `Work`.
"""

from __future__ import annotations

from bench_core.contract.errors import with_hint
from bench_core.run.execute import Executor, Options, Summary, Work, execute
from bench_core.run.execute.isolated import Isolated, kernels_folder, once_more_if_killed
from bench_core.run.execute.schedule import Schedule
from bench_core.run.execute.worker import TrialStatus, Worker, WorkerSettings, environment, fail
from bench_core.run.failures import TrialStopped
from bench_core.run.plan import Plan, Planned
from bench_core.run.run_trial import Conditions, TrialResult, run_trial
from bench_core.run.threads import one_blas_thread, thread_variables
from bench_core.run.trial import Trial, parameters_of

__all__ = [
    "Conditions",
    "Executor",
    "Isolated",
    "Options",
    "Plan",
    "Planned",
    "Schedule",
    "Summary",
    "Trial",
    "TrialResult",
    "TrialStatus",
    "TrialStopped",
    "Work",
    "Worker",
    "WorkerSettings",
    "environment",
    "execute",
    "fail",
    "kernels_folder",
    "once_more_if_killed",
    "one_blas_thread",
    "parameters_of",
    "run_trial",
    "thread_variables",
    "with_hint",
]
