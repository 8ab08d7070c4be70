"""Policies that are asked step by step: what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bench_core.contract.method import Policy


def can_be_asked(policy: Policy) -> bool:
    """Whether a policy says what to acquire next: whether it overrides `Policy.next_features`."""
    from bench_core.contract.method import Policy

    return type(policy).next_features is not Policy.next_features


def next_of_stages(
    acquired: NDArray[np.bool_], left_at: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """`Policy.next_features` of stages that rows pass one after the other, each reading more than the one before.

    A row whose known features cover the stages up to the one it leaves at is answered. Any other row needs the first
    stage that they do not cover: what it says of later ones comes from values that are not there.

    Args:
        acquired: bool (stages, features), growing: what has been acquired at each stage.
        left_at: int64 (rows,): the stage, from 0, that each row leaves at, with anything in place of unknown values.
        known: bool (rows, features).

    Returns:
        bool (rows, features); no feature where the row is answered.
    """
    uncovered = np.full(len(known), len(acquired) - 1)
    for stage in range(len(acquired) - 2, -1, -1):
        uncovered[(acquired[stage] & ~known).any(axis=1)] = stage
    return np.asarray(acquired[np.minimum(left_at, uncovered)] & ~known)
