"""From a table with prices to a policy in use: recommend, fit, keep, ask.

The names in the stub beside are loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
