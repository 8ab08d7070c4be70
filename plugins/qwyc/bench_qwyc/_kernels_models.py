"""Kernels that run one base model on a block of rows and mark the features that are read.

A base model runs on many rows before the next one starts, so that its nodes or weights stay in the processor's cache;
small networks run on the columns of a block. The result of a row does not depend on the other rows of its block.
"""

from __future__ import annotations

import numba
import numpy as np
from bench_models.trees.kernels import leaf_of

__all__ = ["BLOCK", "features_of_models", "near_tanh", "run_model", "score_models", "squash"]

BLOCK = 64
"""Maximum number of rows of a block."""


@numba.njit(cache=True, nogil=True, inline="always")
def near_tanh(u):  # type: ignore[no-untyped-def]
    """u (27 + u²) / (27 + 9u²), a rational function close to tanh: −1 at −3, 1 at 3, constant beyond."""
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
    """Write to ``total`` the scores of small network t on the first ``width`` rows of ``columns`` (columns, rows)."""
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
    """Write to ``out[slot]`` the scores of base model t on the active rows of a block.

    Args:
        packed: the ensemble.
        t: the base model.
        X: (rows, columns).
        columns: (columns, BLOCK): the rows of the first ``width`` places, as columns; used by small networks only.
        width: number of places in use.
        slots: places of the active rows in the block; the first ``count`` entries are valid.
        rows: the row of X at each place.
        count: number of active rows.
        seen: bool (BLOCK, features): features that trees read, by place. Networks always read all of theirs.
        inside: scratch (BLOCK,).
        total: scratch (BLOCK,).
        out: (BLOCK, outputs): the result, by place.
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
            for c in range(X.shape[1]):
                for r in range(count):
                    columns[c, r] = X[begin + r, c]
        for t in range(out.shape[0]):
            run_model(
                packed, t, X, columns, count, slots, begin + slots, count, seen, inside, total,
                out[t, begin : begin + count],
            )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def features_of_models(packed, out):  # type: ignore[no-untyped-def]
    """Mark in ``out``, bool (T, features), the features that every base model may read."""
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
