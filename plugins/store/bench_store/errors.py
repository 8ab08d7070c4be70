"""Errors of a store."""

from __future__ import annotations

__all__ = ["OutdatedError", "StoreError"]


class StoreError(Exception):
    """A file cannot be read or written; the message names it."""


class OutdatedError(ValueError):
    """A document is of an earlier format: it is undamaged, but cannot be used."""
