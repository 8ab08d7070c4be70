"""The plugin's hooks, which register methods, data sets, metrics and figures. Imports no large library."""

from __future__ import annotations

from collections.abc import Callable

from bench_core import RegisterDataset, RegisterMethod, RegisterMetric, hookimpl
from bench_polydom.by_size import METRICS
from bench_polydom.descriptor_margins import DescriptorMargins
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

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register PolyDom, its comparison points, the Greedy family, and the paper's simulation."""
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
    """Register images at several sizes, and images described by many descriptors, both with measured prices."""
    register("sized-images", SizedImages)
    register("descriptor-margins", DescriptorMargins)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register accuracy on the smallest and on the largest items."""
    for metric in METRICS:
        register(metric)


@hookimpl(optionalhook=True)
def bench_register_figures(register: Callable[[str, str], None]) -> None:
    """Register figures of the fits' series (Metrics 1 to 4); their modules are imported when a suite draws them."""
    register("series-by-method", "bench_polydom.figures.by_method:SeriesByMethod")
    register("series-of-one-method", "bench_polydom.figures.one_method:SeriesOfOneMethod")


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_polydom.candidates import Candidates
    from bench_polydom.greedy import GreedyIndex, GreedySearch
    from bench_polydom.index import FullIndex, NaiveScan, PolyDomIndex
    from bench_polydom.lattice import Expansion
    from bench_polydom.learning import Majority, Trainer
    from bench_polydom.policy import BudgetPolicy
    from bench_polydom.simulation import NoClassifier
    from bench_polydom.units import Units

    indexes = [PolyDomIndex, FullIndex, NaiveScan, GreedyIndex, GreedySearch, Expansion]
    return [BudgetPolicy, NoClassifier, Candidates, *indexes, Majority, Trainer, Units]
