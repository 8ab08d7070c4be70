"""budgetbench's core: the contract for data sets, cost schemes, methods and metrics, and the code that runs them.

The names below are for authors of methods, data, costs and metrics, as is `bench_core.testing`. Three modules hold the
names for other readers: `bench_core.records` (results), `bench_core.suites` (commands) and `bench_core.execution`
(executors). Names are loaded on first use, so that ``bench --help`` stays quick.
"""

from __future__ import annotations

from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

CONTRACT_VERSION = 1
"""Version of the contract between core and plugins: raised when plugins must be changed to keep working."""

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
