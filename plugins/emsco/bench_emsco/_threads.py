"""Run compiled loops over ranges in a few threads.

The kernels release the interpreter lock, so plain Python threads are enough: no process-wide thread setting is touched,
several callers may run at once, and a forked worker is safe. Every item of a range is computed independently of the
others, so results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["resolve_threads", "run_ranges"]


def resolve_threads(threads: int | None) -> int:
    """Number of threads to use: what was asked for, or at most two of the CPUs this process may run on.

    Raises:
        ValueError: `threads` is below one.
    """
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        available = len(affinity(0)) if affinity else (os.cpu_count() or 1)
        return min(2, available)
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    return int(threads)


def run_ranges(work: Callable[[int, int], object], total: int, threads: int, block: int) -> None:
    """Call work(start, stop) on consecutive ranges of at most `block` items that cover range(total)."""
    if threads == 1 or total <= block:
        if total:
            work(0, total)
        return
    starts = range(0, total, block)
    with ThreadPoolExecutor(max_workers=min(threads, len(starts))) as pool:
        for future in [pool.submit(work, start, min(start + block, total)) for start in starts]:
            future.result()
