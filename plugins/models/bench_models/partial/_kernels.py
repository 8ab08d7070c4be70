"""Compiled scores of many candidate sets: one walk through each tree, with sets as bits.

A set that contains the tested feature goes to the child for the row's value, any other set to the child for missing
values. So a walk splits only if these children differ.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["losses_of_removals", "losses_of_sets"]


@numba.njit(cache=True, nogil=True)
def _sides(trees, node, value):  # type: ignore[no-untyped-def]
    """The children of a node for a value and for a missing one."""
    missing = trees.left[node] + (trees.missing[node] & 1)
    if value != value:
        return missing, missing
    if abs(value) <= trees.zero:
        value = 0.0
    return trees.left[node] + (0 if value <= trees.threshold[node] else 1), missing


@numba.njit(cache=True, nogil=True)
def _add(trees, x, known, bits, scores, nodes, masks):  # type: ignore[no-untyped-def]
    """Add the trees' leaves to the scores (outputs, 64 · words) of one row under each set."""
    outputs, words = scores.shape[0], bits.shape[1]
    for tree in range(len(trees.root)):
        output = tree % outputs
        depth = 1
        nodes[0] = trees.root[tree]
        for w in range(words):
            masks[0, w] = ~np.uint64(0)
        while depth:
            depth -= 1
            node = nodes[depth]
            while trees.column[node] >= 0:
                column = trees.column[node]
                feature = trees.unit_of_column[column]
                own, missing = _sides(trees, node, x[column])
                if own == missing or known[feature]:
                    node = own
                    continue
                some, others = np.uint64(0), np.uint64(0)
                for w in range(words):
                    some |= masks[depth, w] & bits[feature, w]
                    others |= masks[depth, w] & ~bits[feature, w]
                if not some:
                    node = missing
                elif not others:
                    node = own
                else:  # sets without the feature are put on the stack below those with it
                    for w in range(words):
                        both = masks[depth, w]
                        masks[depth, w] = both & ~bits[feature, w]
                        masks[depth + 1, w] = both & bits[feature, w]
                    nodes[depth] = missing
                    depth += 1
                    node = own
            value = trees.value[node, 0]
            for w in range(words):
                word = masks[depth, w]
                if word:
                    for b in range(64):
                        scores[output, 64 * w + b] += value if (word >> np.uint64(b)) & np.uint64(1) else 0.0


@numba.njit(cache=True, nogil=True)
def _write(trees, x, y, known, bits, work, losses):  # type: ignore[no-untyped-def]
    """Write the log losses (sets,) of one row under each set."""
    scores, nodes, masks = work
    scores[:] = 0.0
    _add(trees, x, known, bits, scores, nodes, masks)
    for s in range(len(losses)):
        if len(scores) == 1:
            margin = scores[0, s] if y == 1 else -scores[0, s]
            losses[s] = np.log1p(np.exp(-margin)) if margin > 0 else np.log1p(np.exp(margin)) - margin
            continue
        most = scores[0, s]
        for c in range(1, len(scores)):
            most = max(most, scores[c, s])
        total = 0.0
        for c in range(len(scores)):
            total += np.exp(scores[c, s] - most)
        losses[s] = most + np.log(total) - scores[y, s]


@numba.njit(cache=True, nogil=True)
def _work(depth, classes, words):  # type: ignore[no-untyped-def]
    """Scores (outputs, 64 · words), and the stack of a walk: nodes, and the sets that reach each, as bits."""
    scores = np.empty((classes if classes > 2 else 1, 64 * words))
    return scores, np.empty(depth + 2, dtype=np.int64), np.empty((depth + 2, words), dtype=np.uint64)


@numba.njit(cache=True, nogil=True)
def losses_of_sets(trees, depth, X, y, known, bits, classes, start, stop, losses):  # type: ignore[no-untyped-def]
    """Write the log losses of rows ``start`` … ``stop − 1`` under each set.

    Args:
        trees: `bench_models.trees.FlatTrees`.
        depth: greatest number of tests above a leaf.
        X: float64 (rows, columns), complete.
        y: int64 (rows,).
        known: bool (rows, features).
        bits: uint64 (features, words), see `Candidates.bits`; the first set is empty.
        classes: number of classes.
        start, stop: rows.
        losses: float64 (rows, sets), written.
    """
    work = _work(depth, classes, bits.shape[1])
    for i in range(start, stop):
        _write(trees, X[i], y[i], known[i], bits, work, losses[i])


@numba.njit(cache=True, nogil=True)
def losses_of_removals(trees, depth, X, y, known, part, classes, start, stop, losses):  # type: ignore[no-untyped-def]
    """Write the log losses of rows ``start`` … ``stop − 1`` with a set of their own, then without each of its parts.

    Args:
        trees, depth, X, y, known, classes, start, stop: as for `losses_of_sets`.
        part: int64 (rows, features): the part that a feature belongs to; −1 outside the row's set.
        losses: float64 (rows, 1 + parts), written.
    """
    words = (losses.shape[1] + 63) // 64
    work, bits = _work(depth, classes, words), np.empty((part.shape[1], words), dtype=np.uint64)
    for i in range(start, stop):
        for f in range(part.shape[1]):
            bits[f] = ~np.uint64(0) if part[i, f] >= 0 else np.uint64(0)
            if part[i, f] >= 0:
                bits[f, (1 + part[i, f]) // 64] ^= np.uint64(1) << np.uint64((1 + part[i, f]) % 64)
        _write(trees, X[i], y[i], known[i], bits, work, losses[i])
