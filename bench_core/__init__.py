"""budgetbench's core: the contract of data sets, cost schemes, methods and metrics, and what runs them.

The names below are for authors of methods, data, costs and metrics, with `bench_core.testing`. Whoever reads results
finds more in `bench_core.records`, commands in `bench_core.suites`, executors in `bench_core.execution`.
Names are loaded on first use, so that ``bench --help`` stays quick.
"""

from __future__ import annotations

from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

CONTRACT_VERSION = 1
"""Version of the contract between core and plugins: raised when a plugin has to be changed to go on working."""

_own, __dir__, __all__ = attach_stub(__name__, __file__)
__all__ += ["CONTRACT_VERSION", "__version__"]


def __getattr__(name: str) -> Any:
    try:
        return _own(name)
    except AttributeError:
        if name.startswith("_"):
            raise
    from bench_core.plugins.names import added_name

    return added_name(name)
