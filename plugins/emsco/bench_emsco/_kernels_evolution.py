"""Compiled kernels of the genetic algorithm; each equals its NumPy reference implementation bit for bit.

The kernels draw no random numbers (random words are arguments) and call neither log nor exp. They use only correctly
rounded operations, so results do not depend on compiler, threads or machine. The module is imported only when a run
needs it, because importing numba is slow.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: Fibonacci hashing
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-53


@njit(cache=True, inline="always")
def _popcount(word):
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, inline="always")
def _unit(word):
    return np.float64(word >> np.uint64(11)) * _TO_UNIT


@njit(cache=True)
def unique_rows(chromosomes):
    """`chromosome.unique_rows` by hashing; rows with the same slot are compared in full."""
    size, n = chromosomes.shape
    capacity = 4
    while capacity < 2 * size:
        capacity *= 2
    table = np.full(capacity, -1, np.int64)
    first = np.empty(size, np.int64)
    counts = np.zeros(size, np.int64)
    count = 0
    for row in range(size):
        code = np.uint64(n)
        for i in range(n):
            code = (code ^ np.uint64(chromosomes[row, i])) * _SPREAD
            code ^= code >> np.uint64(29)
        at = np.int64(code & np.uint64(capacity - 1))
        while True:
            slot = table[at]
            if slot < 0:
                table[at] = count
                first[count] = row
                counts[count] = 1
                count += 1
                break
            other = first[slot]
            i = 0
            while i < n and chromosomes[row, i] == chromosomes[other, i]:
                i += 1
            if i == n:
                counts[slot] += 1
                break
            at = (at + 1) & (capacity - 1)
    return first[:count].copy(), counts[:count].copy()


@njit(cache=True)
def cumulative_masks(chromosomes, k):
    """`chromosome.cumulative_masks` of up to 63 features."""
    size, n = chromosomes.shape
    masks = np.zeros((size, k), np.uint64)
    for row in range(size):
        for i in range(n):
            masks[row, chromosomes[row, i]] |= _ONE << np.uint64(i)
        for stage in range(1, k):
            masks[row, stage] |= masks[row, stage - 1]
    return masks


@njit(cache=True)
def cumulative_words(chromosomes, k):
    """`chromosome.cumulative_masks` of more than 63 features."""
    size, n = chromosomes.shape
    words = (n + 63) // 64
    masks = np.zeros((size, k, words), np.uint64)
    for row in range(size):
        for i in range(n):
            masks[row, chromosomes[row, i], i >> 6] |= _ONE << np.uint64(i & 63)
        for stage in range(1, k):
            for w in range(words):
                masks[row, stage, w] |= masks[row, stage - 1, w]
    return masks


def _slot(keys, mask):
    """Slot of a set, or its free slot, in the hash table `keys` (length a power of two; zeros are free slots)."""
    raise NotImplementedError  # replaced by the overload: one version for sets of one word, one for several words


@overload(_slot, inline="always")
def _slot_of(keys, mask):
    if isinstance(mask, types.Array):
        return _slot_of_words
    return _slot_of_word


def _slot_of_word(keys, mask):
    last = keys.size - 1
    at = np.int64((mask * _SPREAD) >> np.uint64(32)) & last
    while keys[at] != 0 and keys[at] != mask:
        at = (at + 1) & last
    return at


def _slot_of_words(keys, mask):
    last = keys.shape[0] - 1
    code = np.uint64(0)
    for w in range(mask.size):
        code = (code ^ mask[w]) * _SPREAD
        code ^= code >> np.uint64(29)
    at = np.int64(code >> np.uint64(32)) & last
    while True:
        free = True
        same = True
        for w in range(mask.size):
            free = free and keys[at, w] == 0
            same = same and keys[at, w] == mask[w]
        if free or same:
            return at
        at = (at + 1) & last


@njit(cache=True)
def remember(keys, rows, prices, masks, new_rows, new_prices):
    """Insert new sets into the hash table (keys, rows, prices); rows are -1 in free slots."""
    for i in range(masks.shape[0]):
        at = _slot(keys, masks[i])
        keys[at] = masks[i]
        rows[at] = new_rows[i]
        prices[at] = new_prices[i]


@njit(cache=True)
def advance(
    masks, stages, keys, rows, prices, confident, right_bits, at_stage, done, conclusive, right, cost, n_rows, missing
):
    """Advance every chromosome's rows through its stages, until all are decided or a subset is not in the table.

    The state is `at_stage` (C,), `done` (C, words), `conclusive`, `right` and `cost` (C,); all are updated in place.
    Unknown subsets are written to `missing`, at most one per chromosome. Returns their number; 0 means that all
    chromosomes are finished. The outcome equals that of `evaluation.evaluate`.
    """
    size = stages.size
    words = confident.shape[1]
    wanted = 0
    for c in range(size):
        while at_stage[c] < stages[c] and conclusive[c] < n_rows:
            mask = masks[c, at_stage[c]]
            slot = _slot(keys, mask)
            if rows[slot] < 0:
                missing[wanted] = mask
                wanted += 1
                break
            row = rows[slot]
            leaving = 0
            correct = 0
            for w in range(words):
                new = confident[row, w] & ~done[c, w]
                done[c, w] |= new
                leaving += _popcount(new)
                correct += _popcount(new & right_bits[row, w])
            conclusive[c] += leaving
            right[c] += correct
            cost[c] += leaving * prices[slot]
            at_stage[c] += 1
            if at_stage[c] == stages[c]:
                cost[c] += (n_rows - conclusive[c]) * prices[slot]
    return wanted


@njit(cache=True, inline="always")
def _mutate_row(row, words, rate, cdf, members):
    k = cdf.shape[0]
    n = row.size
    members[:] = 0
    stages = 0
    for i in range(n):
        members[row[i]] += 1
        stages = max(stages, row[i] + 1)
    for i in range(n):
        draw = _unit(words[i])
        if draw < rate and members[row[i]] > 1:
            value = draw / rate
            support = min(stages, k - 1)
            new = 0
            while new < support and cdf[support, new] <= value:
                new += 1
            members[row[i]] -= 1
            members[new] += 1
            row[i] = new
            stages = max(stages, new + 1)


@njit(cache=True)
def mutate(chromosomes, words, rate, cdf):
    """`operators.mutate`."""
    result = chromosomes.copy()
    members = np.zeros(cdf.shape[0], np.int64)
    for row in range(result.shape[0]):
        _mutate_row(result[row], words[row], rate, cdf, members)
    return result


@njit(cache=True, inline="always")
def _pick(cumulative, last, word):
    value = _unit(word) * cumulative[-1]
    low, high = 0, cumulative.size
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return min(low, last)


@njit(cache=True)
def breed(parents, cumulative, words, recombination, mutation, cdf):
    """`operators.breed`."""
    size = words.shape[0]
    n = parents.shape[1]
    before = 4 + (n + 63) // 64
    children = np.empty((size, n), parents.dtype)
    members = np.zeros(cdf.shape[0], np.int64)
    renumbered = np.zeros(cdf.shape[0], parents.dtype)
    stage_of = np.zeros(parents.shape[0], np.int64)
    for p in range(parents.shape[0]):
        for i in range(n):
            stage_of[p] = max(stage_of[p], parents[p, i] + 1)
    last = np.searchsorted(cumulative, cumulative[-1])
    pair = np.empty(2, np.int64)
    for c in range(size):
        pair[0] = _pick(cumulative, last, words[c, 0])
        pair[1] = _pick(cumulative, last, words[c, 1])
        if _unit(words[c, 2]) < recombination:
            choice = np.int64(_unit(words[c, 3]) * 3.0)
            stages = stage_of[pair[1]]
            if choice == 0:
                stages = (stage_of[pair[0]] + stage_of[pair[1]]) // 2
            elif choice == 1:
                stages = stage_of[pair[0]]
            members[:] = 0
            for i in range(n):
                parent = pair[np.int64((words[c, 4 + (i >> 6)] >> np.uint64(i & 63)) & _ONE)]
                rescaled = np.rint(np.float64((parents[parent, i] + 1) * stages) / np.float64(stage_of[parent]))
                stage = max(np.int64(rescaled) - 1, 0)
                children[c, i] = stage
                members[stage] = 1
            used = 0
            for stage in range(members.size):
                renumbered[stage] = used
                used += members[stage]
            for i in range(n):
                children[c, i] = renumbered[children[c, i]]
        else:
            parent = pair[np.int64(words[c, 4] & _ONE)]
            for i in range(n):
                children[c, i] = parents[parent, i]
        _mutate_row(children[c], words[c, before:], mutation, cdf, members)
    return children
