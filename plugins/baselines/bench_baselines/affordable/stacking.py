"""Stack models of several sets of features: weights by ensemble selection; a pure function on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["select_ensemble"]

_PICKS = 12
"""Maximum number of picks of ensemble selection; weights are multiples of 1 / picks."""
_LEAST_FALL = 1e-3
"""A pick that lowers the loss by at most this share ends the selection, so that few models remain."""


def select_ensemble(
    answers: Sequence[NDArray[np.float64]], loss: Callable[[NDArray[np.float64]], float]
) -> tuple[float, dict[int, float]]:
    """Return the loss and the weights of a mean of answers.

    Starting with the best one, the answer that lowers the loss of the mean most is added, again and again; an answer
    may be added several times, which raises its weight.

    Args:
        answers: at least one, float64 (rows, classes) or (rows,), from models that did not see these rows.
        loss: of such an answer.

    Returns:
        The loss of the mean, and position → weight of those with a weight above 0; the weights add up to 1.

    Source: Caruana et al., Ensemble selection from libraries of models, 2004 (selection with replacement).
    """
    alone = [loss(answer) for answer in answers]
    picked = [int(np.argmin(alone))]
    total, least = answers[picked[0]], alone[picked[0]]
    while len(picked) < _PICKS:
        losses = [loss((total + answer) / (len(picked) + 1)) for answer in answers]
        best = int(np.argmin(losses))
        if not losses[best] < least - _LEAST_FALL * abs(least):
            break
        picked.append(best)
        total, least = total + answers[best], losses[best]
    return least, {number: picked.count(number) / len(picked) for number in sorted(set(picked))}
