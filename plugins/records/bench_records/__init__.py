"""Published records: reading, exporting, verifying and submitting them.

The names below are what pages, figures and programs read records with. They are loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
