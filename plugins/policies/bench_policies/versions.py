"""What a fitted policy says about the programs that fitted it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from bench_core import CONTRACT_VERSION
from bench_core.suites import Registry

__all__ = ["plugin_of", "versions_of"]


def plugin_of(registry: Registry, name: str) -> str:
    """Return the plugin that brings a method; empty for a method that none registers."""
    return registry.plugin_of("methods", name).name if name in registry.methods else ""


def versions_of(registry: Registry, name: str) -> dict[str, str]:
    """Return the versions that a fitted policy states: the contract, Python and the distributions that it needs."""
    out = {"contract": str(CONTRACT_VERSION), "python": platform.python_version()}
    distributions = ["budgetbench", "budgetbench-policies", "numpy", "scikit-learn"]
    if name in registry.methods:
        distributions.append(registry.plugin_of("methods", name).distribution)
    for distribution in distributions:
        try:
            out[distribution] = version(distribution)
        except PackageNotFoundError:
            continue
    return out
