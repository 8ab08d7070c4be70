"""Cost-sensitive trees and cascades of classifiers: CSTC, CSCC and Cronus (Xu et al. 2014).

The names below are for other plugins: boosted trees as columns, prices of columns, targets of ±1, Platt's sigmoid.
They are loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
