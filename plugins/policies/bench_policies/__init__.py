"""Fit a policy on a table with prices, save it, and ask it feature by feature.

The names in ``__init__.pyi`` are imported on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
