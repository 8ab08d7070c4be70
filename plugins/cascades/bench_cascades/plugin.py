"""The methods this plugin brings."""

from __future__ import annotations

from bench_cascades import AdaBoostRS, AndOrCascade, EarlyExit, RbfSvm, Stagewise
from bench_core import Method, RegisterMethod, hookimpl

__all__ = ["METHODS"]

BENCH_CONTRACT_VERSION = 1

METHODS: dict[str, type[Method]] = {
    "stagewise": Stagewise,
    "early-exit": EarlyExit,
    "and-or": AndOrCascade,
    "adaboost-rs": AdaBoostRS,
    "rbf-svm": RbfSvm,
}


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register all of `METHODS`."""
    for name, method in METHODS.items():
        register(name, method)
