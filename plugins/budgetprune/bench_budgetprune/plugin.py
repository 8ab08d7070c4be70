"""The plugin's hook: registers the method. Imports nothing heavy."""

from __future__ import annotations

from bench_budgetprune.method import BudgetPrune
from bench_core.hookspecs import RegisterMethod, hookimpl

__all__ = ["bench_register_methods"]


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """BUDGETPRUNE."""
    register("budgetprune", BudgetPrune)
