"""budgetbench's core: the contract of data sets, cost schemes, methods and metrics, and what runs them.

The names below are the whole contract a plugin author meets; they are loaded on first use, so that
``bench --help`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_core.costs import Costs, CostScheme
    from bench_core.dataset import DataContext, Dataset, DataSource, Part
    from bench_core.decisions import Decisions, Outcome, Rows
    from bench_core.errors import ContractError, DataError, DataUnavailable, RequestError
    from bench_core.facts import DataFacts
    from bench_core.hookspecs import hookimpl
    from bench_core.method import Family, Method, Policy, Problem
    from bench_core.metrics import Metric

__version__ = "0.1.0"

CONTRACT_VERSION = 1
"""Raised when the meaning of a trial changes; part of every trial's name."""

_HOMES = {
    "ContractError": "errors",
    "CostScheme": "costs",
    "Costs": "costs",
    "DataContext": "dataset",
    "DataError": "errors",
    "DataFacts": "facts",
    "DataSource": "dataset",
    "DataUnavailable": "errors",
    "Dataset": "dataset",
    "Decisions": "decisions",
    "Family": "method",
    "Method": "method",
    "Metric": "metrics",
    "Outcome": "decisions",
    "Part": "dataset",
    "Policy": "method",
    "Problem": "method",
    "RequestError": "errors",
    "Rows": "decisions",
    "hookimpl": "hookspecs",
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
