"""Recommend a method for a table with prices, by comparing the installed methods on it.

The names in ``__init__.pyi`` are imported on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
