"""How much faster policies decide because losses are computed once; they answer the same.

    python plugins/aaco/benchmarks/remembering.py [ROWS]

Greedy CMI and AACO are fitted to rows with 20 features, which cost 1 or 5, and three classes. All policies of the
family then decide as many new rows, with a memory for losses and without.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from bench_aaco import remembered
from bench_aaco.plugin import AACO, GreedyCMI

from bench_core import Costs, Decisions, Family, Part, Problem


def table(rows: int, seed: int) -> Part:
    """Rows whose class depends on two features, which a third one selects."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 20))
    return Part(X, np.digitize(np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) + X[:, 3], [-0.5, 0.5]))


def problem_of(rows: int) -> Problem:
    """A new problem: two methods of one problem share their look-ahead."""
    prices, names = np.where(np.arange(20) % 2, 1.0, 5.0), tuple(f"f{i}" for i in range(20))
    return Problem(
        table(rows, 0), table(rows // 2, 1), Costs(prices), "multiclass", 3, names, np.arange(20), seed=0
    )  # fmt: skip


def measured(method: AACO, rows: int, most: int) -> tuple[float, float, list[Decisions]]:
    """Seconds of processor time of a fit and of deciding, and the decisions of all policies."""
    remembered.MEMORY = most
    start = time.process_time()
    family: Family = method.fit(problem_of(rows))
    fitted = time.process_time()
    decisions = [policy.decide(table(rows, 2).rows()) for policy in family.policies]
    return fitted - start, time.process_time() - fitted, decisions


def main() -> None:
    """Print a line for each method."""
    rows, memory = int(sys.argv[1]) if sys.argv[1:] else 1000, remembered.MEMORY
    AACO(subsets=2, masked_copies=2).fit(problem_of(rows))  # compiles
    for method in (GreedyCMI(spacing="cost"), AACO(spacing="cost")):
        kept, without = (measured(method, rows, most) for most in (memory, 0))
        same = all(np.array_equal(a.probabilities, b.probabilities) for a, b in zip(kept[2], without[2], strict=True))
        print(
            f"{type(method).__name__}: fit {kept[0]:.1f} s, without memory {without[0] / kept[0]:.1f} times as long; "
            f"deciding {kept[1]:.1f} s, {without[1] / kept[1]:.1f} times; {'same' if same else 'OTHER'} answers"
        )


if __name__ == "__main__":
    main()
