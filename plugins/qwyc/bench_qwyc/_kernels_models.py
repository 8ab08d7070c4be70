"""Running one base model on a block of rows, marking the columns that are read on the way.

A base model runs on many rows before the next one does, so that its nodes or weights stay near at hand; small
networks run on whole columns of a block. Every row is treated by itself all the same: what it gets does not depend
on its neighbours.
"""

from __future__ import annotations

import numba
import numpy as np
from bench_models.trees.kernels import leaf_of

__all__ = ["BLOCK", "features_of_models", "near_tanh", "run_model", "score_models", "squash"]

BLOCK = 64
"""Rows that a base model runs on at a time."""


@numba.njit(cache=True, nogil=True, inline="always")
def near_tanh(u):  # type: ignore[no-untyped-def]
    """A rational function close to the hyperbolic tangent: from −1 at −3 to 1 at 3, flat beyond."""
    v = min(max(u, -3.0), 3.0)
    return v * (27.0 + v * v) / (27.0 + 9.0 * v * v)


@numba.njit(cache=True, nogil=True)
def squash(table):  # type: ignore[no-untyped-def]
    """`near_tanh` of every entry of a contiguous table, in place."""
    flat = table.reshape(-1)
    for i in range(len(flat)):
        flat[i] = near_tanh(flat[i])


@numba.njit(cache=True, nogil=True)
def _networks(s, t, columns, width, inside, total):  # type: ignore[no-untyped-def]
    """Small network t on the first ``width`` rows of ``columns`` (columns, rows), into ``total``."""
    for i in range(width):
        total[i] = 0.0
    for h in range(s.offset.shape[1]):
        for i in range(width):
            inside[i] = s.offset[t, h]
        for e in range(s.start[t], s.start[t + 1]):
            weight, column = s.inner[h, e], columns[s.columns[e]]
            for i in range(width):
                inside[i] += weight * column[i]
        weight = s.outer[t, h]
        for i in range(width):
            total[i] += weight * near_tanh(inside[i])


@numba.njit(cache=True, nogil=True)
def run_model(packed, t, X, columns, width, slots, rows, count, seen, inside, total, out):  # type: ignore[no-untyped-def]
    """Scores of base model t on some rows of a block, into ``out[slot]``.

    Args:
        packed: the ensemble.
        X: (rows, columns).
        columns: for small networks: (columns, BLOCK), the rows of the first ``width`` slots.
        slots, rows: the places in the block that are still wanted (``count`` of them), and the row of each place.
        seen: bool (BLOCK, features) by place: what trees read. Networks always read all of theirs.
        inside, total: scratch (BLOCK,).
        out: result (BLOCK, outputs), by place.
    """
    outputs = out.shape[1]
    if not packed.is_trees:
        _networks(packed.subsets, t, columns, width, inside, total)
        for a in range(count):
            out[slots[a], 0] = total[slots[a]]
        return
    trees = packed.trees
    if packed.trees_per_model == outputs:
        for k in range(outputs):
            root = trees.root[t * outputs + k]
            for a in range(count):
                place = slots[a]
                out[place, k] = trees.value[leaf_of(trees, root, X, rows[place], seen, place), 0]
    else:
        for a in range(count):
            place = slots[a]
            leaf = leaf_of(trees, trees.root[t], X, rows[place], seen, place)
            for k in range(outputs):
                out[place, k] = trees.value[leaf, k]


@numba.njit(cache=True, nogil=True)
def score_models(packed, X, start, stop, out):  # type: ignore[no-untyped-def]
    """Fill ``out[:, start:stop]`` (T, rows, outputs) with the scores of every base model."""
    slots = np.arange(BLOCK)
    inside, total = np.empty(BLOCK), np.empty(BLOCK)
    seen = np.zeros((BLOCK, packed.trees.unit_of_column.max() + 1), dtype=np.bool_)
    columns = np.empty((X.shape[1], BLOCK))
    for begin in range(start, stop, BLOCK):
        count = min(BLOCK, stop - begin)
        if not packed.is_trees:
            columns[:, :count] = X[begin : begin + count].T
        for t in range(out.shape[0]):
            run_model(
                packed, t, X, columns, count, slots, begin + slots, count, seen, inside, total,
                out[t, begin : begin + count],
            )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def features_of_models(packed, out):  # type: ignore[no-untyped-def]
    """Mark in ``out`` (T, features) what every base model may read."""
    trees, s = packed.trees, packed.subsets
    stack = np.empty(len(trees.column) + 1, dtype=np.int64)
    for t in range(out.shape[0]):
        if not packed.is_trees:
            for i in range(s.start[t], s.start[t + 1]):
                out[t, trees.unit_of_column[s.columns[i]]] = True
            continue
        for k in range(packed.trees_per_model):
            stack[0], height = trees.root[t * packed.trees_per_model + k], 1
            while height:
                height -= 1
                node = stack[height]
                if trees.column[node] >= 0:
                    out[t, trees.unit_of_column[trees.column[node]]] = True
                    stack[height], stack[height + 1] = trees.left[node], trees.left[node] + 1
                    height += 2
