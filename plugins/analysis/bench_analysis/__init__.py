"""From records to numbers: means and intervals, trade-off curves, fronts, dominance, and what pages and figures show.

The names in ``__init__.pyi`` are for other plugins. They are imported on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
