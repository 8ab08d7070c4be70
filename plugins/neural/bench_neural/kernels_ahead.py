"""Looking ahead: the answers of a network of two hidden layers if more units were known. Rows are independent."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["information", "losses_of_removals", "losses_of_sets"]

_ZERO = np.float32(0.0)
_LANES = 16
"""Candidates side by side: a vector of each of the sums, which alone would wait for one addition after the other."""


@njit(cache=True, nogil=True)
def _add_multiples(factors, which, count, rows, out):  # type: ignore[no-untyped-def]
    """Add ``factors[k] · rows[which[k]]`` for k < count, in this order; four in each pass over `out`."""
    k = 0
    while k + 4 <= count:
        f0, f1, f2, f3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        r0, r1, r2, r3 = rows[which[k]], rows[which[k + 1]], rows[which[k + 2]], rows[which[k + 3]]
        for j in range(len(out)):
            out[j] = (((out[j] + f0 * r0[j]) + f1 * r1[j]) + f2 * r2[j]) + f3 * r3[j]
        k += 4
    while k < count:
        factor, row = factors[k], rows[which[k]]
        for j in range(len(out)):
            out[j] += factor * row[j]
        k += 1


@njit(cache=True, nogil=True)
def _middle(one, middle, middle_bias, factors, which, two):  # type: ignore[no-untyped-def]
    """Write the second layer, from the first before it is rectified; `factors` and `which` are scratch."""
    count = 0
    for k in range(len(one)):  # without a branch: half of the units are active, which no processor can predict
        factors[count] = one[k]
        which[count] = k
        count += one[k] > _ZERO
    two[:] = middle_bias
    _add_multiples(factors, which, count, middle, two)


@njit(cache=True, nogil=True)
def _to_logits(two, last, last_bias, logits):  # type: ignore[no-untyped-def]
    """Write the outputs of the third layer (classes, lanes), from second layers side by side (hidden, lanes).

    They are not rectified yet. Lanes are independent of each other, so each sum has the order of a single one.
    """
    for c in range(len(logits)):
        logits[c] = last_bias[c]
        k = 0
        while k + 4 <= len(two):
            w0, w1, w2, w3 = last[k, c], last[k + 1, c], last[k + 2, c], last[k + 3, c]
            for lane in range(_LANES):
                total = logits[c, lane] + max(two[k, lane], _ZERO) * w0
                total += max(two[k + 1, lane], _ZERO) * w1
                total += max(two[k + 2, lane], _ZERO) * w2
                logits[c, lane] = total + max(two[k + 3, lane], _ZERO) * w3
            k += 4
        while k < len(two):
            for lane in range(_LANES):
                logits[c, lane] += max(two[k, lane], _ZERO) * last[k, c]
            k += 1


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
def _along(one, slope, samples, middle, middle_bias, work, which, lanes):  # type: ignore[no-untyped-def]
    """Write the second layers for samples of a single value, in ascending order.

    Sample s is ``lanes[s // _LANES, :, s % _LANES]``.

    The first layer is ``one + value · slope``, so the second is linear in the value between two values at which a
    hidden unit changes its sign. In ascending order of the samples, each unit changes once at most.
    """
    constant, linear, active, at, by, two = work[0], work[1], work[2], work[3], work[4], work[5]
    constant[:] = middle_bias
    linear[:] = _ZERO
    active[:] = _ZERO
    for s, value in enumerate(np.sort(samples)):
        count = 0
        for k in range(len(one)):
            now = np.float32(1.0) if one[k] + value * slope[k] > _ZERO else _ZERO
            if now != active[k]:
                change = now - active[k]
                active[k] = now
                at[count], by[count], which[count] = change * one[k], change * slope[k], k
                count += 1
        _add_multiples(at, which, count, middle, constant)
        _add_multiples(by, which, count, middle, linear)
        for j in range(len(two)):
            two[j] = constant[j] + value * linear[j]
        lanes[s // _LANES, :, s % _LANES] = two


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
    one, work = np.empty(hidden, dtype=np.float32), np.empty((6, hidden), dtype=np.float32)
    which = np.empty(hidden, dtype=np.int64)
    lanes = np.zeros((-(-count // _LANES), hidden, _LANES), dtype=np.float32)
    logits, mean = np.empty((classes, _LANES), dtype=np.float32), np.empty(classes)
    own = np.empty(columns, dtype=np.int64)
    for i in range(rows):
        for u in range(units):
            if known[i, u]:
                continue
            several = 0
            for v in range(columns):
                if unit_of_value[v] == u:
                    own[several] = v
                    several += 1
            if several == 1:
                one[:] = first[i] + entry[len(unit_of_value) + u]
                samples = imputed[i, :, own[0]]
                _along(one, entry[own[0]], samples, middle, middle_bias, work, which, lanes)
            else:
                for s in range(count):
                    one[:] = first[i] + entry[len(unit_of_value) + u]
                    for v in own[:several]:
                        for j in range(hidden):
                            one[j] += imputed[i, s, v] * entry[v, j]
                    _middle(one, middle, middle_bias, work[0], which, work[1])
                    lanes[s // _LANES, :, s % _LANES] = work[1]
            mean[:] = 0.0
            within = 0.0
            for s in range(count):
                if s % _LANES == 0:
                    _to_logits(lanes[s // _LANES], last, last_bias, logits)
                within += _add_answer(logits[:, s % _LANES], mean)
            between = 0.0
            for c in range(classes):
                p = mean[c] / count
                if p > 0.0:
                    between -= p * log(p)
            out[i, u] = between - within / count
    return out


@njit(cache=True, nogil=True)
def _row_losses(first, steps, known, member, target, layers, work, losses):  # type: ignore[no-untyped-def]
    """Write the log losses of one row under each set; `steps` are the units' changes of the first layer."""
    middle, middle_bias, last, last_bias = layers
    hidden, which, lanes, logits, ones = work
    for start in range(0, len(losses), _LANES):
        width = min(_LANES, len(losses) - start)
        for lane in range(width):
            count = 0
            for u in range(len(known)):
                which[count] = u
                count += member[start + lane, u] and not known[u]
            hidden[0] = first
            _add_multiples(ones, which, count, steps, hidden[0])
            _middle(hidden[0], middle, middle_bias, hidden[1], which, hidden[2])
            lanes[:, lane] = hidden[2]
        _to_logits(lanes, last, last_bias, logits)
        for lane in range(width):
            top = logits[0, lane]
            for c in range(1, len(logits)):
                top = max(top, logits[c, lane])
            norm = 0.0
            for c in range(len(logits)):
                norm += exp(np.float64(logits[c, lane]) - top)
            losses[start + lane] = log(norm) + top - logits[target, lane]


@njit(cache=True, nogil=True)
def _row_steps(values, unit_of_value, entry, steps):  # type: ignore[no-untyped-def]
    """Write the change of the first layer when each unit of a row becomes known: (units, hidden)."""
    steps[:] = entry[len(unit_of_value) :]
    for v in range(len(unit_of_value)):
        if values[v] != _ZERO:
            steps[unit_of_value[v]] += values[v] * entry[v]


@njit(cache=True, nogil=True)
def _work(units, hidden, classes):  # type: ignore[no-untyped-def]
    """Scratch of `_row_losses`."""
    return (
        np.empty((3, hidden), dtype=np.float32), np.empty(max(hidden, units), dtype=np.int64),
        np.zeros((hidden, _LANES), dtype=np.float32), np.empty((classes, _LANES), dtype=np.float32),
        np.ones(units, dtype=np.float32),
    )  # fmt: skip


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
    layers, work = (middle, middle_bias, last, last_bias), _work(known.shape[1], first.shape[1], len(last_bias))
    steps = np.empty((known.shape[1], first.shape[1]), dtype=np.float32)
    for i in range(len(first)):
        _row_steps(values[i], unit_of_value, entry, steps)
        _row_losses(first[i], steps, known[i], member, target[i], layers, work, losses[i])


@njit(cache=True, nogil=True)
def losses_of_removals(
    first: NDArray[np.float32],
    values: NDArray[np.float32],
    target: NDArray[np.int64],
    known: NDArray[np.bool_],
    part: NDArray[np.int64],
    unit_of_value: NDArray[np.int64],
    entry: NDArray[np.float32],
    middle: NDArray[np.float32],
    middle_bias: NDArray[np.float32],
    last: NDArray[np.float32],
    last_bias: NDArray[np.float32],
    losses: NDArray[np.float64],
) -> None:
    """Write the log losses of rows with a set of their own, then without each of its parts, in nats.

    Args:
        first, values, target, known, unit_of_value, entry, middle, middle_bias, last, last_bias: as for
            `losses_of_sets`.
        part: int64 (rows, units): the part that a unit belongs to; −1 outside the row's set.
        losses: float64 (rows, 1 + parts), written.
    """
    layers, work = (middle, middle_bias, last, last_bias), _work(known.shape[1], first.shape[1], len(last_bias))
    steps = np.empty((known.shape[1], first.shape[1]), dtype=np.float32)
    member = np.empty((losses.shape[1], known.shape[1]), dtype=np.bool_)
    for i in range(len(first)):
        for s in range(len(member)):
            member[s] = (part[i] >= 0) & (part[i] != s - 1)
        _row_steps(values[i], unit_of_value, entry, steps)
        _row_losses(first[i], steps, known[i], member, target[i], layers, work, losses[i])
