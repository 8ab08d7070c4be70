"""For executors: what prepares and runs trials, in this process, in others, or on other machines.

A plugin registers an executor with the hook ``bench_register_executors``; it is called with `Work`. The names
are listed in ``execution.pyi`` and loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub("bench_core", __file__)
