"""Names for executors: they prepare and run trials in this process, in other processes, or on other machines.

A plugin registers an executor with the hook ``bench_register_executors``. The executor is called with a `Work`. The
names are listed in ``execution.pyi`` and loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub("bench_core", __file__)
