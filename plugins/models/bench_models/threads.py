"""Run compiled loops over ranges of items in a few threads.

Kernels that release the interpreter lock need only plain Python threads: no process-wide thread setting is changed,
several callers may run at once, and forked workers are safe. Every item must be computed independently of the others,
so that results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["resolve_threads", "run_ranges"]


def resolve_threads(threads: int | None) -> int:
    """Number of threads to use: the given one; for None, at most two of the CPUs that this process may use.

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
    """Call ``work(start, stop)`` on consecutive ranges that cover ``range(total)``.

    Args:
        work: may be called from another thread; its exceptions are raised here.
        total: number of items; with 0, `work` is not called.
        threads: one thread gets a single range; several get ranges of at most ``block`` items.
        block: maximum number of items of a range; if `total` is not larger, one thread is used.
    """
    if threads <= 1 or total <= block:
        if total > 0:
            work(0, total)
        return
    starts = range(0, total, block)
    with ThreadPoolExecutor(max_workers=min(threads, len(starts))) as pool:
        for future in [pool.submit(work, start, min(start + block, total)) for start in starts]:
            future.result()
