"""The plugin's hooks: registers the methods. Imports nothing heavy."""

from __future__ import annotations

from bench_core import RegisterDataset, RegisterMethod, RegisterMetric, hookimpl
from bench_polydom.by_size import METRICS
from bench_polydom.methods import (
    Greedy,
    GreedyAcc,
    GreedyCost,
    NaiveExpandAll,
    NaiveLookup,
    PolyDom,
    PolyDomBestFirst,
    PolyDomIndexAll,
)
from bench_polydom.simulation import Simulation
from bench_polydom.sized_images import SizedImages

__all__ = ["bench_register_datasets", "bench_register_methods", "bench_register_metrics"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """PolyDom, its comparison points, the Greedy family, and the paper's simulation."""
    register("polydom", PolyDom)
    register("polydom-best-first", PolyDomBestFirst)
    register("polydom-index-all", PolyDomIndexAll)
    register("naive-lookup", NaiveLookup)
    register("naive-expand-all", NaiveExpandAll)
    register("greedy", Greedy)
    register("greedy-acc", GreedyAcc)
    register("greedy-cost", GreedyCost)
    register("polydom-simulation", Simulation)


@hookimpl
def bench_register_datasets(register: RegisterDataset) -> None:
    """Images at several sizes with measured prices."""
    register("sized-images", SizedImages)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """Accuracy on the smallest and on the largest items."""
    for metric in METRICS:
        register(metric)
