"""Looking ahead: the answers of a network of two hidden layers if more units were known. Rows are independent."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["information", "losses_of_sets"]

_ZERO = np.float32(0.0)


@njit(cache=True, nogil=True)
def _to_logits(two, last, last_bias, logits):  # type: ignore[no-untyped-def]
    """Write the outputs of the third layer, from the second before it is rectified."""
    logits[:] = last_bias
    for k in range(len(two)):
        active = max(two[k], _ZERO)
        for c in range(len(logits)):
            logits[c] += active * last[k, c]


@njit(cache=True, nogil=True)
def _middle(one, middle, middle_bias, two):  # type: ignore[no-untyped-def]
    """Write the second layer, from the first before it is rectified."""
    two[:] = middle_bias
    for k in range(len(one)):
        active = one[k]
        if active > _ZERO:
            for j in range(len(two)):
                two[j] += active * middle[k, j]


@njit(cache=True, nogil=True)
def _add_answer(logits, mean):  # type: ignore[no-untyped-def]
    """Add the probabilities to `mean`, and return their entropy."""
    top = logits[0]
    for c in range(1, len(logits)):
        top = max(top, logits[c])
    norm, weighted = 0.0, 0.0
    for c in range(len(logits)):
        lead = np.float64(logits[c]) - top
        weight = exp(lead)
        norm += weight
        weighted += weight * lead
        logits[c] = weight
    for c in range(len(logits)):
        mean[c] += logits[c] / norm
    return log(norm) - weighted / norm


@njit(cache=True, nogil=True)
def _along(one, slope, samples, middle, middle_bias, last, last_bias, work, logits, mean):  # type: ignore[no-untyped-def]
    """Return the sum of the entropies over samples of a single value; add the probabilities to `mean`.

    The first layer is ``one + value · slope``, so the second is linear in the value between two values at which a
    hidden unit changes its sign. In ascending order of the samples, each unit changes once at most.
    """
    constant, linear, two, active = work[0], work[1], work[2], work[3]
    constant[:] = middle_bias
    linear[:] = _ZERO
    active[:] = _ZERO
    within = 0.0
    for value in np.sort(samples):
        for k in range(len(one)):
            now = np.float32(1.0) if one[k] + value * slope[k] > _ZERO else _ZERO
            if now != active[k]:
                change = now - active[k]
                active[k] = now
                at, by = change * one[k], change * slope[k]
                for j in range(len(two)):
                    constant[j] += at * middle[k, j]
                    linear[j] += by * middle[k, j]
        for j in range(len(two)):
            two[j] = constant[j] + value * linear[j]
        _to_logits(two, last, last_bias, logits)
        within += _add_answer(logits, mean)
    return within


@njit(cache=True, nogil=True)
def information(
    first: NDArray[np.float32],
    imputed: NDArray[np.float32],
    known: NDArray[np.bool_],
    unit_of_value: NDArray[np.int64],
    entry: NDArray[np.float32],
    middle: NDArray[np.float32],
    middle_bias: NDArray[np.float32],
    last: NDArray[np.float32],
    last_bias: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Information about the class in each unknown unit, by samples of its values: H(mean p) − mean H(p), in nats.

    Args:
        first: float32 (rows, hidden): the predictor's first layer for what is known, not yet rectified.
        imputed: float32 (rows, samples, imputed values): samples of the first values; later values count as 0.
        known: bool (rows, units).
        unit_of_value: int64 (values,).
        entry: float32 (values + units, hidden): weights of the first layer.
        middle, middle_bias: weights and bias of the second layer.
        last, last_bias: those of the third: float32 (hidden, classes), (classes,).

    Returns:
        float64 (rows, units); 0 for known units.
    """
    rows, count, columns = imputed.shape
    units, hidden, classes = known.shape[1], first.shape[1], len(last_bias)
    out = np.zeros((rows, units))
    one, work = np.empty(hidden, dtype=np.float32), np.empty((4, max(hidden, len(middle_bias))), dtype=np.float32)
    logits, mean = np.empty(classes, dtype=np.float32), np.empty(classes)
    own = np.empty(columns, dtype=np.int64)
    for i in range(rows):
        for u in range(units):
            if known[i, u]:
                continue
            mean[:] = 0.0
            within, several = 0.0, 0
            for v in range(columns):
                if unit_of_value[v] == u:
                    own[several] = v
                    several += 1
            if several == 1:
                one[:] = first[i] + entry[len(unit_of_value) + u]
                samples = imputed[i, :, own[0]]
                within = _along(
                    one, entry[own[0]], samples, middle, middle_bias, last, last_bias, work, logits, mean
                )  # fmt: skip
            else:
                for s in range(count):
                    one[:] = first[i] + entry[len(unit_of_value) + u]
                    for v in own[:several]:
                        for j in range(hidden):
                            one[j] += imputed[i, s, v] * entry[v, j]
                    _middle(one, middle, middle_bias, work[2])
                    _to_logits(work[2], last, last_bias, logits)
                    within += _add_answer(logits, mean)
            between = 0.0
            for c in range(classes):
                p = mean[c] / count
                if p > 0.0:
                    between -= p * log(p)
            out[i, u] = between - within / count
    return out


@njit(cache=True, nogil=True)
def losses_of_sets(
    first: NDArray[np.float32],
    values: NDArray[np.float32],
    target: NDArray[np.int64],
    known: NDArray[np.bool_],
    member: NDArray[np.bool_],
    unit_of_value: NDArray[np.int64],
    entry: NDArray[np.float32],
    middle: NDArray[np.float32],
    middle_bias: NDArray[np.float32],
    last: NDArray[np.float32],
    last_bias: NDArray[np.float32],
    losses: NDArray[np.float64],
) -> None:
    """Write the log losses of rows under each set, in nats.

    Args:
        first, unit_of_value, entry, middle, middle_bias, last, last_bias: as for `information`.
        values: float32 (rows, values): complete rows.
        target: int64 (rows,): class codes.
        known: bool (rows, units).
        member: bool (sets, units): units known in addition.
        losses: float64 (rows, sets), written.
    """
    sets, units, hidden = len(member), known.shape[1], first.shape[1]
    one, two = np.empty(hidden, dtype=np.float32), np.empty(len(middle_bias), dtype=np.float32)
    logits = np.empty(len(last_bias), dtype=np.float32)
    step = np.empty((units, hidden), dtype=np.float32)  # the change of the first layer when a unit becomes known
    for i in range(len(first)):
        for u in range(units):
            step[u] = entry[len(unit_of_value) + u]
        for v in range(len(unit_of_value)):
            if values[i, v] != _ZERO:
                step[unit_of_value[v]] += values[i, v] * entry[v]
        for s in range(sets):
            one[:] = first[i]
            for u in range(units):
                if member[s, u] and not known[i, u]:
                    for j in range(hidden):
                        one[j] += step[u, j]
            _middle(one, middle, middle_bias, two)
            _to_logits(two, last, last_bias, logits)
            top = logits[0]
            for c in range(1, len(logits)):
                top = max(top, logits[c])
            norm = 0.0
            for c in range(len(logits)):
                norm += exp(np.float64(logits[c]) - top)
            losses[i, s] = log(norm) + top - logits[target[i]]
