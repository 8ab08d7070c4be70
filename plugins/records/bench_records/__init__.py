"""Published records: reading, exporting, verifying and submitting them.

Pages, figures and programs read records with the names in ``__init__.pyi``, which are imported on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
