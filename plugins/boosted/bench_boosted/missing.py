"""Where a split sends missing values: LightGBM's four ways, as codes that the compiled walk and its users share."""

from __future__ import annotations

__all__ = ["NAN_LEFT", "NAN_RIGHT", "ZERO_LEFT", "ZERO_RIGHT"]

NAN_LEFT, NAN_RIGHT, ZERO_LEFT, ZERO_RIGHT = range(4)
"""NaN to the left, NaN to the right; and NaN and 0 together to the left, to the right."""
