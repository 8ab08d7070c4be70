"""The four hooks of a plugin. Each is called once, when the plugins are loaded, and only registers.

A plugin is a distribution with an entry point in the group ``budgetbench``::

    [project.entry-points.budgetbench]
    my-plugin = "bench_mine.plugin"

The module named there is imported at every command, so it must stay light: import NumPy if you must, and
scikit-learn, numba or pandas inside ``fit`` and ``load``.
"""

from __future__ import annotations

from typing import Protocol

import pluggy

from bench_core.contract.costs import CostScheme
from bench_core.contract.dataset import DataSource
from bench_core.contract.method import Method
from bench_core.contract.metrics import Metric

__all__ = [
    "PROJECT",
    "RegisterCostScheme",
    "RegisterDataset",
    "RegisterMethod",
    "RegisterMetric",
    "hookimpl",
    "hookspec",
]

PROJECT = "budgetbench"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class RegisterDataset(Protocol):
    """``register(name, source)``: make a data source known under a name."""

    def __call__(self, name: str, source: type[DataSource]) -> None: ...


class RegisterCostScheme(Protocol):
    """``register(name, scheme)``: make a cost scheme known under a name."""

    def __call__(self, name: str, scheme: type[CostScheme]) -> None: ...


class RegisterMethod(Protocol):
    """``register(name, method)``: make a method known under a name."""

    def __call__(self, name: str, method: type[Method]) -> None: ...


class RegisterMetric(Protocol):
    """``register(metric)``: make a metric known under its own name."""

    def __call__(self, metric: Metric) -> None: ...


@hookspec
def bench_register_datasets(register: RegisterDataset) -> None:
    """Register data sources. Called once, before any suite is read.

    Example::

        @hookimpl
        def bench_register_datasets(register):
            register("my-table", MyTable)
    """


@hookspec
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """Register cost schemes. Called once, before any suite is read.

    Example::

        @hookimpl
        def bench_register_cost_schemes(register):
            register("by-hospital", ByHospital)
    """


@hookspec
def bench_register_methods(register: RegisterMethod) -> None:
    """Register methods. Called once, before any suite is read.

    Example::

        @hookimpl
        def bench_register_methods(register):
            register("single-stage", SingleStage)
    """


@hookspec
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register metrics. Called once, before any suite is read.

    Example::

        @hookimpl
        def bench_register_metrics(register):
            register(Metric("max-cost", lambda outcome: float(outcome.bill.max()), goal="min"))
    """
