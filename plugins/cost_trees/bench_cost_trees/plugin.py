"""The plugin's hooks, which register the methods and the metrics. Imports no large library."""

from __future__ import annotations

from bench_core import RegisterMethod, RegisterMetric, hookimpl
from bench_cost_trees.icet import ICET
from bench_cost_trees.metrics import METRICS
from bench_cost_trees.trees import C45, CSID3, EG2, IDX

__all__ = ["bench_register_methods", "bench_register_metrics"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register EG2, IDX, CS-ID3, the C4.5-like tree and ICET."""
    register("eg2", EG2)
    register("idx", IDX)
    register("cs-id3", CSID3)
    register("c45", C45)
    register("icet", ICET)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register the metrics of test and error costs."""
    for metric in METRICS:
        register(metric)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_cost_trees.policy import TreePolicy
    from bench_cost_trees.tree import Tree

    return [TreePolicy, Tree]
