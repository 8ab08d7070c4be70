"""The plugin's hooks: registers the methods. Imports nothing heavy."""

from __future__ import annotations

from bench_core import hookimpl
from bench_core.hookspecs import RegisterMethod
from bench_polydom.methods import (
    Greedy,
    GreedyAcc,
    GreedyCost,
    NaiveExpandAll,
    NaiveLookup,
    PolyDom,
    PolyDomIndexAll,
)

__all__ = ["bench_register_methods"]


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """PolyDom, its comparison points, and the Greedy family."""
    register("polydom", PolyDom)
    register("polydom-index-all", PolyDomIndexAll)
    register("naive-lookup", NaiveLookup)
    register("naive-expand-all", NaiveExpandAll)
    register("greedy", Greedy)
    register("greedy-acc", GreedyAcc)
    register("greedy-cost", GreedyCost)
