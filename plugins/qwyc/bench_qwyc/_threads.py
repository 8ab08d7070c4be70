"""Compiled loops over ranges of rows, in a few threads. Rows are independent: the threads change nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["run_ranges"]


def run_ranges(work: Callable[[int, int], object], total: int, threads: int, block: int) -> None:
    """Call ``work(start, stop)`` on ranges of at most ``block`` items that cover ``range(total)``."""
    starts = range(0, total, block)
    if threads <= 1 or len(starts) < 2:
        for start in starts:
            work(start, min(start + block, total))
        return
    with ThreadPoolExecutor(min(threads, len(starts))) as pool:
        list(pool.map(lambda start: work(start, min(start + block, total)), starts))
