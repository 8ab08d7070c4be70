"""budgetbench's core: the contract of data sets, cost schemes, methods and metrics, and what runs them.

The names below are the whole contract a plugin author meets; they are loaded on first use, so that
``bench --help`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_core.contract.costs import Costs, CostScheme
    from bench_core.contract.dataset import DataContext, Dataset, DataSource, Part
    from bench_core.contract.decisions import Decisions, Outcome, Rows
    from bench_core.contract.errors import ContractError, DataError, DataUnavailable, RequestError
    from bench_core.contract.facts import DataFacts
    from bench_core.contract.method import Family, Method, Policy, Problem
    from bench_core.contract.metrics import Metric
    from bench_core.plugins.hookspecs import hookimpl

__version__ = "0.1.0"

CONTRACT_VERSION = 1
"""Raised when the meaning of a trial changes; part of every trial's name."""

_HOMES = {
    "ContractError": "contract.errors",
    "CostScheme": "contract.costs",
    "Costs": "contract.costs",
    "DataContext": "contract.dataset",
    "DataError": "contract.errors",
    "DataFacts": "contract.facts",
    "DataSource": "contract.dataset",
    "DataUnavailable": "contract.errors",
    "Dataset": "contract.dataset",
    "Decisions": "contract.decisions",
    "Family": "contract.method",
    "Method": "contract.method",
    "Metric": "contract.metrics",
    "Outcome": "contract.decisions",
    "Part": "contract.dataset",
    "Policy": "contract.method",
    "Problem": "contract.method",
    "RequestError": "contract.errors",
    "Rows": "contract.decisions",
    "hookimpl": "plugins.hookspecs",
}

__all__ = [
    "CONTRACT_VERSION",
    "ContractError",
    "CostScheme",
    "Costs",
    "DataContext",
    "DataError",
    "DataFacts",
    "DataSource",
    "DataUnavailable",
    "Dataset",
    "Decisions",
    "Family",
    "Method",
    "Metric",
    "Outcome",
    "Part",
    "Policy",
    "Problem",
    "RequestError",
    "Rows",
    "__version__",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bench_core.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bench_core' has no attribute {name!r}")
