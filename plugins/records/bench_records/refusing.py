"""The confidence threshold below which trials refuse rows, in contrast to one that only says when to stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["refusal_threshold"]


def refusal_threshold(identities: Iterable[Mapping[str, Any]]) -> float | None:
    """The threshold below which one of these trials refuses rows; None if none of them refuses a row.

    Without the reject option a trial's threshold only says when a method with early exit stops. Identities of old
    records that lack ``reject`` have the option.

    Args:
        identities: of all trials of a table, so that their order does not matter.
    """
    thresholds = (each.get("threshold") for each in identities if each.get("reject", True))
    return next((threshold for threshold in thresholds if threshold is not None), None)
