"""The plugin's hook: registers the method. Imports nothing heavy."""

from __future__ import annotations

from bench_ccp.method import CostComplexityPruning
from bench_core import RegisterMethod, hookimpl

__all__ = ["bench_register_methods"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``ccp``."""
    register("ccp", CostComplexityPruning)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.forest.policy import policy_types

    return policy_types()
