"""The methods this plugin brings."""

from __future__ import annotations

from bench_core import Method, hookimpl
from bench_core.hookspecs import RegisterMethod
from bench_cstc.methods import CSCC, CSTC, Cronus, SingleCostSensitive
from bench_cstc.rivals import RIVALS

__all__ = ["METHODS"]

METHODS: dict[str, type[Method]] = {
    "cstc": CSTC,
    "cscc": CSCC,
    "cronus": Cronus,
    "single-cost-sensitive": SingleCostSensitive,
    **RIVALS,
}


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register all of `METHODS`."""
    for name, method in METHODS.items():
        register(name, method)
