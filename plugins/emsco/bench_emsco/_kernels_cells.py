"""Compiled pieces of the exact front: population count, and the Pareto filter over cells (EMSCO, sections 2.2, 2.3)."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):  # type: ignore[no-untyped-def]
    """Number of set bits of a uint64, as int64."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@njit(cache=True, nogil=True)
def not_dominated(conclusive, correct, cost, keep):
    """Mark the Pareto-optimal cells among distinct ones sorted by (cost, -conclusive, -correct); returns how many.

    A cell's dominators come before it in that order, and dominance is transitive, so comparing it with the front so far
    is enough. Accuracies are compared by cross-multiplication.
    """
    front = np.empty(conclusive.shape[0], np.int64)
    size = 0
    for i in range(conclusive.shape[0]):
        keep[i] = True
        for f in range(size):
            j = front[f]
            if conclusive[j] >= conclusive[i] and (
                conclusive[i] == 0 or correct[j] * conclusive[i] >= correct[i] * conclusive[j]
            ):
                keep[i] = False
                break
        if keep[i]:
            front[size] = i
            size += 1
    return size
