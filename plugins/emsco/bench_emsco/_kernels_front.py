"""Compiled evaluation of every chain of nested subsets (EMSCO, sections 2.1 and 4.2).

A chain of three or more stages is a prefix that ends in some subset T, a subset S between T and the full set F, and F.
For a given T the supersets are gathered once, contiguously. Each prefix then costs one pass over them, which needs only
three population counts per word; `alive` are the rows that the prefix left undecided:

    rows that exit at S            |alive & c_S|
    rows conclusive at S or F      |alive & (c_S | c_F)|
    rows right at S or F           |alive & (r_S | (r_F & ~c_S))|

Every chain needs one comparison with `best[conclusive * (rows + 1) + correct]`, the least cost seen for that pair.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.cpython.unsafe.tuple import tuple_setitem

from ._kernels_cells import popcount

_CHUNK = 512


@njit(cache=True, nogil=True)
def union_tables(confident, right):
    """(c_S, c_S | c_F, r_S | (r_F & ~c_S)) as words-outermost uint64 (words, subsets); F is the last subset."""
    subsets, words = confident.shape
    c = np.empty((words, subsets), np.uint64)
    u = np.empty((words, subsets), np.uint64)
    v = np.empty((words, subsets), np.uint64)
    for w in range(words):
        for s in range(subsets):
            c[w, s] = confident[s, w]
            u[w, s] = confident[s, w] | confident[subsets - 1, w]
            v[w, s] = right[s, w] | (right[subsets - 1, w] & ~confident[s, w])
    return c, u, v


@njit(cache=True, nogil=True)
def scan_short(c, u, v, costs, rows, two_stages, best, ties, chains, stored):
    """Enter F alone and, if asked, every (S, F) into the table; see `scan_long` for the arguments."""
    words, subsets = c.shape
    full = subsets - 1
    count = 0
    for s in range(1 if two_stages else full, subsets):
        exits = 0
        conclusive = 0
        correct = 0
        for w in range(words):
            exits += popcount(c[w, s])
            conclusive += popcount(u[w, s])
            correct += popcount(v[w, s])
        cost = exits * costs[s] + (rows - exits) * costs[full]
        key = conclusive * (rows + 1) + correct
        count += 1
        if cost < best[key]:
            best[key] = cost
            ties[key] = 1
        elif cost == best[key]:
            ties[key] += 1
            if stored < chains.shape[0]:
                chains[stored, :] = 0
                chains[stored, 0] = s
                if s != full:
                    chains[stored, 1] = full
                stored += 1
    return count, stored


@njit(cache=True, nogil=True)
def _enter(keys, totals, length, best, ties, chains, stored, sets, prefix, prefix_step, above, upper, upper_step, full):
    """Compare `length` chains with the table. Chain i is prefix number prefix + i * prefix_step, then the subset
    above[upper + i * upper_step], then F; it is stored if it ties and `chains` has room."""
    for i in range(length):
        key = keys[i]
        total = totals[i]
        known = best[key]
        if total <= known:
            if total < known:
                best[key] = total
                ties[key] = 1
            else:
                ties[key] += 1
                if stored < chains.shape[0]:
                    chains[stored, :] = 0
                    place = 0
                    while place < sets.shape[1] and sets[prefix + i * prefix_step, place] != 0:
                        chains[stored, place] = sets[prefix + i * prefix_step, place]
                        place += 1
                    chains[stored, place] = above[upper + i * upper_step]
                    chains[stored, place + 1] = full
                    stored += 1
    return stored


@njit(cache=True, nogil=True)
def _column(blank, words, j):
    """words[:, j] as a tuple; `blank`, a tuple of as many zeros, gives the compiler its length."""
    column = blank
    for w in range(len(blank)):
        column = tuple_setitem(column, w, words[w, j])
    return column


@njit(cache=True, nogil=True)
def _cross(
    blank, left, offset, paid, sets, prefixes, c, u, v, saving, above, count, rows, full, keys, totals,
    best, ties, chains, stored,
):  # fmt: skip
    """Combine every buffered prefix with every superset; the longer of the two is the inner, vectorised loop.

    Inner loops run up to a multiple of eight (the buffers have room), which avoids scalar remainder loops.
    """
    if prefixes >= count:
        for j in range(count):
            exits_at = _column(blank, c, j)
            decided_by = _column(blank, u, j)
            right_by = _column(blank, v, j)
            saved = saving[j]
            for i in range((prefixes + 7) & ~7):
                a = 0
                b = 0
                d = 0
                for w in range(len(blank)):
                    a += popcount(left[w, i] & exits_at[w])
                    b += popcount(left[w, i] & decided_by[w])
                    d += popcount(left[w, i] & right_by[w])
                keys[i] = offset[i] + b * (rows + 1) + d
                totals[i] = paid[i] + a * saved
            stored = _enter(keys, totals, prefixes, best, ties, chains, stored, sets, 0, 1, above, j, 0, full)
    else:
        for i in range(prefixes):
            alive = _column(blank, left, i)
            known = offset[i]
            spent = paid[i]
            for j in range((count + 7) & ~7):
                a = 0
                b = 0
                d = 0
                for w in range(len(blank)):
                    a += popcount(alive[w] & c[w, j])
                    b += popcount(alive[w] & u[w, j])
                    d += popcount(alive[w] & v[w, j])
                keys[j] = known + b * (rows + 1) + d
                totals[j] = spent + a * saving[j]
            stored = _enter(keys, totals, count, best, ties, chains, stored, sets, i, 0, above, 0, 1, full)
    return stored


@njit(cache=True, nogil=True)
def scan_long(blank, c, u, v, right, costs, rows, stages, first, stride, best, ties, chains, stored):
    """Enter all chains of 3..stages stages whose last subset but two is first, first + stride, ... into the table.

    best, ties: ((rows + 1)**2,) least cost of a (conclusive, correct) pair and how many chains attain it.
    chains: int64 (limit, stages) receives chains whose cost equals best[.] (subsets in order, then zeros).
    Returns the number of chains evaluated and of chains stored.
    """
    words = len(blank)
    subsets = c.shape[1]
    full = np.int64(subsets - 1)
    depth = stages - 3
    # Uneven strides: lines at distances of a power of two would map to the same few cache sets.
    upper_c = np.zeros((words, subsets + 24), np.uint64)
    upper_u = np.zeros((words, subsets + 40), np.uint64)
    upper_v = np.zeros((words, subsets + 56), np.uint64)
    above = np.zeros(subsets + 8, np.int64)
    saving = np.zeros(subsets + 8, costs.dtype)
    keys = np.zeros(max(_CHUNK, subsets + 8), np.int64)
    totals = np.zeros(max(_CHUNK, subsets + 8), costs.dtype)
    left = np.zeros((words, _CHUNK + 24), np.uint64)
    offset = np.zeros(_CHUNK, np.int64)
    paid = np.zeros(_CHUNK, costs.dtype)
    sets = np.zeros((_CHUNK, depth + 1), np.int64)
    chosen = np.zeros(depth + 2, np.int64)
    cursor = np.zeros(depth + 2, np.int64)
    alive = np.zeros((depth + 2, words), np.uint64)
    spent = np.zeros(depth + 2, costs.dtype)
    hits = np.zeros(depth + 2, np.int64)
    for w in range(len(blank)):
        remaining = min(max(rows - 64 * w, 0), 64)
        alive[0, w] = ~np.uint64(0) if remaining == 64 else (np.uint64(1) << np.uint64(remaining)) - np.uint64(1)
    evaluated = 0
    for t in range(first, full, stride):
        free = full & ~t
        extra = (free - 1) & free
        if t == 0 or extra == 0:
            continue
        count = 0
        while extra != 0:
            s = t | extra
            for w in range(len(blank)):
                upper_c[w, count] = c[w, s]
                upper_u[w, count] = u[w, s]
                upper_v[w, count] = v[w, s]
            saving[count] = costs[s] - costs[full]
            above[count] = s
            count += 1
            extra = (extra - 1) & free
        level = 0
        cursor[0] = t
        arrived = True
        filled = 0
        while level >= 0:
            if arrived:
                exits = 0
                correct = hits[level]
                undecided = 0
                for w in range(len(blank)):
                    exits += popcount(alive[level, w] & c[w, t])
                    correct += popcount(alive[level, w] & right[t, w])
                    left[w, filled] = alive[level, w] & ~c[w, t]
                    undecided += popcount(left[w, filled])
                paid[filled] = spent[level] + exits * costs[t] + undecided * costs[full]
                offset[filled] = (rows - undecided) * (rows + 1) + correct
                for place in range(depth + 1):
                    sets[filled, place] = chosen[place + 1] if place < level else (t if place == level else 0)
                filled += 1
                evaluated += count
                if filled == _CHUNK:
                    stored = _cross(
                        blank,
                        left, offset, paid, sets, filled, upper_c, upper_u, upper_v, saving, above, count, rows,
                        full, keys, totals, best, ties, chains, stored,
                    )  # fmt: skip
                    filled = 0
            step = (cursor[level] - 1) & (t & ~chosen[level]) if level < depth else 0
            if step == 0:
                level -= 1
                arrived = False
                continue
            cursor[level] = step
            s = chosen[level] | step
            exits = 0
            correct = hits[level]
            for w in range(len(blank)):
                exits += popcount(alive[level, w] & c[w, s])
                correct += popcount(alive[level, w] & right[s, w])
                alive[level + 1, w] = alive[level, w] & ~c[w, s]
            spent[level + 1] = spent[level] + exits * costs[s]
            hits[level + 1] = correct
            chosen[level + 1] = s
            cursor[level + 1] = t & ~s
            level += 1
            arrived = True
        if filled > 0:
            stored = _cross(
                        blank,
                left, offset, paid, sets, filled, upper_c, upper_u, upper_v, saving, above, count, rows,
                full, keys, totals, best, ties, chains, stored,
            )  # fmt: skip
    return evaluated, stored
