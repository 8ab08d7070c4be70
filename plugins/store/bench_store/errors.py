"""What can go wrong with a store."""

from __future__ import annotations

__all__ = ["OutdatedError", "StoreError"]


class StoreError(Exception):
    """The disk does not give a file, or does not take it; the message names the file."""


class OutdatedError(ValueError):
    """A document is of an earlier format: undamaged, but not to be read."""
