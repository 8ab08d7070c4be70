"""The plugin's hooks: they register three methods and a cost scheme. Imports nothing heavy."""

from __future__ import annotations

from bench_budgetprune.budgetrf import BudgetRF
from bench_budgetprune.costs import SvmWeights
from bench_budgetprune.greedyprune import GreedyPrune
from bench_budgetprune.method import BudgetPrune
from bench_core import RegisterCostScheme, RegisterMethod, hookimpl

__all__ = ["bench_register_cost_schemes", "bench_register_methods"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register BUDGETPRUNE, BudgetRF and GreedyPrune."""
    register("budgetprune", BudgetPrune)
    register("budgetrf", BudgetRF)
    register("greedyprune", GreedyPrune)


@hookimpl
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """Register ``svm-weights``, the adversarial prices of §6.4."""
    register("svm-weights", SvmWeights)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.forest.policy import policy_types

    return policy_types()
