"""Names for commands: suites and their plans, sections of suite files, shared options, installed plugins.

The names are listed in ``suites.pyi`` and loaded on first use, so that a command's module imports only click.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub("bench_core", __file__)
