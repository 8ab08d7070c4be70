"""The core's own cost schemes and metrics, registered through the same hooks as those of plugins."""

from __future__ import annotations

from bench_core.builtin.cost_schemes import SCHEMES
from bench_core.builtin.metrics import BUILT_IN
from bench_core.plugins.hookspecs import RegisterCostScheme, RegisterMetric, hookimpl

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """The built-in cost schemes."""
    for name, scheme in SCHEMES.items():
        register(name, scheme)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """The built-in metrics."""
    for metric in BUILT_IN:
        register(metric)
