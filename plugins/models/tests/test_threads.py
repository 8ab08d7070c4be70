"""Ranges cover everything once, in any number of threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from bench_models.threads import resolve_threads, run_ranges


@pytest.mark.parametrize("total", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_in_exactly_one_range(total, threads):
    seen, longest, lock = np.zeros(total, dtype=int), [0], threading.Lock()

    def work(start, stop):
        with lock:
            seen[start:stop] += 1
            longest.append(stop - start)

    run_ranges(work, total, threads, 8)
    assert (seen == 1).all()
    assert max(longest) <= (8 if threads > 1 else total)


def test_an_exception_in_a_range_is_raised():
    def work(start, stop):
        if start == 16:
            raise KeyError("third range")

    with pytest.raises(KeyError, match="third range"):
        run_ranges(work, 30, 2, 8)


def test_a_number_of_threads_is_at_least_one():
    assert resolve_threads(3) == 3
    assert 1 <= resolve_threads(None) <= 2
    with pytest.raises(ValueError, match="at least 1"):
        resolve_threads(0)
