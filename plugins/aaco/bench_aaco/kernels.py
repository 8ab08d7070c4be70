"""The compiled look-ahead; `bench_aaco.reference` is its reference implementation. Rows do not influence each other."""

from __future__ import annotations

import math

import numba
import numpy as np

__all__ = ["acquire", "losses_of_candidates"]


@numba.njit(cache=True, nogil=True)
def _loss(logs, label):  # type: ignore[no-untyped-def]
    """Log loss of a label: −log of its softmax probability, from the classes' log weights."""
    most = logs.max()
    total = 0.0
    for c in range(len(logs)):
        total += math.exp(logs[c] - most)
    return most + math.log(total) - logs[label]


@numba.njit(cache=True, nogil=True)
def _log_likelihoods(codes, table, start, row, evidence):  # type: ignore[no-untyped-def]
    """Write to ``evidence`` (features, classes) the log likelihoods of each feature of a reference row."""
    for f in range(evidence.shape[0]):
        evidence[f] = 0.0
        for column in range(start[f], start[f + 1]):
            for c in range(evidence.shape[1]):
                evidence[f, c] += table[codes[row, column], c]


@numba.njit(cache=True, nogil=True)
def losses_of_candidates(look):  # type: ignore[no-untyped-def]
    """Mean log loss on all reference rows: first with no features, then with each candidate set.

    Returns:
        float64 (1 + candidates,), in nats.
    """
    candidates, references = len(look.member_start) - 1, len(look.y)
    evidence = np.empty((len(look.own), len(look.prior)))
    logs = np.empty(len(look.prior))
    losses = np.zeros(1 + candidates)
    for row in range(references):
        _log_likelihoods(look.codes, look.table, look.start, row, evidence)
        losses[0] += _loss(look.prior, look.y[row])
        for s in range(candidates):
            logs[:] = look.prior
            for m in range(look.member_start[s], look.member_start[s + 1]):
                for c in range(len(logs)):
                    logs[c] += evidence[look.members[m], c]
            losses[1 + s] += _loss(logs, look.y[row])
    return losses / max(references, 1)


@numba.njit(cache=True, nogil=True)
def _price(look, s, known, opened, stamp):  # type: ignore[no-untyped-def]
    """Price of the features of candidate s that are not known; −1 if all are known."""
    price, new = 0.0, False
    for m in range(look.member_start[s], look.member_start[s + 1]):
        feature = look.members[m]
        if known[feature]:
            continue
        new = True
        price += look.own[feature]
        group = look.group[feature]
        if group >= 0 and not opened[group] and stamp[group] != s:
            stamp[group] = s
            price += look.group_price[group]
    return price if new else -1.0


@numba.njit(cache=True, nogil=True)
def _best(look, lambda_, known, opened, labels, base, evidence, stamp):  # type: ignore[no-untyped-def]
    """Candidate of least mean loss plus λ · price; −1 for the empty set, which wins ties, then the first candidate.

    Args:
        look, lambda_: as for `acquire`.
        known: bool (features,): acquired features.
        opened: bool (groups,): groups whose price is paid.
        labels: int64 (k,): labels of the neighbours.
        base: float64 (k, classes): the neighbours' log weights of the classes, given the known features.
        evidence: float64 (k, features, classes): log likelihoods that each feature adds.
        stamp: int64 (groups,): scratch.
    """
    k, classes = base.shape
    logs = np.empty(classes)
    least, best = 0.0, -1
    for a in range(k):
        least += _loss(base[a], labels[a])
    least /= k
    stamp[:] = -1
    for s in range(len(look.member_start) - 1):
        price = _price(look, s, known, opened, stamp)
        if price < 0:
            continue
        cost, total = lambda_ * price, 0.0
        for a in range(k):
            if total / k + cost >= least:  # losses are not negative, so the sum can only grow
                break
            for c in range(classes):
                logs[c] = base[a, c]
            for m in range(look.member_start[s], look.member_start[s + 1]):
                feature = look.members[m]
                if not known[feature]:
                    for c in range(classes):
                        logs[c] += evidence[a, feature, c]
            total += _loss(logs, labels[a])
        if total / k + cost < least:
            least, best = total / k + cost, s
    return best


@numba.njit(cache=True, nogil=True)
def _cheapest(look, s, known, opened):  # type: ignore[no-untyped-def]
    """Cheapest feature of a candidate that is not known; the first among equals."""
    best, least = -1, np.inf
    for m in range(look.member_start[s], look.member_start[s + 1]):
        feature = look.members[m]
        if known[feature]:
            continue
        price = look.own[feature]
        if look.group[feature] >= 0 and not opened[look.group[feature]]:
            price += look.group_price[look.group[feature]]
        if price < least:
            best, least = feature, price
    return best


@numba.njit(cache=True, nogil=True)
def _nearest(distance, rows):  # type: ignore[no-untyped-def]
    """Write the nearest reference rows to ``rows``, nearest first; the first among equals."""
    count = 0
    for n in range(len(distance)):
        if count == len(rows) and distance[n] >= distance[rows[count - 1]]:
            continue
        at = count if count < len(rows) else count - 1
        while at > 0 and distance[rows[at - 1]] > distance[n]:
            rows[at] = rows[at - 1]
            at -= 1
        rows[at] = n
        count = min(count + 1, len(rows))


@numba.njit(cache=True, nogil=True)
def acquire(look, lambda_, neighbours, first, Z, start, stop, acquired, held, wanted):  # type: ignore[no-untyped-def]
    """Acquire features for rows ``start`` … ``stop − 1``.

    Args:
        look: see `bench_aaco.oracle.Look`.
        lambda_: trade-off λ.
        neighbours: number k of nearest reference rows.
        first: the candidate chosen when nothing is known; −1 for the empty set.
        Z: float64 (rows, columns), standardised values.
        start: first row.
        stop: row after the last one.
        acquired: bool (rows, features), all False: set to the features that each row acquires.
        held: bool (rows, features): features that may be acquired; shape (0, features) for all of them.
        wanted: int64 (rows,), all −1: set to the first feature that a row needs and that is not in `held`. The
            look-ahead of the row stops there.
    """
    features, references = len(look.own), len(look.y)
    rows = np.zeros(min(neighbours, references), dtype=np.int64)
    base = np.empty((len(rows), len(look.prior)))
    evidence = np.empty((len(rows), features, len(look.prior)))
    labels = np.empty(len(rows), dtype=np.int64)
    distance = np.empty(references)
    opened = np.empty(len(look.group_price), dtype=np.bool_)
    stamp = np.empty(len(look.group_price), dtype=np.int64)
    for i in range(start, stop):
        known = acquired[i]
        distance[:] = 0.0
        opened[:] = False
        candidate = first
        for _ in range(features):
            if candidate < 0:
                break
            feature = _cheapest(look, candidate, known, opened)
            if len(held) and not held[i, feature]:
                wanted[i] = feature
                break
            known[feature] = True
            if look.group[feature] >= 0:
                opened[look.group[feature]] = True
            width = look.start[feature + 1] - look.start[feature]
            for column in range(look.start[feature], look.start[feature + 1]):
                z = Z[i, column]
                for n in range(references):
                    gap = z - look.Z[n, column]
                    if gap != gap:  # two missing values have distance 0, a missing and a present one 1
                        gap = 0.0 if z != z and look.Z[n, column] != look.Z[n, column] else 1.0
                    distance[n] += gap * gap / width
            _nearest(distance, rows)
            for a in range(len(rows)):
                labels[a] = look.y[rows[a]]
                base[a] = look.prior
                _log_likelihoods(look.codes, look.table, look.start, rows[a], evidence[a])
                for f in range(features):
                    if known[f]:
                        base[a] += evidence[a, f]
            candidate = _best(look, lambda_, known, opened, labels, base, evidence, stamp)
