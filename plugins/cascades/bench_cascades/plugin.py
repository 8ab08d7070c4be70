"""The methods this plugin brings."""

from __future__ import annotations

from bench_cascades import AdaBoostRS, AndOrCascade, EarlyExit, RbfSvm, Stagewise
from bench_core import RegisterMethod, hookimpl

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """CSTC's baselines."""
    register("stagewise", Stagewise)
    register("early-exit", EarlyExit)
    register("and-or", AndOrCascade)
    register("adaboost-rs", AdaBoostRS)
    register("rbf-svm", RbfSvm)
