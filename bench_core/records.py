"""Names for reading results: the store of records, its checks, and the metrics in records.

The names are listed in ``records.pyi`` and loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub("bench_core", __file__)
