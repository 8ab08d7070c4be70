"""The plugin's entry point: two methods, `emsco` and `exhaustive`."""

from __future__ import annotations

from collections.abc import Callable

from bench_core import RegisterMethod, hookimpl
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register EMSCO and the exhaustive search."""
    register("emsco", Emsco)
    register("exhaustive", Exhaustive)


@hookimpl(optionalhook=True)
def bench_register_figures(register: Callable[[str, str], None]) -> None:
    """Register the figure of stages by cost class (EMSCO Fig. 13); its module is imported when a suite draws it."""
    register("stage-by-cost-class", "bench_emsco.figures:StageByCostClass")


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.linear import ConstantPolicy

    from bench_emsco.policy import MultiStagePolicy, Stage

    return [MultiStagePolicy, Stage, ConstantPolicy]
